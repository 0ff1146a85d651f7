package scripted;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.util.ArrayList;
import java.util.List;

/** The part of java.sql.DatabaseMetaData that the connector uses: tables, columns, primary keys. */
final class Metadata implements Proxies.Methods {
    private static final String TABLES = "TABLE_CAT,TABLE_SCHEM,TABLE_NAME,TABLE_TYPE,REMARKS";
    private static final String COLUMNS = "TABLE_CAT,TABLE_SCHEM,TABLE_NAME,COLUMN_NAME,DATA_TYPE,TYPE_NAME,COLUMN_SIZE,"
            + "BUFFER_LENGTH,DECIMAL_DIGITS,NUM_PREC_RADIX,NULLABLE,REMARKS,COLUMN_DEF,SQL_DATA_TYPE,SQL_DATETIME_SUB,"
            + "CHAR_OCTET_LENGTH,ORDINAL_POSITION,IS_NULLABLE,SCOPE_CATALOG,SCOPE_SCHEMA,SCOPE_TABLE,SOURCE_DATA_TYPE,"
            + "IS_AUTOINCREMENT,IS_GENERATEDCOLUMN";
    private static final String PRIMARY_KEYS = "TABLE_CAT,TABLE_SCHEM,TABLE_NAME,COLUMN_NAME,KEY_SEQ,PK_NAME";
    private static final String INDEXES = "TABLE_CAT,TABLE_SCHEM,TABLE_NAME,NON_UNIQUE,INDEX_QUALIFIER,INDEX_NAME,TYPE,"
            + "ORDINAL_POSITION,COLUMN_NAME";

    private final Database database;
    private final Connection connection;

    private Metadata(Database database, Connection connection) {
        this.database = database;
        this.connection = connection;
    }

    static DatabaseMetaData of(Database database, Connection connection) {
        return Proxies.of(DatabaseMetaData.class, new Metadata(database, connection));
    }

    @Override
    public Object call(String method, Object[] a) {
        return switch (method) {
            case "getSearchStringEscape" -> "\\";
            case "getConnection" -> connection;
            case "getDatabaseProductName" -> "Microsoft SQL Server";
            case "getDatabaseProductVersion" -> "16.00.4135";
            case "getDatabaseMajorVersion" -> 16;
            case "getDriverName" -> "Microsoft JDBC Driver 12.4 for SQL Server";
            case "supportsTransactions" -> true;
            case "getIdentifierQuoteString" -> "\"";
            case "storesUpperCaseIdentifiers", "storesLowerCaseIdentifiers" -> false;
            case "getCatalogs" -> Rows.of(Answer.row("TABLE_CAT", database.name));
            case "getTables" -> Rows.of(Answer.rows(TABLES, tables(a[1], a[2])));
            case "getColumns" -> Rows.of(Answer.rows(COLUMNS, columns(a[1], a[2], a[3])));
            case "getPrimaryKeys" -> Rows.of(Answer.rows(PRIMARY_KEYS, primaryKeys(a[1] + "." + a[2])));
            case "getIndexInfo" -> Rows.of(Answer.rows(INDEXES, List.of()));
            default -> throw Proxies.unsupported("DatabaseMetaData." + method);
        };
    }

    private List<Table> matching(Object schema, Object table) {
        synchronized (database) {
            return database.tables.values().stream()
                    .filter(t -> like(schema, t.schema) && like(table, t.name))
                    .toList();
        }
    }

    private List<Object[]> tables(Object schema, Object table) {
        return matching(schema, table).stream()
                .map(t -> new Object[] {database.name, t.schema, t.name, "TABLE", null})
                .toList();
    }

    private List<Object[]> columns(Object schema, Object table, Object column) {
        return matching(schema, table).stream()
                .flatMap(t -> t.columns.stream().filter(c -> like(column, c.name())).map(c -> description(t, c)))
                .toList();
    }

    private Object[] description(Table t, Column c) {
        String type = c.identity() ? c.type() + " identity" : c.type();
        return new Object[] {
            database.name, t.schema, t.name, c.name(), c.jdbcType(), type, c.size(), null, c.scale(), null,
            c.nullable() ? 1 : 0, null, c.defaultExpression(), null, null, null, c.position(), yesNo(c.nullable()),
            null, null, null, null, yesNo(c.identity()), yesNo(c.computed())
        };
    }

    private List<Object[]> primaryKeys(String qualifiedName) {
        List<Object[]> rows = new ArrayList<>();
        Table t = database.tables.get(qualifiedName);
        for (int i = 0; t != null && i < t.primaryKey.size(); i++) {
            String column = t.primaryKey.get(i);
            rows.add(new Object[] {database.name, t.schema, t.name, column, (short) (i + 1), "PK_" + t.name});
        }
        return rows;
    }

    private static String yesNo(boolean is) {
        return is ? "YES" : "NO";
    }

    /** A LIKE pattern of the connector: anything, or one name with its special characters escaped. */
    private static boolean like(Object pattern, String name) {
        return pattern == null
                || "%".equals(pattern)
                || ((String) pattern).replaceAll("\\\\(.)", "$1").equals(name);
    }
}

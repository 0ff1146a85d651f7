package db2;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.util.ArrayList;
import java.util.List;

/** The part of java.sql.DatabaseMetaData that the connector uses: tables, columns, primary keys. */
final class Metadata {
    private static final String TABLES = "TABLE_CAT,TABLE_SCHEM,TABLE_NAME,TABLE_TYPE,REMARKS";
    private static final String COLUMNS = "TABLE_CAT,TABLE_SCHEM,TABLE_NAME,COLUMN_NAME,DATA_TYPE,TYPE_NAME,COLUMN_SIZE,"
            + "BUFFER_LENGTH,DECIMAL_DIGITS,NUM_PREC_RADIX,NULLABLE,REMARKS,COLUMN_DEF,SQL_DATA_TYPE,SQL_DATETIME_SUB,"
            + "CHAR_OCTET_LENGTH,ORDINAL_POSITION,IS_NULLABLE,SCOPE_CATALOG,SCOPE_SCHEMA,SCOPE_TABLE,SOURCE_DATA_TYPE,"
            + "IS_AUTOINCREMENT,IS_GENERATEDCOLUMN";
    private static final String PRIMARY_KEYS = "TABLE_CAT,TABLE_SCHEM,TABLE_NAME,COLUMN_NAME,KEY_SEQ,PK_NAME";
    private static final String INDEXES = "TABLE_CAT,TABLE_SCHEM,TABLE_NAME,NON_UNIQUE,INDEX_QUALIFIER,INDEX_NAME,TYPE,"
            + "ORDINAL_POSITION,COLUMN_NAME";

    private Metadata() {}

    static DatabaseMetaData of(State state, Connection connection) {
        return Proxies.of(DatabaseMetaData.class, (method, a) -> switch (method) {
            case "getSearchStringEscape" -> "\\";
            case "getConnection" -> connection;
            case "getDatabaseProductName" -> "DB2/LINUXX8664";
            case "getDatabaseProductVersion" -> "SQL11058";
            case "getDatabaseMajorVersion" -> 11;
            case "getDriverName" -> "IBM Data Server Driver for JDBC and SQLJ";
            case "supportsTransactions" -> true;
            case "getIdentifierQuoteString" -> "\"";
            case "storesUpperCaseIdentifiers" -> true;
            case "storesLowerCaseIdentifiers" -> false;
            case "getCatalogs" -> Rows.of(Answer.of("TABLE_CAT", List.of()));
            case "getTables" -> Rows.of(Answer.of(TABLES, tables(state, a[1], a[2])));
            case "getColumns" -> Rows.of(Answer.of(COLUMNS, columns(state, a[1], a[2])));
            case "getPrimaryKeys" -> Rows.of(Answer.of(PRIMARY_KEYS, primaryKeys(state, a[1], a[2])));
            case "getIndexInfo" -> Rows.of(Answer.of(INDEXES, List.of()));
            default -> throw Proxies.unsupported("DatabaseMetaData." + method);
        });
    }

    private static List<Object[]> tables(State state, Object schema, Object name) {
        List<Object[]> rows = new ArrayList<>();
        for (State.Table table : state.tables) {
            if (like(schema, table.schema) && like(name, table.name)) {
                rows.add(new Object[] {null, table.schema, table.name, "TABLE", null});
            }
        }
        return rows;
    }

    private static List<Object[]> columns(State state, Object schema, Object name) {
        List<Object[]> rows = new ArrayList<>();
        for (State.Table table : state.tables) {
            if (like(schema, table.schema) && like(name, table.name)) {
                for (State.Column column : table.columns) {
                    rows.add(description(table.schema, table.name, column, rows.size() + 1));
                }
            }
            if (table.changeTable != null && like(schema, "ASNCDC") && like(name, table.changeTable)) {
                for (String of : List.of("IBMSNAP_COMMITSEQ", "IBMSNAP_INTENTSEQ", "IBMSNAP_OPERATION")) {
                    State.Column column = new State.Column();
                    column.name = of;
                    column.type = "CHAR () FOR BIT DATA";
                    column.jdbcType = java.sql.Types.BINARY;
                    column.size = of.endsWith("SEQ") ? 16 : 1;
                    rows.add(description("ASNCDC", table.changeTable, column, rows.size() + 1));
                }
                for (State.Column column : table.columns) {
                    if (table.capturedColumns.contains(column.name)) {
                        rows.add(description("ASNCDC", table.changeTable, column, rows.size() + 1));
                    }
                }
            }
        }
        return rows;
    }

    private static Object[] description(String schema, String table, State.Column c, int position) {
        return new Object[] {
            null, schema, table, c.name, c.jdbcType, c.type, c.size, null, c.scale, 10, c.nullable ? 1 : 0, null, null,
            null, null, null, position, c.nullable ? "YES" : "NO", null, null, null, null, "NO", "NO"
        };
    }

    private static List<Object[]> primaryKeys(State state, Object schema, Object name) {
        List<Object[]> rows = new ArrayList<>();
        for (State.Table table : state.tables) {
            if (table.schema.equals(schema) && table.name.equals(name)) {
                for (String column : table.primaryKey) {
                    rows.add(new Object[] {null, table.schema, table.name, column, rows.size() + 1, "PK_" + table.name});
                }
            }
        }
        return rows;
    }

    /** A pattern of the connector: anything, or one name with its special characters escaped. */
    private static boolean like(Object pattern, String name) {
        return pattern == null
                || "%".equals(pattern)
                || ((String) pattern).replaceAll("\\\\(.)", "$1").equals(name);
    }
}

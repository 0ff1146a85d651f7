package scripted;

import java.util.Arrays;
import java.util.List;

/**
 * The result of a statement: rows, or the number of changed rows.
 *
 * @param columns column names; null for a count
 * @param types each column's type as in mssql-jdbc's ResultSetMetaData.getColumnType
 */
record Answer(List<String> columns, int[] types, List<Object[]> rows, int updated) {

    static Answer count(int updated) {
        return new Answer(null, null, List.of(), updated);
    }

    static Answer rows(List<String> columns, int[] types, List<Object[]> rows) {
        return new Answer(columns, types, rows, -1);
    }

    /** Rows whose column types are never requested. */
    static Answer rows(String columns, List<Object[]> rows) {
        List<String> names = Arrays.asList(columns.split(","));
        return rows(names, new int[names.size()], rows);
    }

    static Answer row(String columns, Object... values) {
        return rows(columns, List.<Object[]>of(values));
    }

    boolean hasRows() {
        return columns != null;
    }
}

package scripted;

import java.util.Arrays;
import java.util.List;

/**
 * What a statement gives: rows, or a count of changed rows.
 *
 * @param columns column names; null for a count
 * @param types what mssql-jdbc's ResultSetMetaData.getColumnType says of each column
 */
record Answer(List<String> columns, int[] types, List<Object[]> rows, int updated) {

    static Answer count(int updated) {
        return new Answer(null, null, List.of(), updated);
    }

    static Answer rows(List<String> columns, int[] types, List<Object[]> rows) {
        return new Answer(columns, types, rows, -1);
    }

    /** Rows whose column types nobody asks for. */
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

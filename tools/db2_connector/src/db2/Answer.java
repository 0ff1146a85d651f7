package db2;

import java.util.Arrays;
import java.util.List;

/** The rows that a statement gives, with the types of their columns as java.sql.Types. */
record Answer(List<String> columns, int[] types, List<Object[]> rows) {
    static Answer row(String columns, Object... values) {
        List<String> names = Arrays.asList(columns.split(","));
        return new Answer(names, new int[names.size()], List.<Object[]>of(values));
    }

    static Answer of(String columns, List<Object[]> rows) {
        List<String> names = Arrays.asList(columns.split(","));
        return new Answer(names, new int[names.size()], rows);
    }
}

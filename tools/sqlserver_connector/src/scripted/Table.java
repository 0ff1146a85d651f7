package scripted;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;

/** The current state of a table: columns, primary key, rows and capture instances. */
final class Table {
    static final Comparator<Object[]> BY_KEY = Table::compareKeys;

    final String schema;
    final String name;
    final int objectId;
    final List<CaptureInstance> captures = new ArrayList<>();
    final List<Object[]> rows = new ArrayList<>();
    List<Column> columns = List.of();
    List<String> primaryKey = List.of();

    Table(String schema, String name, int objectId) {
        this.schema = schema;
        this.name = name;
        this.objectId = objectId;
    }

    String qualifiedName() {
        return schema + "." + name;
    }

    /** ALTER TABLE: rows keep the values of remaining columns; new columns are NULL. */
    void redefine(List<Column> newColumns, List<String> newPrimaryKey) {
        List<Column> old = columns;
        columns = newColumns;
        primaryKey = newPrimaryKey;
        rows.replaceAll(row -> newColumns.stream().map(column -> carriedOver(column, old, row)).toArray());
    }

    private static Object carriedOver(Column column, List<Column> old, Object[] row) {
        for (int i = 0; i < old.size(); i++) {
            if (old.get(i).name().equals(column.name())) {
                return row[i] instanceof BigDecimal number ? column.rescale(number) : row[i];
            }
        }
        return null;
    }

    boolean has(String column) {
        return columns.stream().anyMatch(c -> c.name().equals(column));
    }

    int indexOf(String column) {
        for (int i = 0; i < columns.size(); i++) {
            if (columns.get(i).name().equals(column)) {
                return i;
            }
        }
        throw new NoSuchElementException("no column " + column + " in " + qualifiedName());
    }

    Column column(String column) {
        return columns.get(indexOf(column));
    }

    Object[] keyOf(Object[] row) {
        return primaryKey.stream().map(column -> row[indexOf(column)]).toArray();
    }

    boolean matches(Object[] row, Map<String, Object> condition) {
        return condition.entrySet().stream().allMatch(wanted -> {
            int i = indexOf(wanted.getKey());
            return Objects.equals(columns.get(i).value(wanted.getValue()), row[i]);
        });
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static int compareKeys(Object[] a, Object[] b) {
        for (int i = 0; i < a.length; i++) {
            int order = ((Comparable) a[i]).compareTo(b[i]);
            if (order != 0) {
                return order;
            }
        }
        return 0;
    }
}

package db2;

import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;

/** A JDBC result set over an answer. */
final class Rows implements Proxies.Methods {
    private final Answer answer;
    private int position = -1;
    private boolean closed;
    private boolean wasNull;

    private Rows(Answer answer) {
        this.answer = answer;
    }

    static ResultSet of(Answer answer) {
        return Proxies.of(ResultSet.class, new Rows(answer));
    }

    @Override
    public Object call(String method, Object[] a) throws SQLException {
        int size = answer.rows().size();
        return switch (method) {
            case "next" -> ++position < size;
            case "close" -> closed = true;
            case "isClosed" -> closed;
            case "wasNull" -> wasNull;
            case "isBeforeFirst" -> position < 0 && size > 0;
            case "isAfterLast" -> position >= size && size > 0;
            case "isFirst" -> position == 0;
            case "isLast" -> position == size - 1;
            case "getRow" -> position + 1;
            case "findColumn" -> indexOf(a[0]) + 1;
            case "getStatement", "setFetchSize" -> null;
            case "getMetaData" -> Proxies.of(ResultSetMetaData.class, this::describe);
            default -> value(method, a);
        };
    }

    private Object describe(String method, Object[] a) {
        return switch (method) {
            case "getColumnCount" -> answer.columns().size();
            case "getColumnName", "getColumnLabel" -> answer.columns().get((int) a[0] - 1);
            case "getColumnType" -> answer.types()[(int) a[0] - 1];
            default -> throw Proxies.unsupported("ResultSetMetaData." + method);
        };
    }

    private int indexOf(Object column) throws SQLException {
        if (column instanceof Integer position) {
            return position - 1;
        }
        for (int i = 0; i < answer.columns().size(); i++) {
            if (answer.columns().get(i).equalsIgnoreCase((String) column)) {
                return i;
            }
        }
        throw new SQLException("no column " + column + " in " + answer.columns());
    }

    private Object value(String getter, Object[] a) throws SQLException {
        if (!getter.startsWith("get") || a.length != 1) {
            throw Proxies.unsupported("ResultSet." + getter);
        }
        Object value = answer.rows().get(position)[indexOf(a[0])];
        wasNull = value == null;
        return switch (getter) {
            case "getObject", "getBytes", "getBigDecimal", "getDate", "getTime", "getTimestamp" -> value;
            case "getString" -> value == null ? null : value.toString();
            case "getInt" -> value == null ? 0 : ((Number) value).intValue();
            case "getLong" -> value == null ? 0L : ((Number) value).longValue();
            case "getShort" -> value == null ? (short) 0 : ((Number) value).shortValue();
            case "getBoolean" -> Boolean.TRUE.equals(value);
            default -> throw Proxies.unsupported("ResultSet." + getter);
        };
    }
}

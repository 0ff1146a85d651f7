package db2;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.sql.Date;
import java.sql.Time;
import java.sql.Timestamp;
import java.util.Arrays;
import java.util.HexFormat;

/** Values of a scenario as a JDBC driver hands them out. Large objects are handed out whole. */
final class Values {
    private Values() {}

    static Object of(Object scripted, State.Column column) {
        if (scripted == null) {
            return null;
        }
        String text = scripted.toString();
        return switch (column.type) {
            case "BOOLEAN" -> scripted;
            case "SMALLINT" -> Integer.valueOf(text);
            case "INTEGER" -> Integer.valueOf(text);
            case "BIGINT" -> Long.valueOf(text);
            case "REAL" -> Float.valueOf(text);
            case "DOUBLE" -> Double.valueOf(text);
            case "DECIMAL", "NUMERIC" -> new BigDecimal(text).setScale(column.scale, RoundingMode.HALF_UP);
            case "DECFLOAT" -> new BigDecimal(text);
            case "CHAR", "GRAPHIC" -> String.format("%-" + column.size + "s", text);
            case "DATE" -> Date.valueOf(text);
            case "TIME" -> Time.valueOf(text);
            case "TIMESTAMP" -> timestamp(text);
            case "BINARY", "CHAR () FOR BIT DATA" -> padded(HexFormat.of().parseHex(text), column);
            case "VARBINARY", "VARCHAR () FOR BIT DATA", "BLOB" -> HexFormat.of().parseHex(text);
            default -> text;
        };
    }

    /** Of twelve digits of the second, java.sql.Timestamp has nine. */
    private static Timestamp timestamp(String text) {
        int point = text.indexOf('.');
        return Timestamp.valueOf(point < 0 ? text : text.substring(0, Math.min(text.length(), point + 10)));
    }

    /** As the server pads: binary strings with zeros, character strings of bits with blanks. */
    private static byte[] padded(byte[] bytes, State.Column column) {
        byte[] padded = Arrays.copyOf(bytes, column.size);
        Arrays.fill(padded, bytes.length, column.size, (byte) (column.type.equals("BINARY") ? 0 : 0x20));
        return padded;
    }
}

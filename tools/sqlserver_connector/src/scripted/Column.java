package scripted;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.sql.Date;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import microsoft.sql.DateTimeOffset;

/**
 * One column, as described by mssql-jdbc's DatabaseMetaData.getColumns.
 *
 * @param size characters, bytes or digits, by type
 * @param scale decimal places; null if the type has none
 * @param max declared as varchar(max), nvarchar(max) or varbinary(max)
 */
record Column(
        String name,
        String type,
        int jdbcType,
        int size,
        Integer scale,
        boolean nullable,
        boolean identity,
        boolean computed,
        boolean max,
        String defaultExpression,
        int position) {

    private static final int MAX_BYTES = Integer.MAX_VALUE;
    private static final int MAX_WIDE_CHARACTERS = 1_073_741_823;
    private static final Set<String> LOBS_OF_OLD = Set.of("text", "ntext", "image");
    private static final Pattern DECLARATION = Pattern.compile("(\\w+)(?:\\((\\w+)(?:,\\s*(\\d+))?\\))?(.*)");
    private static final Pattern DEFAULT = Pattern.compile("default (\\(.*\\))");

    /** Parses a declaration such as {@code decimal(18,2) not null default ((0))}. */
    static Column parse(String name, String declaration, int position) {
        Matcher parts = DECLARATION.matcher(declaration.trim());
        if (!parts.matches()) {
            throw new IllegalArgumentException("column " + name + ": " + declaration);
        }
        String type = parts.group(1).equals("rowversion") ? "timestamp" : parts.group(1);
        boolean max = "max".equals(parts.group(2));
        Integer argument = parts.group(2) == null || max ? null : Integer.valueOf(parts.group(2));
        Integer digits = parts.group(3) == null ? null : Integer.valueOf(parts.group(3));
        String rest = parts.group(4);
        Shape shape = Shape.of(type, argument, digits, max);
        Matcher byDefault = DEFAULT.matcher(rest);
        return new Column(
                name,
                type,
                shape.jdbcType,
                shape.size,
                shape.scale,
                !rest.contains("not null") && !type.equals("timestamp"),
                rest.contains("identity"),
                rest.contains("computed"),
                max,
                byDefault.find() ? byDefault.group(1) : null,
                position);
    }

    boolean isRowVersion() {
        return type.equals("timestamp");
    }

    boolean isLobOfOld() {
        return LOBS_OF_OLD.contains(type);
    }

    boolean isLob() {
        return max || isLobOfOld() || type.equals("xml");
    }

    /** A value of the scenario as returned by mssql-jdbc's getObject (getTimestamp for time). */
    Object value(Object scripted) {
        if (scripted == null) {
            return null;
        }
        String text = scripted.toString();
        return switch (type) {
            case "bit" -> scripted instanceof Boolean ? scripted : (Object) (Integer.parseInt(text) != 0);
            case "tinyint", "smallint" -> Short.valueOf(text);
            case "int" -> Integer.valueOf(text);
            case "bigint" -> Long.valueOf(text);
            case "real" -> Float.valueOf(text);
            case "float" -> Double.valueOf(text);
            case "decimal", "numeric", "money", "smallmoney" -> rescale(new BigDecimal(text));
            case "char", "nchar" -> String.format("%-" + size + "s", text);
            case "binary" -> Arrays.copyOf(HexFormat.of().parseHex(text), size);
            case "timestamp", "varbinary", "image", "hierarchyid" -> HexFormat.of().parseHex(text);
            case "date" -> Date.valueOf(text);
            case "time" -> Timestamp.valueOf("1900-01-01 " + text);
            case "datetime", "smalldatetime", "datetime2" -> Timestamp.valueOf(text);
            case "datetimeoffset" -> dateTimeOffset(OffsetDateTime.parse(text));
            case "uniqueidentifier" -> text.toUpperCase();
            default -> text;
        };
    }

    BigDecimal rescale(BigDecimal number) {
        return number.setScale(scale, RoundingMode.HALF_UP);
    }

    private static DateTimeOffset dateTimeOffset(OffsetDateTime time) {
        return DateTimeOffset.valueOf(Timestamp.from(time.toInstant()), time.getOffset().getTotalSeconds() / 60);
    }

    /** A type in mssql-jdbc's terms: java.sql.Types number, size and scale. */
    private record Shape(int jdbcType, int size, Integer scale) {
        static Shape of(String type, Integer argument, Integer digits, boolean max) {
            int length = argument == null ? 1 : argument;
            int fraction = argument == null ? 7 : argument;
            int precision = argument == null ? 18 : argument;
            int scale = digits == null ? 0 : digits;
            return switch (type) {
                case "bit" -> new Shape(Types.BIT, 1, null);
                case "tinyint" -> new Shape(Types.TINYINT, 3, 0);
                case "smallint" -> new Shape(Types.SMALLINT, 5, 0);
                case "int" -> new Shape(Types.INTEGER, 10, 0);
                case "bigint" -> new Shape(Types.BIGINT, 19, 0);
                case "real" -> new Shape(Types.REAL, 24, null);
                case "float" -> new Shape(Types.DOUBLE, 53, null);
                case "decimal" -> new Shape(Types.DECIMAL, precision, scale);
                case "numeric" -> new Shape(Types.NUMERIC, precision, scale);
                case "money" -> new Shape(Types.DECIMAL, 19, 4);
                case "smallmoney" -> new Shape(Types.DECIMAL, 10, 4);
                case "char" -> new Shape(Types.CHAR, length, null);
                case "varchar" -> new Shape(Types.VARCHAR, max ? MAX_BYTES : length, null);
                case "text" -> new Shape(Types.LONGVARCHAR, MAX_BYTES, null);
                case "nchar" -> new Shape(Types.NCHAR, length, null);
                case "nvarchar" -> new Shape(Types.NVARCHAR, max ? MAX_WIDE_CHARACTERS : length, null);
                case "ntext" -> new Shape(Types.LONGNVARCHAR, MAX_WIDE_CHARACTERS, null);
                case "xml" -> new Shape(Types.LONGNVARCHAR, 0, null);
                case "binary" -> new Shape(Types.BINARY, length, null);
                case "timestamp" -> new Shape(Types.BINARY, 8, null);
                case "varbinary" -> new Shape(Types.VARBINARY, max ? MAX_BYTES : length, null);
                case "image" -> new Shape(Types.LONGVARBINARY, MAX_BYTES, null);
                case "date" -> new Shape(Types.DATE, 10, null);
                case "time" -> new Shape(Types.TIME, withFraction(8, fraction), fraction);
                case "datetime" -> new Shape(Types.TIMESTAMP, 23, 3);
                case "smalldatetime" -> new Shape(Types.TIMESTAMP, 16, 0);
                case "datetime2" -> new Shape(Types.TIMESTAMP, withFraction(19, fraction), fraction);
                case "datetimeoffset" ->
                        new Shape(microsoft.sql.Types.DATETIMEOFFSET, withFraction(26, fraction), fraction);
                case "uniqueidentifier" -> new Shape(Types.CHAR, 36, null);
                case "sql_variant" -> new Shape(microsoft.sql.Types.SQL_VARIANT, 8000, null);
                case "hierarchyid" -> new Shape(Types.VARBINARY, 892, null);
                case "geography" -> new Shape(microsoft.sql.Types.GEOGRAPHY, MAX_BYTES, null);
                case "geometry" -> new Shape(microsoft.sql.Types.GEOMETRY, MAX_BYTES, null);
                default -> throw new IllegalArgumentException("type " + type);
            };
        }

        /** Characters of a time as text, without the point and the decimal places. */
        private static int withFraction(int characters, int digits) {
            return digits == 0 ? characters : characters + 1 + digits;
        }
    }
}

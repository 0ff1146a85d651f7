package scripted;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * Answers the statements of Debezium's SQL Server connector; rejects any other statement, quoting its text.
 *
 * <p>Supports the statements of versions 2.5 and 3.6.
 */
final class Statements {
    /** A query for the rows of a change table between two positions, from the table or from its function. */
    private static final Pattern CHANGES = Pattern.compile(
            "SELECT (?:TOP (?<top>\\d+) )?(?:cdc_data\\.)?\\[__\\$start_lsn\\].*?__\\$update_mask\\], (?<columns>.*),"
                    + " TODATETIMEOFFSET.* FROM \\[[^]]+\\]\\.cdc\\."
                    + "\\[(?:fn_cdc_get_all_changes_)?(?<capture>.+?)(?:_CT)?\\]"
                    + "(?<from>\\(\\?, \\?, N'all update old'\\)| AS cdc_data).*");

    /** The same in Debezium 2: all columns of all rows from one commit to another. */
    private static final Pattern ALL_CHANGES = Pattern.compile(
            "SELECT \\*, ?TODATETIMEOFFSET.* FROM \\[[^]]+\\]\\.cdc\\."
                    + "\\[fn_cdc_get_all_changes_(?<capture>.+?)\\]\\(\\?, \\?, N'all update old'\\) order by .*");

    private static final Pattern SELECT = Pattern.compile(
            "SELECT (?:TOP ?\\(?(?<top>\\d+)\\)? )?(?<columns>.*?) FROM \\[[^]]+\\]\\.\\[(?<schema>[^]]+)\\]"
                    + "\\.\\[(?<table>[^]]+)\\](?: WITH \\(\\w+\\))?(?: WHERE (?<where>.*?))?"
                    + "(?: ORDER BY (?<order>.*?))?(?: OPTION\\(RECOMPILE\\))?");

    private static final Pattern COUNT =
            Pattern.compile("SELECT COUNT.* FROM \\[[^]]+\\]\\.\\[(?<schema>[^]]+)\\]\\.\\[(?<table>[^]]+)\\].*");
    private static final Pattern PARSE = Pattern.compile("SELECT PARSE\\(\\? AS (?<type>\\w+)\\)");
    private static final Pattern INSERT =
            Pattern.compile("INSERT INTO (?<table>.+) VALUES \\(\\?, ?\\?, ?(?:\\?|null)\\)");
    private static final Pattern DELETE = Pattern.compile("DELETE FROM (?<table>.+) WHERE id = \\?");
    private static final Pattern SKIPPED_OPERATIONS = Pattern.compile("NOT IN \\(([\\d,]+)\\)");

    private final Database database;
    private final List<Rule> rules;

    Statements(Database database) {
        this.database = database;
        this.rules = rules();
    }

    private record Rule(
            Predicate<String> applies, BiFunction<String, SortedMap<Integer, Object>, Answer> answer) {}

    /**
     * Runs one statement.
     *
     * @param parameters the values bound to it, by position from 1
     */
    Answer run(String statement, SortedMap<Integer, Object> parameters) throws SQLException {
        String sql = statement.trim().replaceAll("\\s+", " ");
        synchronized (database) {
            for (Rule rule : rules) {
                if (rule.applies.test(sql)) {
                    return rule.answer.apply(sql, parameters);
                }
            }
        }
        System.err.println("the scripted server has no answer for: " + sql);
        throw new SQLException("no scripted answer for: " + sql);
    }

    /** The first matching rule answers, so special forms of SELECT come before the general one. */
    private List<Rule> rules() {
        List<Rule> list = new ArrayList<>();
        list.add(new Rule(sql -> sql.startsWith("SET ") || sql.startsWith("USE "), (sql, p) -> Answer.count(0)));
        addServerFacts(list);
        addLogPositions(list);
        addCaptureInstances(list);
        list.add(new Rule(matching(COUNT), (sql, p) -> Answer.row("n", (long) tableOf(COUNT, sql).rows.size())));
        list.add(new Rule(sql -> sql.startsWith("SELECT COUNT"), (sql, p) -> Answer.row("n", 1L)));
        list.add(new Rule(matching(PARSE), this::parse));
        list.add(new Rule(matching(CHANGES), this::changes));
        list.add(new Rule(matching(ALL_CHANGES), this::allChanges));
        list.add(new Rule(matching(INSERT), this::insert));
        list.add(new Rule(matching(DELETE), this::delete));
        list.add(new Rule(matching(SELECT), this::select));
        return list;
    }

    private void addServerFacts(List<Rule> list) {
        list.add(is("SELECT name FROM sys.databases WHERE name = ?", p -> Answer.row("name", database.name)));
        list.add(is("SELECT @@VERSION", p -> Answer.row("v", "Microsoft SQL Server 2022 (scripted)")));
        list.add(is("SELECT SYSDATETIMEOFFSET()", p -> Answer.row("v", database.now())));
        list.add(has("sp_cdc_help_change_data_capture", p -> Answer.row("source_schema", "dbo")));
        list.add(has("sp_cdc_help_jobs", p -> Answer.row("job_type,pollinginterval", "capture", 1L)));
        list.add(has("dm_cdc_log_scan_sessions", p -> Answer.row("start_lsn", "00000000:00000000:0000\0")));
        list.add(has("dm_server_services", p -> Answer.row("isRunning", 1)));
    }

    private void addLogPositions(List<Rule> list) {
        list.add(has("fn_cdc_get_max_lsn()", p -> Answer.row("lsn", (Object) database.maxLsn())));
        list.add(has("SELECT MAX(start_lsn) FROM [", p -> Answer.row("lsn", (Object) database.maxLsn())));
        list.add(new Rule(sql -> sql.startsWith("SELECT MAX(start_lsn) FROM (SELECT TOP ("), this::lsnOfNextCommits));
        list.add(has("fn_cdc_get_min_lsn(?)", p -> Answer.row("lsn", (Object) startOf((String) p.get(1)))));
        list.add(has("fn_cdc_increment_lsn(?)", p -> Answer.row("lsn", (Object) Lsn.next((byte[]) p.get(1)))));
        list.add(has("select min(start_lsn) from", p -> Answer.row("lsn", firstStart())));
    }

    private void addCaptureInstances(List<Rule> list) {
        list.add(has(".cdc.captured_columns", p -> capturedColumns()));
        list.add(has(".sys.columns columns", p -> capturedColumns()));
        list.add(new Rule(sql -> sql.startsWith("WITH ordered_change_tables"), this::changeTables));
        list.add(has(".cdc.change_tables WHERE start_lsn BETWEEN ? AND ?", this::changeTablesBetween));
    }

    private static Predicate<String> matching(Pattern pattern) {
        return sql -> pattern.matcher(sql).matches();
    }

    private static Rule is(String text, java.util.function.Function<SortedMap<Integer, Object>, Answer> answer) {
        return new Rule(text::equals, (sql, parameters) -> answer.apply(parameters));
    }

    private static Rule has(String text, java.util.function.Function<SortedMap<Integer, Object>, Answer> answer) {
        return new Rule(sql -> sql.contains(text), (sql, parameters) -> answer.apply(parameters));
    }

    private static Matcher match(Pattern pattern, String sql) {
        Matcher matcher = pattern.matcher(sql);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(sql);
        }
        return matcher;
    }

    private Table tableOf(Pattern pattern, String sql) {
        Matcher m = match(pattern, sql);
        return database.table(m.group("schema") + "." + m.group("table"));
    }

    // Positions in the log

    /** The last of the next n commits, from a given one on or from the start. */
    private Answer lsnOfNextCommits(String sql, SortedMap<Integer, Object> parameters) {
        boolean fromGiven = sql.contains("? + 1");
        int n = ((Number) parameters.get(1)).intValue() + (fromGiven ? 1 : 0);
        List<byte[]> next = database.commits.stream()
                .map(Database.Commit::lsn)
                .filter(lsn -> !fromGiven || Lsn.compare(lsn, (byte[]) parameters.get(2)) >= 0)
                .limit(n)
                .toList();
        return Answer.row("lsn", (Object) (next.isEmpty() ? null : next.get(next.size() - 1)));
    }

    private byte[] startOf(String capture) {
        return database.captures()
                .filter(c -> c.name.equals(capture))
                .map(c -> c.startLsn)
                .findFirst()
                .orElse(Lsn.NONE);
    }

    private Object firstStart() {
        return database.captures().map(c -> c.startLsn).min(Lsn::compare).map(Lsn::text).orElse(null);
    }

    // Capture instances

    private Answer capturedColumns() {
        List<Object[]> rows = database.captures()
                .flatMap(c -> c.columns.stream().map(column -> new Object[] {c.objectId, column}))
                .toList();
        return Answer.rows("object_id,column_name", rows);
    }

    private Answer changeTables(String sql, SortedMap<Integer, Object> parameters) {
        boolean upTo = sql.contains("ct.start_lsn <= ?");
        List<Object[]> rows = new ArrayList<>();
        for (Table table : database.tables.values()) {
            for (CaptureInstance c : table.captures) {
                if (!upTo || Lsn.compare(c.startLsn, (byte[]) parameters.get(1)) <= 0) {
                    rows.add(new Object[] {table.schema, table.name, c.name, c.objectId, c.startLsn});
                }
            }
        }
        return Answer.rows("schema,table,capture_instance,object_id,start_lsn", rows);
    }

    private Answer changeTablesBetween(SortedMap<Integer, Object> parameters) {
        byte[] from = (byte[]) parameters.get(1);
        byte[] to = (byte[]) parameters.get(2);
        List<Object[]> rows = new ArrayList<>();
        for (Table table : database.tables.values()) {
            for (CaptureInstance c : table.captures) {
                if (Lsn.compare(c.startLsn, from) >= 0 && Lsn.compare(c.startLsn, to) <= 0) {
                    rows.add(new Object[] {c.objectId, 0, table.objectId, c.name, c.startLsn});
                }
            }
        }
        return Answer.rows("object_id,version,source_object_id,capture_instance,start_lsn", rows);
    }

    // Changes

    /** A position in a change table: everything after it is still unread. */
    private record Position(byte[] lsn, byte[] seqval, int operation) {
        boolean isBefore(CaptureInstance.Change change) {
            int byLsn = Lsn.compare(lsn, change.commitLsn());
            int bySeqval = Lsn.compare(seqval, change.seqval());
            return byLsn < 0 || byLsn == 0 && (bySeqval < 0 || bySeqval == 0 && operation < change.operation());
        }
    }

    private Answer changes(String sql, SortedMap<Integer, Object> parameters) {
        Matcher query = match(CHANGES, sql);
        // The function binds its two arguments first; the table ("direct" mode) has no arguments.
        boolean direct = !query.group("from").startsWith("(");
        int before = direct ? 0 : 2;
        Position from = new Position(
                (byte[]) parameters.get(before + 1),
                (byte[]) parameters.get(before + 2),
                ((Number) parameters.get(before + 3)).intValue());
        Matcher skipped = SKIPPED_OPERATIONS.matcher(sql);
        Set<String> skip = skipped.find() ? Set.of(skipped.group(1).split(",")) : Set.of();
        List<CaptureInstance.Change> found = changesOf(query.group("capture")).stream()
                .filter(from::isBefore)
                .filter(change -> Lsn.compare(change.commitLsn(), (byte[]) parameters.get(before + 7)) <= 0)
                .filter(change -> !skip.contains(String.valueOf(change.operation())))
                .sorted(direct ? byCommand() : bySeqval())
                .limit(query.group("top") == null ? Long.MAX_VALUE : Long.parseLong(query.group("top")))
                .toList();
        List<String> columns = Arrays.stream(query.group("columns").split(", ")).map(Statements::unquote).toList();
        return changeRows(query.group("capture"), columns, found);
    }

    private Answer allChanges(String sql, SortedMap<Integer, Object> parameters) {
        String capture = match(ALL_CHANGES, sql).group("capture");
        List<CaptureInstance.Change> found = changesOf(capture).stream()
                .filter(change -> Lsn.compare(change.commitLsn(), (byte[]) parameters.get(1)) >= 0)
                .filter(change -> Lsn.compare(change.commitLsn(), (byte[]) parameters.get(2)) <= 0)
                .sorted(bySeqval())
                .toList();
        return changeRows(capture, capture(capture).columns, found);
    }

    private static Comparator<CaptureInstance.Change> bySeqval() {
        return Comparator.comparing(CaptureInstance.Change::commitLsn, Lsn::compare)
                .thenComparing(CaptureInstance.Change::seqval, Lsn::compare)
                .thenComparing(CaptureInstance.Change::operation);
    }

    private static Comparator<CaptureInstance.Change> byCommand() {
        return Comparator.comparing(CaptureInstance.Change::commitLsn, Lsn::compare)
                .thenComparing(CaptureInstance.Change::command)
                .thenComparing(bySeqval());
    }

    private CaptureInstance capture(String name) {
        return database.captures().filter(c -> c.name.equals(name)).findFirst().orElseThrow();
    }

    private List<CaptureInstance.Change> changesOf(String capture) {
        return capture(capture).changes;
    }

    private Answer changeRows(String capture, List<String> wanted, List<CaptureInstance.Change> changes) {
        CaptureInstance instance = capture(capture);
        Table table = database.tables.values().stream()
                .filter(t -> t.captures.contains(instance))
                .findFirst()
                .orElseThrow();
        List<String> names = new ArrayList<>(
                List.of("__$start_lsn", "__$seqval", "__$operation", "__$update_mask"));
        names.addAll(wanted);
        names.add("");
        int[] types = names.stream()
                .mapToInt(name -> table.has(name) ? table.column(name).jdbcType() : 0)
                .toArray();
        List<Object[]> rows = changes.stream().map(c -> changeRow(instance, wanted, c)).toList();
        return Answer.rows(names, types, rows);
    }

    private Object[] changeRow(CaptureInstance instance, List<String> wanted, CaptureInstance.Change change) {
        List<Object> row = new ArrayList<>(Arrays.asList(
                change.commitLsn(), change.seqval(), change.operation(), change.mask()));
        wanted.forEach(column -> row.add(change.values()[instance.columns.indexOf(column)]));
        row.add(database.commits.stream()
                .filter(commit -> Arrays.equals(commit.lsn(), change.commitLsn()))
                .findFirst()
                .orElseThrow()
                .at());
        return row.toArray();
    }

    // Rows

    private Answer parse(String sql, SortedMap<Integer, Object> parameters) {
        Column column = Column.parse("value", match(PARSE, sql).group("type"), 1);
        return Answer.row("value", column.value(parameters.get(1)));
    }

    private Answer insert(String sql, SortedMap<Integer, Object> parameters) {
        Table table = database.table(qualifiedName(match(INSERT, sql).group("table")));
        Map<String, Object> row = new LinkedHashMap<>();
        table.columns.forEach(column -> row.put(column.name(), parameters.get(column.position())));
        database.transact(List.of(Operation.insert(table.qualifiedName(), row)));
        return Answer.count(1);
    }

    private Answer delete(String sql, SortedMap<Integer, Object> parameters) {
        String table = qualifiedName(match(DELETE, sql).group("table"));
        database.transact(List.of(Operation.delete(table, Map.of("id", parameters.get(1)))));
        return Answer.count(1);
    }

    private Answer select(String sql, SortedMap<Integer, Object> parameters) {
        Matcher query = match(SELECT, sql);
        Table table = tableOf(SELECT, sql);
        List<String> names = query.group("columns").equals("*")
                ? table.columns.stream().map(Column::name).toList()
                : Arrays.stream(query.group("columns").split(", ")).map(Statements::unquote).toList();
        List<Object[]> rows = new ArrayList<>(table.rows);
        if (!table.primaryKey.isEmpty()) {
            rows.sort((a, b) -> Table.BY_KEY.compare(table.keyOf(a), table.keyOf(b)));
        }
        if (query.group("order") != null && query.group("order").endsWith(" DESC")) {
            Collections.reverse(rows);
        }
        if (query.group("where") != null) {
            keepChunk(table, rows, query.group("where"), parameters);
        }
        long top = query.group("top") == null ? Long.MAX_VALUE : Long.parseLong(query.group("top"));
        int[] places = names.stream().mapToInt(table::indexOf).toArray();
        int[] types = names.stream().mapToInt(name -> table.column(name).jdbcType()).toArray();
        return Answer.rows(names, types, rows.stream().limit(top).map(row -> pick(row, places)).toList());
    }

    private static Object[] pick(Object[] row, int[] places) {
        return IntStream.of(places).mapToObj(i -> row[i]).toArray();
    }

    /**
     * An incremental snapshot's chunk: keys above one and up to another. For a key of n columns the connector writes
     * "a > ? OR a = ? AND b > ?" and so on: n(n+1)/2 parameters per side, of which the last n are the whole key.
     */
    private static void keepChunk(
            Table table, List<Object[]> rows, String where, SortedMap<Integer, Object> parameters) {
        int n = table.primaryKey.size();
        int perSide = n * (n + 1) / 2;
        if (parameters.size() != 2 * perSide || !where.contains("AND NOT")) {
            throw new IllegalArgumentException("WHERE not understood: " + where);
        }
        Object[] above = new Object[n];
        Object[] upTo = new Object[n];
        for (int i = 0; i < n; i++) {
            above[i] = parameters.get(perSide - n + 1 + i);
            upTo[i] = parameters.get(2 * perSide - n + 1 + i);
        }
        rows.removeIf(row -> Table.BY_KEY.compare(table.keyOf(row), above) <= 0
                || Table.BY_KEY.compare(table.keyOf(row), upTo) > 0);
    }

    private static String unquote(String name) {
        return name.replaceAll("[\\[\\]\"]", "");
    }

    private static String qualifiedName(String quoted) {
        String[] parts = unquote(quoted).split("\\.");
        return parts[parts.length - 2] + "." + parts[parts.length - 1];
    }
}

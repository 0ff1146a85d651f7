package scripted;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.stream.Stream;

/** The scripted server: tables, rows and the log of its change data capture. */
final class Database {
    /** The connector opens its own connections through the driver's name, so they all share one server. */
    static final Database INSTANCE = new Database();

    private static final int FIRST_OBJECT_ID = 1_000_000;
    private static final int COMMIT_SLOT = 5;

    /** sys.lsn_time_mapping: when each transaction was committed. */
    record Commit(byte[] lsn, Instant at) {}

    final Map<String, Table> tables = new LinkedHashMap<>();
    final List<Commit> commits = new ArrayList<>();
    String name = "testDB";
    private Instant scriptedNow;
    private int lastObjectId = FIRST_OBJECT_ID;
    private long logBlock = 0x100;
    private int lastRowVersion = 2000;

    private Database() {}

    /** Sets the server's clock to a scripted time; from then on, each commit without its own time advances it. */
    synchronized void setClock(Instant time) {
        scriptedNow = time;
    }

    synchronized Instant now() {
        return scriptedNow == null ? Instant.now() : scriptedNow;
    }

    Table table(String qualifiedName) {
        Table table = tables.get(qualifiedName);
        if (table == null) {
            throw new NoSuchElementException("no table " + qualifiedName + "; there are " + tables.keySet());
        }
        return table;
    }

    Stream<CaptureInstance> captures() {
        return tables.values().stream().flatMap(table -> table.captures.stream());
    }

    byte[] maxLsn() {
        return commits.isEmpty() ? null : commits.get(commits.size() - 1).lsn();
    }

    /** CREATE TABLE, or ALTER TABLE if it exists; with {@code captured}, adds a capture instance. */
    synchronized void define(
            String qualifiedName, Map<String, String> columns, List<String> primaryKey, boolean captured) {
        String[] parts = qualifiedName.split("\\.");
        Table table = tables.computeIfAbsent(qualifiedName, n -> new Table(parts[0], parts[1], ++lastObjectId));
        List<Column> declared = new ArrayList<>();
        columns.forEach((column, type) -> declared.add(Column.parse(column, type, declared.size() + 1)));
        table.redefine(declared, primaryKey);
        if (captured) {
            String version = table.captures.isEmpty() ? "" : "_v" + (table.captures.size() + 1);
            byte[] start = commit(nextInstant());
            List<String> names = declared.stream().map(Column::name).toList();
            table.captures.add(
                    new CaptureInstance(parts[0] + "_" + parts[1] + version, ++lastObjectId, start, names));
        }
    }

    /** Rows from before capturing started: a snapshot reads them, but they are not in the log. */
    synchronized void seed(String qualifiedName, List<Map<String, Object>> rows) {
        Table table = table(qualifiedName);
        rows.forEach(row -> table.rows.add(newRow(table, row)));
    }

    /** A transaction of the connector itself: its signals. */
    synchronized void transact(List<Operation> operations) {
        transact(operations, nextInstant());
    }

    synchronized void transact(List<Operation> operations, Instant at) {
        Transaction transaction = new Transaction();
        operations.forEach(transaction::run);
        transaction.end(at);
        if (scriptedNow != null && at.isAfter(scriptedNow)) {
            scriptedNow = at;
        }
    }

    private Instant nextInstant() {
        if (scriptedNow == null) {
            return Instant.now();
        }
        scriptedNow = scriptedNow.plus(Duration.ofMillis(20));
        return scriptedNow;
    }

    private byte[] commit(Instant at) {
        logBlock += 0x18;
        byte[] lsn = Lsn.of(logBlock, COMMIT_SLOT);
        commits.add(new Commit(lsn, at));
        logBlock += 8;
        return lsn;
    }

    private Object[] newRow(Table table, Map<String, Object> values) {
        values.keySet().forEach(table::indexOf);
        return table.columns.stream()
                .map(column -> column.isRowVersion() ? nextRowVersion() : column.value(values.get(column.name())))
                .toArray();
    }

    private byte[] nextRowVersion() {
        return java.nio.ByteBuffer.allocate(8).putLong(++lastRowVersion).array();
    }

    /** The changes of one transaction, which reach the change tables together at its commit. */
    private final class Transaction {
        private static final int SEQVAL_SLOT = 2;

        private record Pending(CaptureInstance capture, CaptureInstance.Change change) {}

        private final List<Pending> pending = new ArrayList<>();
        private int command;

        void run(Operation operation) {
            Table table = table(operation.table());
            command++;
            switch (operation.op()) {
                case "i" -> insert(table, operation);
                case "u" -> rowsOf(table, operation).forEach(row -> update(table, row, operation));
                case "d" -> rowsOf(table, operation).forEach(row -> delete(table, row));
                default -> throw new IllegalArgumentException("op " + operation.op() + " is not i, u or d");
            }
        }

        void end(Instant at) {
            byte[] lsn = commit(at);
            for (Pending p : pending) {
                CaptureInstance.Change c = p.change;
                p.capture.changes.add(
                        new CaptureInstance.Change(lsn, c.seqval(), c.operation(), c.command(), c.mask(), c.values()));
            }
        }

        private List<Object[]> rowsOf(Table table, Operation operation) {
            List<Object[]> hit = table.rows.stream().filter(row -> table.matches(row, operation.key())).toList();
            if (hit.isEmpty()) {
                throw new NoSuchElementException("no row " + operation.key() + " in " + operation.table());
            }
            return hit;
        }

        private void insert(Table table, Operation operation) {
            Object[] row = newRow(table, operation.row());
            table.rows.add(row);
            log(table, nextSeqval(), 2, row, null);
        }

        private void delete(Table table, Object[] row) {
            table.rows.remove(row);
            log(table, nextSeqval(), 1, row, null);
        }

        private void update(Table table, Object[] before, Operation operation) {
            Object[] after = before.clone();
            List<String> changed = new ArrayList<>(operation.set().keySet());
            operation.set().forEach((name, value) -> after[table.indexOf(name)] = table.column(name).value(value));
            table.columns.stream().filter(Column::isRowVersion).forEach(column -> {
                after[table.indexOf(column.name())] = nextRowVersion();
                changed.add(column.name());
            });
            table.rows.set(table.rows.indexOf(before), after);
            byte[] seqval = nextSeqval();
            if (loggedAsPair(table, before, after, operation.log())) {
                log(table, seqval, 1, before, null);
                log(table, seqval, 2, after, null);
            } else {
                log(table, seqval, 3, before, changed);
                log(table, seqval, 4, after, changed);
            }
        }

        private boolean loggedAsPair(Table table, Object[] before, Object[] after, String log) {
            if (log != null) {
                return log.equals("pair");
            }
            return !table.primaryKey.isEmpty()
                    && !java.util.Arrays.deepEquals(table.keyOf(before), table.keyOf(after));
        }

        private byte[] nextSeqval() {
            logBlock += 8;
            return Lsn.of(logBlock, SEQVAL_SLOT);
        }

        /** Adds a row to every capture instance of its table; {@code changed} is null if all columns changed. */
        private void log(Table table, byte[] seqval, int operation, Object[] row, List<String> changed) {
            for (CaptureInstance capture : table.captures) {
                byte[] mask = new byte[(capture.columns.size() + 7) / 8];
                Object[] values = new Object[capture.columns.size()];
                for (int i = 0; i < values.length; i++) {
                    String name = capture.columns.get(i);
                    boolean isChanged = changed == null || changed.contains(name);
                    if (isChanged) {
                        mask[i / 8] |= (byte) (1 << (i % 8));
                    }
                    if (table.has(name) && isLogged(table.column(name), operation, isChanged)) {
                        values[i] = row[table.indexOf(name)];
                    }
                }
                pending.add(
                        new Pending(
                                capture, new CaptureInstance.Change(null, seqval, operation, command, mask, values)));
            }
        }

        /** CDC does not log the old value of text, ntext and image, nor unchanged large values in an update. */
        private static boolean isLogged(Column column, int operation, boolean isChanged) {
            boolean isOldImage = operation == 1 || operation == 3;
            boolean isUpdate = operation >= 3;
            return !(column.isLobOfOld() && isOldImage) && !(column.isLob() && isUpdate && !isChanged);
        }
    }
}

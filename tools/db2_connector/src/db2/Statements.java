package db2;

import java.sql.Timestamp;
import java.sql.Types;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** The connector's statements, by what distinguishes them, and the server's answers. */
final class Statements {
    private Statements() {}

    static Answer run(State state, String sql, Map<Integer, Object> parameters) {
        String plain = sql.replaceAll("\\s+", " ").trim();
        if (plain.contains("max(t.SYNCHPOINT)")) {
            return Answer.row("LSN", (Object) State.bytes(state.maxLsn));
        }
        if (plain.startsWith("SELECT CASE WHEN IBMSNAP_OPERATION")) {
            return changes(state, plain, parameters);
        }
        if (plain.startsWith("select r.SOURCE_OWNER")) {
            return changeTables(state);
        }
        if (plain.startsWith("select CAST((t.TBSPACEID")) {
            return new Answer(List.of("OBJECTID", "CD", "NEW", "OLD"), new int[4], List.of());
        }
        if (plain.contains("c.keyseq FROM syscat.tables")) {
            return keyColumns(state, ((Number) parameters.get(1)).intValue());
        }
        if (plain.startsWith("SELECT CURRENT TIMEstamp") || plain.contains("CURRENT_TIMESTAMP result")) {
            return Answer.row("RESULT", Timestamp.from(Instant.parse(state.now)));
        }
        if (plain.contains("CURRENT SERVER")) {
            return Answer.row("NAME", state.name);
        }
        return table(state, plain);
    }

    /** Columns: operation code, IBMSNAP_COMMITSEQ, IBMSNAP_INTENTSEQ, IBMSNAP_OPERATION, then the captured columns. */
    private static Answer changes(State state, String sql, Map<Integer, Object> parameters) {
        State.Table table = state.tables.stream()
                .filter(each -> each.changeTable != null && sql.contains("." + each.changeTable + " cdc"))
                .findFirst()
                .orElseThrow(() -> Proxies.unsupported(sql));
        List<String> names = new ArrayList<>(List.of("OPCODE", "IBMSNAP_COMMITSEQ", "IBMSNAP_INTENTSEQ", "IBMSNAP_OPERATION"));
        names.addAll(table.capturedColumns);
        int[] types = new int[names.size()];
        Arrays.fill(types, 0, 4, Types.VARCHAR);
        for (int i = 4; i < types.length; i++) {
            types[i] = column(table, names.get(i)).jdbcType;
        }
        byte[] from = (byte[]) parameters.get(1);
        byte[] to = (byte[]) parameters.get(2);
        List<Object[]> rows = new ArrayList<>();
        for (int i = 0; i < table.changes.size(); i++) {
            State.Change change = table.changes.get(i);
            byte[] commit = State.bytes(change.commit);
            if (Arrays.compareUnsigned(commit, from) >= 0 && Arrays.compareUnsigned(commit, to) <= 0) {
                Object[] row = new Object[names.size()];
                row[0] = code(table.changes, i);
                row[1] = commit;
                row[2] = State.bytes(change.intent);
                row[3] = change.operation;
                for (int j = 4; j < row.length; j++) {
                    row[j] = Values.of(change.values.get(j - 4), column(table, names.get(j)));
                }
                rows.add(row);
            }
        }
        return new Answer(names, types, rows);
    }

    /** As the statement's CASE has it: a delete with an insert after it in its transaction is an update's two rows. */
    private static int code(List<State.Change> changes, int i) {
        State.Change change = changes.get(i);
        if (change.operation.equals("D")) {
            boolean isPair = i + 1 < changes.size()
                    && changes.get(i + 1).commit.equals(change.commit)
                    && changes.get(i + 1).operation.equals("I");
            return isPair ? 3 : 1;
        }
        boolean isPair = i > 0
                && changes.get(i - 1).commit.equals(change.commit)
                && changes.get(i - 1).operation.equals("D");
        return isPair ? 4 : 2;
    }

    private static Answer changeTables(State state) {
        List<Object[]> rows = new ArrayList<>();
        for (State.Table table : state.tables) {
            if (table.changeTable != null) {
                rows.add(new Object[] {
                    table.schema, table.name, "ASNCDC", table.changeTable, State.bytes(table.newSynchPoint), null,
                    table.spaceId, table.tableId, table.objectId()
                });
            }
        }
        return new Answer(
                List.of("SOURCE_OWNER", "SOURCE_TABLE", "CD_OWNER", "CD_TABLE", "NEW", "OLD", "TBSPACEID", "TABLEID", "ID"),
                new int[9],
                rows);
    }

    private static Answer keyColumns(State state, int objectId) {
        List<Object[]> rows = new ArrayList<>();
        for (State.Table table : state.tables) {
            if (table.objectId() == objectId) {
                for (String name : table.primaryKey) {
                    int number = table.columns.indexOf(column(table, name));
                    rows.add(new Object[] {objectId, name, number, table.primaryKey.indexOf(name) + 1});
                }
            }
        }
        return new Answer(List.of("OBJECTID", "COLNAME", "COLNO", "KEYSEQ"), new int[4], rows);
    }

    /** The rows of a table: a snapshot's, or none for a lock or a request for the columns alone. */
    private static Answer table(State state, String sql) {
        for (State.Table table : state.tables) {
            if (!sql.matches("SELECT .* FROM \"?" + table.schema + "\"?\\.\"?" + table.name + "\"?( .*)?")) {
                continue;
            }
            List<String> names = table.columns.stream().map(each -> each.name).toList();
            int[] types = table.columns.stream().mapToInt(each -> each.jdbcType).toArray();
            List<Object[]> rows = new ArrayList<>();
            boolean isRead = !sql.contains("WHERE 0=1") && !sql.endsWith("WITH CS");
            for (List<Object> row : isRead ? table.rows : List.<List<Object>>of()) {
                Object[] values = new Object[names.size()];
                for (int i = 0; i < values.length; i++) {
                    values[i] = Values.of(row.get(i), table.columns.get(i));
                }
                rows.add(values);
            }
            return new Answer(names, types, rows);
        }
        throw Proxies.unsupported(sql);
    }

    private static State.Column column(State.Table table, String name) {
        return table.columns.stream().filter(each -> each.name.equals(name)).findFirst().orElseThrow();
    }
}

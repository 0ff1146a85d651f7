package scripted;

import java.util.Map;

/**
 * One statement of a scripted transaction.
 *
 * @param op i, u or d
 * @param table for example dbo.orders
 * @param row the new row of an insert; missing columns are NULL
 * @param key the columns that select the rows of an update or delete
 * @param set the new values of an update
 * @param log how an update is logged in the change table: {@code update} as the rows before and after, {@code pair} as
 *     a delete and an insert. SQL Server logs a changed key as a pair, and an UPDATE that touches a unique index (a
 *     deferred update) as well; default: a pair for a changed key, otherwise an update.
 */
record Operation(
        String op,
        String table,
        Map<String, Object> row,
        Map<String, Object> key,
        Map<String, Object> set,
        String log) {

    static Operation insert(String table, Map<String, Object> row) {
        return new Operation("i", table, row, null, null, null);
    }

    static Operation delete(String table, Map<String, Object> key) {
        return new Operation("d", table, null, key, null, null);
    }
}

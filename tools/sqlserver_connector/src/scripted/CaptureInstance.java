package scripted;

import java.util.ArrayList;
import java.util.List;

/** A change table of SQL Server's CDC: a table's columns at the time when capturing was enabled, and its changes. */
final class CaptureInstance {
    final String name;
    final int objectId;
    final byte[] startLsn;
    final List<String> columns;
    final List<Change> changes = new ArrayList<>();

    CaptureInstance(String name, int objectId, byte[] startLsn, List<String> columns) {
        this.name = name;
        this.objectId = objectId;
        this.startLsn = startLsn;
        this.columns = columns;
    }

    /**
     * One row of the change table.
     *
     * @param commitLsn __$start_lsn, the same for all changes of a transaction
     * @param seqval __$seqval
     * @param operation __$operation: 1 delete, 2 insert, 3 row before an update, 4 row after it
     * @param command __$command_id, the order of the changes inside a transaction
     * @param mask __$update_mask, a bit for each changed column
     */
    record Change(byte[] commitLsn, byte[] seqval, int operation, int command, byte[] mask, Object[] values) {}
}

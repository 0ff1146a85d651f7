package db2;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HexFormat;
import java.util.List;

/** The scripted server's state, read anew for each statement from the file that server.py writes. */
public final class State {
    private static final ObjectMapper JSON =
            new ObjectMapper().configure(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, false);

    public String name;
    public String now;
    public String maxLsn;
    public List<Table> tables;

    public static final class Table {
        public String schema;
        public String name;
        public int spaceId;
        public int tableId;
        public List<Column> columns;
        public List<String> primaryKey;
        public List<List<Object>> rows;
        public String changeTable;
        public String newSynchPoint;
        public List<String> capturedColumns;
        public List<Change> changes;

        int objectId() {
            return spaceId * 65536 + tableId;
        }
    }

    public static final class Column {
        public String name;
        public String type;
        public int jdbcType;
        public int size;
        public Integer scale;
        public boolean nullable;
    }

    /** A row of a change table: SQL Replication writes an update as a delete and an insert. */
    public static final class Change {
        public String commit;
        public String intent;
        public String operation;
        public List<Object> values;
    }

    static State of(String file) {
        try {
            return JSON.readValue(new File(file), State.class);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static byte[] bytes(String hex) {
        return hex == null ? null : HexFormat.of().parseHex(hex);
    }
}

package scripted;

import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * One step of a scenario; the tool's README.md explains them. The first field that is set determines the kind of step,
 * the others on its line are its options.
 */
record Step(
        String database,
        Map<String, String> properties,
        String clock,
        String section,
        String table, Map<String, String> columns, List<String> pk, Boolean cdc,
        String into, List<Map<String, Object>> rows,
        List<Operation> tx, String at,
        Boolean start,
        Boolean stop,
        Boolean keepOffsets,
        Boolean crash,
        Integer records,
        Integer quietMs) {

    Instant time() {
        return Instant.parse(at);
    }

    List<String> primaryKey() {
        return pk == null ? List.of() : pk;
    }

    boolean isCaptured() {
        return Boolean.TRUE.equals(cdc);
    }
}

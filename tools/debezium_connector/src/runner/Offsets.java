package runner;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.connect.storage.OffsetStorageReader;

/**
 * A connector's offsets in a file of JSON, as a worker keeps them in a topic of JSON: a whole number that is read back
 * is a Long, whatever it was.
 */
final class Offsets implements OffsetStorageReader {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path file;
    private final Map<String, Map<String, Object>> flushed = new TreeMap<>();

    Offsets(Path file) throws IOException {
        this.file = file;
        if (Files.exists(file)) {
            flushed.putAll(JSON.readValue(file.toFile(), new TypeReference<Map<String, Map<String, Object>>>() {}));
        }
    }

    synchronized void flush(Map<Map<String, ?>, Map<String, ?>> offsets) throws IOException {
        for (Map.Entry<Map<String, ?>, Map<String, ?>> offset : offsets.entrySet()) {
            flushed.put(text(offset.getKey()), new HashMap<>(offset.getValue()));
        }
        Path scratch = file.resolveSibling(file.getFileName() + ".new");
        JSON.writeValue(scratch.toFile(), flushed);
        Files.move(scratch, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    }

    @Override
    public synchronized <T> Map<String, Object> offset(Map<String, T> partition) {
        Map<String, Object> found = flushed.get(text(partition));
        if (found == null) {
            return null;
        }
        Map<String, Object> offset = new HashMap<>();
        found.forEach((name, value) ->
                offset.put(name, value instanceof Integer number ? Long.valueOf(number.longValue()) : value));
        return offset;
    }

    @Override
    public <T> Map<Map<String, T>, Map<String, Object>> offsets(Collection<Map<String, T>> partitions) {
        Map<Map<String, T>, Map<String, Object>> found = new HashMap<>();
        for (Map<String, T> partition : partitions) {
            Map<String, Object> offset = offset(partition);
            if (offset != null) {
                found.put(partition, offset);
            }
        }
        return found;
    }

    private static String text(Map<String, ?> partition) {
        try {
            return JSON.writeValueAsString(new TreeMap<>(partition));
        } catch (IOException e) {
            throw new IllegalArgumentException(e);
        }
    }
}

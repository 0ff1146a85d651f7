package connect;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.SimpleHeaderConverter;

/** Writes each record as one line of JSON, with key and value as written by Kafka Connect's JsonConverter. */
public final class RecordWriter implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Writer lines;
    private final JsonConverter keys = new JsonConverter();
    private final JsonConverter values = new JsonConverter();
    private final SimpleHeaderConverter headers = new SimpleHeaderConverter();
    private final Map<String, Object> marks = new LinkedHashMap<>();
    private int count;
    private long lastWrite = System.nanoTime();

    /** Closes the writer of lines with itself. */
    public RecordWriter(Writer lines, Map<String, String> converterSettings) {
        this.lines = lines;
        Map<String, Object> settings = new HashMap<>(converterSettings);
        settings.putIfAbsent("schemas.enable", "false");
        keys.configure(settings, true);
        values.configure(settings, false);
        headers.configure(Map.of());
    }

    /** Adds a field to every line from now on. */
    public synchronized void mark(String field, Object value) {
        marks.put(field, value);
    }

    public synchronized void write(SourceRecord record) {
        Map<String, Object> line = new LinkedHashMap<>();
        String topic = record.topic();
        line.put("topic", topic);
        line.put("key", text(keys.fromConnectData(topic, record.keySchema(), record.key()), record.key()));
        line.put("value", text(values.fromConnectData(topic, record.valueSchema(), record.value()), record.value()));
        List<String> flat = new ArrayList<>();
        record.headers().forEach(header -> {
            flat.add(header.key());
            flat.add(text(
                    headers.fromConnectHeader(topic, header.key(), header.schema(), header.value()), header.value()));
        });
        line.put("headers", flat);
        line.putAll(marks);
        try {
            lines.write(JSON.writeValueAsString(line));
            lines.write('\n');
            lines.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        count++;
        lastWrite = System.nanoTime();
    }

    /** Null stays null: with schemas enabled, the converter would return text, but a tombstone has no value. */
    private static String text(byte[] bytes, Object converted) {
        return converted == null || bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
    }

    public synchronized int count() {
        return count;
    }

    public synchronized long millisecondsSinceLastWrite() {
        return (System.nanoTime() - lastWrite) / 1_000_000;
    }

    public synchronized void startWaiting() {
        lastWrite = System.nanoTime();
    }

    @Override
    public synchronized void close() throws IOException {
        lines.close();
    }
}

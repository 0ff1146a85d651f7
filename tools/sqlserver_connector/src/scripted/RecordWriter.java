package scripted;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.SimpleHeaderConverter;

/** Writes each record as one line of JSON, with key and value as written by Kafka Connect's JsonConverter. */
final class RecordWriter implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final BufferedWriter lines;
    private final JsonConverter keys = new JsonConverter();
    private final JsonConverter values = new JsonConverter();
    private final SimpleHeaderConverter headers = new SimpleHeaderConverter();
    private final Map<String, Object> marks = new LinkedHashMap<>();
    private int count;
    private long lastWrite = System.nanoTime();

    RecordWriter(Path file, Map<String, String> converterSettings) throws IOException {
        lines = Files.newBufferedWriter(file);
        Map<String, Object> settings = new HashMap<>(converterSettings);
        settings.putIfAbsent("schemas.enable", "false");
        keys.configure(settings, true);
        values.configure(settings, false);
        headers.configure(Map.of());
    }

    /** Adds a field to every line from now on. */
    synchronized void mark(String field, Object value) {
        marks.put(field, value);
    }

    synchronized void write(SourceRecord record) {
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
            lines.newLine();
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

    synchronized int count() {
        return count;
    }

    synchronized long millisecondsSinceLastWrite() {
        return (System.nanoTime() - lastWrite) / 1_000_000;
    }

    synchronized void startWaiting() {
        lastWrite = System.nanoTime();
    }

    @Override
    public synchronized void close() throws IOException {
        lines.close();
    }
}

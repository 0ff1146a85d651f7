package scripted;

import io.debezium.embedded.Connect;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.RecordChangeEvent;
import io.debezium.engine.format.ChangeEventFormat;
import io.debezium.engine.spi.OffsetCommitPolicy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.apache.kafka.connect.source.SourceRecord;

/** Debezium's SQL Server connector in its own engine; it can be stopped and restarted at its last or saved offsets. */
final class Connector {
    private static final long STOP_SECONDS = 20;

    private final Properties properties = new Properties();
    private final Consumer<SourceRecord> receiver;
    private final Path offsets;
    private final Path keptOffsets;
    private final AtomicReference<String> failure = new AtomicReference<>();
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "connector");
        thread.setDaemon(true);
        return thread;
    });
    private DebeziumEngine<RecordChangeEvent<SourceRecord>> engine;
    private Future<?> running;

    Connector(Path folder, String database, Consumer<SourceRecord> receiver) {
        this.receiver = receiver;
        offsets = folder.resolve("offsets");
        keptOffsets = folder.resolve("offsets.kept");
        properties.putAll(Map.of(
                "name", "sqlserver",
                "connector.class", "io.debezium.connector.sqlserver.SqlServerConnector",
                "topic.prefix", "server1",
                "database.names", database,
                "database.hostname", "localhost",
                "database.port", "1",
                "database.user", "scripted",
                "database.password", "scripted",
                "poll.interval.ms", "50",
                "tasks.max", "1"));
        properties.putAll(Map.of(
                "offset.storage", "org.apache.kafka.connect.storage.FileOffsetBackingStore",
                "offset.storage.file.filename", offsets.toString(),
                "schema.history.internal", "io.debezium.storage.file.history.FileSchemaHistory",
                "schema.history.internal.file.filename", folder.resolve("history").toString()));
    }

    void set(String property, String value) {
        properties.put(property, value);
    }

    void start() {
        engine = DebeziumEngine.create(ChangeEventFormat.of(Connect.class))
                .using(properties)
                // After every batch, so that the offsets saved by a scenario are the connector's real ones.
                .using(OffsetCommitPolicy.always())
                .using((success, message, error) -> {
                    if (!success) {
                        failure.set(message + (error == null ? "" : ": " + error));
                    }
                })
                .notifying(event -> receiver.accept(event.record()))
                .build();
        running = threads.submit(engine);
    }

    void stop() throws Exception {
        if (engine != null) {
            engine.close();
            running.get(STOP_SECONDS, TimeUnit.SECONDS);
            engine = null;
        }
    }

    /** Saves the offsets that the connector has committed. */
    void keepOffsets() throws IOException {
        Files.copy(offsets, keptOffsets, StandardCopyOption.REPLACE_EXISTING);
    }

    /** Stops and restores the offsets of {@link #keepOffsets}, like a worker that died before it committed offsets. */
    void crash() throws Exception {
        stop();
        Files.copy(keptOffsets, offsets, StandardCopyOption.REPLACE_EXISTING);
    }

    void checkAlive() {
        if (failure.get() != null) {
            throw new IllegalStateException("the connector failed: " + failure.get());
        }
    }
}

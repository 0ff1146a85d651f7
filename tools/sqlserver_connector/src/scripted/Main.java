package scripted;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import connect.RecordWriter;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TimeZone;
import java.util.concurrent.TimeoutException;

/** Plays a scenario to the connector: Main SCENARIO.json RECORDS.jsonl [property=value ...]. */
public final class Main {
    private static final long RECORDS_TIMEOUT_MS = 60_000;
    private static final String CONVERTER = "converter.";

    private final Database database = Database.INSTANCE;
    private final RecordWriter writer;
    private final Map<String, String> properties;
    private final Path folder;
    private Connector connector;
    private int starts;
    private int awaited;

    private Main(RecordWriter writer, Map<String, String> properties, Path folder) {
        this.writer = writer;
        this.properties = properties;
        this.folder = folder;
    }

    public static void main(String[] arguments) throws Exception {
        // Scripted times have no zone; the connector interprets them in the JVM's.
        TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
        List<Step> steps = new ObjectMapper().readValue(new File(arguments[0]), new TypeReference<>() {});
        Map<String, String> properties = new HashMap<>();
        for (Step step : steps) {
            if (step.properties() != null) {
                properties.putAll(step.properties());
            }
        }
        for (int i = 2; i < arguments.length; i++) {
            String[] property = arguments[i].split("=", 2);
            properties.put(property[0], property[1]);
        }
        int status = 0;
        try (RecordWriter writer = new RecordWriter(Files.newBufferedWriter(Path.of(arguments[1])), converterSettings(properties))) {
            new Main(writer, properties, Files.createTempDirectory(Path.of(arguments[1]).getParent(), "connector"))
                    .play(steps);
        } catch (Exception e) {
            e.printStackTrace();
            status = 1;
        }
        // The connector leaves threads running.
        System.exit(status);
    }

    private static Map<String, String> converterSettings(Map<String, String> properties) {
        Map<String, String> settings = new HashMap<>();
        properties.forEach((name, value) -> {
            if (name.startsWith(CONVERTER)) {
                settings.put(name.substring(CONVERTER.length()), value);
            }
        });
        return settings;
    }

    private void play(List<Step> steps) throws Exception {
        for (Step step : steps) {
            play(step);
        }
        if (connector != null) {
            connector.stop();
        }
    }

    private void play(Step step) throws Exception {
        if (step.database() != null) {
            database.name = step.database();
        } else if (step.properties() != null) {
            return; // read before the first step
        } else if (step.clock() != null) {
            database.setClock(Instant.parse(step.clock()));
        } else if (step.section() != null) {
            writer.mark("section", step.section());
        } else if (step.table() != null) {
            database.define(step.table(), step.columns(), step.primaryKey(), step.isCaptured());
        } else if (step.into() != null) {
            database.seed(step.into(), step.rows());
        } else if (step.tx() != null) {
            transact(step);
        } else if (step.start() != null) {
            start();
        } else if (step.stop() != null) {
            connector.stop();
        } else if (step.keepOffsets() != null) {
            connector.keepOffsets();
        } else if (step.crash() != null) {
            connector.crash();
        } else if (step.records() != null) {
            awaitRecords(step.records());
        } else if (step.quietMs() != null) {
            awaitQuiet(step.quietMs());
        } else {
            throw new IllegalArgumentException("a step without a known field");
        }
    }

    private void transact(Step step) {
        if (step.at() == null) {
            database.transact(step.tx());
        } else {
            database.transact(step.tx(), step.time());
        }
    }

    private void start() {
        if (connector == null) {
            connector = new Connector(folder, database.name, writer::write);
            properties.forEach((name, value) -> {
                if (!name.startsWith(CONVERTER)) {
                    connector.set(name, value);
                }
            });
        }
        writer.mark("run", starts++);
        writer.mark("started", database.now().toString());
        connector.start();
    }

    /** Waits until n more records have arrived since the last such step. */
    private void awaitRecords(int n) throws Exception {
        awaited += n;
        long deadline = System.nanoTime() + RECORDS_TIMEOUT_MS * 1_000_000;
        while (writer.count() < awaited) {
            connector.checkAlive();
            if (System.nanoTime() > deadline) {
                throw new TimeoutException("only " + writer.count() + " of " + awaited + " records have come");
            }
            Thread.sleep(20);
        }
    }

    private void awaitQuiet(long milliseconds) throws InterruptedException {
        writer.startWaiting();
        while (writer.millisecondsSinceLastWrite() < milliseconds) {
            connector.checkAlive();
            Thread.sleep(20);
        }
        awaited = writer.count();
    }
}

package runner;

import connect.RecordWriter;
import java.io.Writer;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.kafka.connect.errors.RetriableException;
import org.apache.kafka.connect.source.SourceConnector;
import org.apache.kafka.connect.source.SourceConnectorContext;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;
import org.apache.kafka.connect.source.SourceTaskContext;
import org.apache.kafka.connect.transforms.Transformation;

/**
 * What a Connect worker does for one source connector with one task: polls, transforms, writes, and keeps offsets.
 * Unlike a worker's, its offsets are flushed by command only, so that it is known what will be delivered again.
 */
final class Worker {
    private static final long STOP_SECONDS = 60;
    private static final long PAUSE_MS = 20;
    private static final String CONVERTER = "converter.";

    private final SourceConnector connector;
    private final SourceTask task;
    private final Offsets offsets;
    private final RecordWriter records;
    private final List<Transformation<SourceRecord>> transforms;
    private final Map<Map<String, ?>, Map<String, ?>> sent = new HashMap<>();
    private final LinkedBlockingQueue<FutureTask<Void>> requests = new LinkedBlockingQueue<>();
    private final ExecutorService thread;
    private final Future<?> polling;
    private volatile boolean stopping;

    /** Starts the connector; returns when its task has started. */
    Worker(
            Map<String, String> properties,
            Offsets offsets,
            Writer lines,
            Map<String, Object> marks,
            Consumer<Throwable> failed)
            throws Exception {
        this.offsets = offsets;
        records = new RecordWriter(lines, withPrefix(CONVERTER, properties));
        marks.forEach(records::mark);
        transforms = transforms(properties);
        connector = instance(properties.get("connector.class"));
        connector.initialize(context(SourceConnectorContext.class, properties, failed));
        connector.start(properties);
        Map<String, String> settings = new HashMap<>(properties);
        settings.putAll(connector.taskConfigs(1).get(0));
        task = (SourceTask) connector.taskClass().asSubclass(SourceTask.class).getDeclaredConstructor().newInstance();
        task.initialize(context(SourceTaskContext.class, settings, failed));
        thread = Executors.newSingleThreadExecutor(run -> {
            Thread made = new Thread(run, "task");
            made.setDaemon(true);
            return made;
        });
        // A task may keep what it starts with in its own thread, so all its methods but stop are called in one.
        thread.submit(() -> task.start(settings)).get();
        polling = thread.submit(() -> poll(failed));
    }

    /** Stores the offsets of all records that were written, and tells the connector so. */
    void flush() throws Exception {
        FutureTask<Void> request = new FutureTask<>(
                () -> {
                    offsets.flush(sent);
                    task.commit();
                    return null;
                });
        requests.add(request);
        if (polling.isDone()) {
            throw new IllegalStateException("the connector no longer runs");
        }
        request.get(STOP_SECONDS, TimeUnit.SECONDS);
    }

    /** Stops the connector, with a last flush or, as a worker that dies, without. */
    void stop(boolean flushed) throws Exception {
        if (flushed) {
            flush();
        }
        stopping = true;
        try {
            polling.get(STOP_SECONDS, TimeUnit.SECONDS);
        } finally {
            task.stop();
            connector.stop();
            thread.shutdownNow();
            transforms.forEach(Transformation::close);
        }
    }

    private void poll(Consumer<Throwable> failed) {
        try {
            while (!stopping) {
                for (FutureTask<Void> request = requests.poll(); request != null; request = requests.poll()) {
                    request.run();
                }
                List<SourceRecord> polled = polled();
                if (polled == null || polled.isEmpty()) {
                    Thread.sleep(PAUSE_MS);
                    continue;
                }
                for (SourceRecord record : polled) {
                    write(record);
                }
            }
        } catch (Throwable e) {
            failed.accept(e);
        }
    }

    private List<SourceRecord> polled() throws InterruptedException {
        try {
            return task.poll();
        } catch (RetriableException e) {
            e.printStackTrace();
            return null; // as a worker does: polled again
        }
    }

    private void write(SourceRecord record) throws InterruptedException {
        SourceRecord transformed = record;
        for (Transformation<SourceRecord> transform : transforms) {
            transformed = transformed == null ? null : transform.apply(transformed);
        }
        if (transformed != null) {
            records.write(transformed);
        }
        sent.put(copy(record.sourcePartition()), copy(record.sourceOffset()));
        task.commitRecord(record, null);
    }

    private static Map<String, ?> copy(Map<String, ?> fields) {
        return fields == null ? Map.of() : new HashMap<>(fields);
    }

    private static List<Transformation<SourceRecord>> transforms(Map<String, String> properties) throws Exception {
        List<Transformation<SourceRecord>> made = new ArrayList<>();
        for (String name : properties.getOrDefault("transforms", "").split(",")) {
            if (!name.isBlank()) {
                String prefix = "transforms." + name.strip() + ".";
                Transformation<SourceRecord> transform = instance(properties.get(prefix + "type"));
                transform.configure(withPrefix(prefix, properties));
                made.add(transform);
            }
        }
        return made;
    }

    private static Map<String, String> withPrefix(String prefix, Map<String, String> properties) {
        Map<String, String> settings = new HashMap<>();
        properties.forEach((name, value) -> {
            if (name.startsWith(prefix)) {
                settings.put(name.substring(prefix.length()), value);
            }
        });
        return settings;
    }

    @SuppressWarnings("unchecked")
    private static <T> T instance(String name) throws Exception {
        return (T) Class.forName(name).getDeclaredConstructor().newInstance();
    }

    /** A proxy, since Connect's interfaces have other methods in each version. */
    private <T> T context(Class<T> type, Map<String, String> settings, Consumer<Throwable> failed) {
        Object made = Proxy.newProxyInstance(Worker.class.getClassLoader(), new Class<?>[] {type}, (self, method, a) ->
                switch (method.getName()) {
                    case "offsetStorageReader" -> offsets;
                    case "configs" -> settings;
                    case "raiseError" -> {
                        failed.accept((Throwable) a[0]);
                        yield null;
                    }
                    case "hashCode" -> System.identityHashCode(self);
                    case "equals" -> self == a[0];
                    case "toString" -> type.getSimpleName();
                    case "requestTaskReconfiguration", "transactionContext", "pluginMetrics" -> null;
                    default -> throw new UnsupportedOperationException(method.toString());
                });
        return type.cast(made);
    }
}

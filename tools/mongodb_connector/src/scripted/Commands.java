package scripted;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;

/** The commands that Debezium's connector sends to the primary of a replica set. */
final class Commands {
    private static final String REPLICA_SET = "rs0";
    private static final long AWAIT_MS = 100;

    private final Database database;
    private final String address;
    private final Map<Long, Tail> tails = new ConcurrentHashMap<>();
    private final AtomicLong cursors = new AtomicLong(1000);

    /** A cursor that waits for what is logged: a change stream, or the oplog. */
    private final class Tail {
        private final BsonDocument changeStream;
        private final String namespace;
        private int seen;

        Tail(BsonDocument changeStream, String namespace, int seen) {
            this.changeStream = changeStream;
            this.namespace = namespace;
            this.seen = seen;
        }

        List<BsonDocument> next() {
            synchronized (database) {
                List<BsonDocument> log = changeStream == null ? database.oplog : database.events;
                List<BsonDocument> found = new ArrayList<>();
                for (BsonDocument each : log.subList(seen, log.size())) {
                    if (changeStream == null) {
                        found.add(each);
                    } else if (isWatched(each)) {
                        found.add(event(each));
                    }
                }
                seen = log.size();
                return found;
            }
        }

        private boolean isWatched(BsonDocument event) {
            BsonDocument ns = event.getDocument("ns");
            String name = ns.getString("db").getValue() + "." + ns.getString("coll").getValue();
            return namespace == null || name.equals(namespace) || name.startsWith(namespace + ".");
        }

        /** As the options of the stream want it: with the whole document after an update, before it, or neither. */
        private BsonDocument event(BsonDocument logged) {
            BsonDocument event = logged.clone();
            if (event.getString("operationType").getValue().equals("update")) {
                String wanted = changeStream.getString("fullDocument", new BsonString("default")).getValue();
                if (wanted.equals("default")) {
                    event.remove("fullDocument");
                } else if (wanted.equals("updateLookup")) {
                    BsonDocument current = database.current(logged);
                    event.put("fullDocument", current == null ? BsonNull.VALUE : current);
                }
            }
            if (!changeStream.containsKey("fullDocumentBeforeChange")) {
                event.remove("fullDocumentBeforeChange");
            }
            return event;
        }
    }

    Commands(Database database, String address) {
        this.database = database;
        this.address = address;
    }

    BsonDocument answer(BsonDocument command) {
        BsonDocument reply = reply(command.getFirstKey(), command);
        return reply.append("operationTime", database.now());
    }

    private BsonDocument reply(String name, BsonDocument command) {
        switch (name.toLowerCase()) {
            case "hello":
            case "ismaster":
                return member();
            case "ping":
            case "endsessions":
            case "getlasterror":
            case "killcursors":
                return ok();
            case "buildinfo":
                return ok().append("version", new BsonString("6.0.0"));
            case "listdatabases":
                return databases();
            case "listcollections":
                return collections(command.getString("$db").getValue());
            case "find":
                return find(command);
            case "aggregate":
                return aggregate(command);
            case "getmore":
                return more(command);
            case "insert":
                return insert(command);
            default:
                System.err.println("unknown command: " + command);
                return new BsonDocument("ok", new BsonDouble(0))
                        .append("code", new BsonInt32(59))
                        .append("errmsg", new BsonString("no such command: '" + name + "'"));
        }
    }

    private static BsonDocument ok() {
        return new BsonDocument("ok", new BsonDouble(1));
    }

    private BsonDocument member() {
        BsonString self = new BsonString(address);
        return ok().append("ismaster", BsonBoolean.TRUE)
                .append("isWritablePrimary", BsonBoolean.TRUE)
                .append("helloOk", BsonBoolean.TRUE)
                .append("secondary", BsonBoolean.FALSE)
                .append("setName", new BsonString(REPLICA_SET))
                .append("setVersion", new BsonInt32(1))
                .append("hosts", new BsonArray(List.of(self)))
                .append("primary", self)
                .append("me", self)
                .append("maxBsonObjectSize", new BsonInt32(16 * 1024 * 1024))
                .append("maxMessageSizeBytes", new BsonInt32(48_000_000))
                .append("maxWriteBatchSize", new BsonInt32(100_000))
                .append("minWireVersion", new BsonInt32(0))
                .append("maxWireVersion", new BsonInt32(17))
                .append("logicalSessionTimeoutMinutes", new BsonInt32(30))
                .append("localTime", new BsonDateTime(System.currentTimeMillis()))
                .append("readOnly", BsonBoolean.FALSE);
    }

    private BsonDocument databases() {
        Set<String> names = new LinkedHashSet<>();
        database.namespaces().forEach(namespace -> names.add(namespace.substring(0, namespace.indexOf('.'))));
        BsonArray found = new BsonArray();
        names.forEach(name -> found.add(new BsonDocument("name", new BsonString(name))));
        return ok().append("databases", found);
    }

    private BsonDocument collections(String name) {
        List<BsonDocument> found = new ArrayList<>();
        for (String namespace : database.namespaces()) {
            if (namespace.startsWith(name + ".")) {
                BsonString collection = new BsonString(namespace.substring(name.length() + 1));
                found.add(new BsonDocument("name", collection).append("type", new BsonString("collection")));
            }
        }
        return first(0, name + ".$cmd.listCollections", found);
    }

    private BsonDocument find(BsonDocument command) {
        String name = command.getString("$db").getValue() + "." + command.getString("find").getValue();
        if (!name.equals("local.oplog.rs")) {
            return first(0, name, query(database.documents(name), command));
        }
        synchronized (database) {
            if (command.getBoolean("tailable", BsonBoolean.FALSE).getValue()) {
                Tail tail = new Tail(null, null, position(command));
                long cursor = cursors.incrementAndGet();
                tails.put(cursor, tail);
                return first(cursor, name, tail.next());
            }
            int size = database.oplog.size();
            boolean isLast = command.getDocument("sort").getNumber("$natural").intValue() < 0;
            return first(0, name, size == 0 ? List.of() : List.of(database.oplog.get(isLast ? size - 1 : 0)));
        }
    }

    /** How many entries of the oplog the filter on `ts` leaves out. */
    private int position(BsonDocument command) {
        Pattern wanted = Pattern.compile("\"(\\$gte?)\": \\{\"\\$timestamp\": \\{\"t\": (\\d+), \"i\": (\\d+)");
        var found = wanted.matcher(command.getDocument("filter").toJson());
        if (!found.find()) {
            return 0;
        }
        BsonTimestamp from = new BsonTimestamp(Integer.parseInt(found.group(2)), Integer.parseInt(found.group(3)));
        boolean inclusive = found.group(1).equals("$gte");
        return (int) database.oplog.stream()
                .map(entry -> entry.getTimestamp("ts").compareTo(from))
                .filter(order -> inclusive ? order < 0 : order <= 0)
                .count();
    }

    /** Snapshots sort by `_id` and take ranges of it; other filters are not needed. */
    private static List<BsonDocument> query(List<BsonDocument> documents, BsonDocument command) {
        String filter = command.getDocument("filter", new BsonDocument()).toJson();
        BsonDocument sort = command.getDocument("sort", new BsonDocument());
        if (!sort.isEmpty()) {
            int direction = sort.getNumber("_id").intValue();
            Comparator<BsonDocument> byId = Comparator.comparingLong(Commands::number);
            documents.sort(direction < 0 ? byId.reversed() : byId);
        }
        var bounds = Pattern.compile("\"(\\$gte?|\\$lte?)\": (\\d+)").matcher(filter);
        while (bounds.find()) {
            long bound = Long.parseLong(bounds.group(2));
            String operator = bounds.group(1);
            documents.removeIf(document -> !holds(number(document), operator, bound));
        }
        int limit = Math.abs(command.getNumber("limit", new BsonInt32(0)).intValue());
        return limit == 0 || limit > documents.size() ? documents : documents.subList(0, limit);
    }

    private static boolean holds(long value, String operator, long bound) {
        int order = Long.compare(value, bound);
        return operator.equals("$gt") ? order > 0 : operator.equals("$gte") ? order >= 0 : operator.equals("$lt") ? order < 0 : order <= 0;
    }

    private static long number(BsonDocument document) {
        return document.getNumber("_id", new BsonInt32(0)).longValue();
    }

    private BsonDocument aggregate(BsonDocument command) {
        String name = command.getString("$db").getValue();
        boolean isCollection = command.get("aggregate").isString();
        BsonDocument stage = command.getArray("pipeline").get(0).asDocument();
        if (!stage.containsKey("$changeStream")) {
            int count = database.documents(name + "." + command.getString("aggregate").getValue()).size();
            return first(0, name, List.of(new BsonDocument("_id", new BsonInt32(1)).append("n", new BsonInt32(count))));
        }
        BsonDocument stream = stage.getDocument("$changeStream");
        boolean isDeployment = stream.getBoolean("allChangesForCluster", BsonBoolean.FALSE).getValue();
        String namespace = isDeployment ? null : isCollection ? name + "." + command.getString("aggregate").getValue() : name;
        synchronized (database) {
            Tail tail = new Tail(stream, namespace, start(stream));
            long cursor = cursors.incrementAndGet();
            tails.put(cursor, tail);
            return first(cursor, name + ".$cmd.aggregate", tail.next());
        }
    }

    /** How many events come before the first that the stream wants. */
    private int start(BsonDocument stream) {
        for (String field : List.of("resumeAfter", "startAfter")) {
            if (stream.containsKey(field)) {
                String token = stream.getDocument(field).getString("_data").getValue();
                return Integer.parseInt(token.substring(2), 16);
            }
        }
        if (!stream.containsKey("startAtOperationTime")) {
            return database.events.size();
        }
        BsonTimestamp from = stream.getTimestamp("startAtOperationTime");
        return (int) database.events.stream()
                .filter(event -> event.getTimestamp("clusterTime").compareTo(from) < 0)
                .count();
    }

    private BsonDocument more(BsonDocument command) {
        long cursor = command.getNumber("getMore").longValue();
        Tail tail = tails.get(cursor);
        if (tail == null) {
            return new BsonDocument("ok", new BsonDouble(0))
                    .append("code", new BsonInt32(43))
                    .append("errmsg", new BsonString("cursor id " + cursor + " not found"));
        }
        List<BsonDocument> found = tail.next();
        if (found.isEmpty()) {
            try {
                database.await(tail.seen, AWAIT_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            found = tail.next();
        }
        return batch(cursor, command.getString("$db").getValue() + "." + command.getString("collection").getValue(), "nextBatch", found, tail);
    }

    /** The connector writes to its signal collection; such an insert is logged as any other. */
    private BsonDocument insert(BsonDocument command) {
        String name = command.getString("$db").getValue() + "." + command.getString("insert").getValue();
        List<BsonDocument> changes = new ArrayList<>();
        for (BsonValue document : command.getArray("documents")) {
            changes.add(new BsonDocument("op", new BsonString("insert"))
                    .append("ns", new BsonString(name))
                    .append("id", document.asDocument().get("_id"))
                    .append("document", document));
        }
        database.change(changes);
        return ok().append("n", new BsonInt32(changes.size()));
    }

    private BsonDocument first(long cursor, String namespace, List<BsonDocument> documents) {
        return batch(cursor, namespace, "firstBatch", documents, tails.get(cursor));
    }

    private static BsonDocument batch(long id, String namespace, String name, List<BsonDocument> documents, Tail tail) {
        BsonDocument cursor = new BsonDocument("id", new BsonInt64(id))
                .append("ns", new BsonString(namespace))
                .append(name, new BsonArray(documents));
        if (tail != null && tail.changeStream != null) {
            cursor.append("postBatchResumeToken", Database.token(tail.seen));
        }
        return ok().append("cursor", cursor);
    }
}

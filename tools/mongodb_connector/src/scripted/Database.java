package scripted;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.bson.BsonArray;
import org.bson.BsonBinary;
import org.bson.BsonBoolean;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;

/**
 * A replica set's documents and the log of their changes. A scenario says what each change makes of its document and
 * what MongoDB's update description of it is; the log has both forms, a change stream's events and the oplog's entries.
 */
final class Database {
    private static final BsonBinary SESSION = new BsonBinary(new UUID(17, 42));

    /** The events of change streams, in the order of the log; `fullDocument` is the document after this very change. */
    final List<BsonDocument> events = new ArrayList<>();
    /** The entries of `local.oplog.rs`; a transaction is one. */
    final List<BsonDocument> oplog = new ArrayList<>();

    private final Map<String, Map<BsonValue, BsonDocument>> collections = new LinkedHashMap<>();
    private Instant clock = Instant.parse("2026-03-01T12:00:00Z");
    private boolean hasWallTime = true;
    private int second;
    private int order;
    private long transactions;

    synchronized void setClock(Instant moment) {
        clock = moment;
    }

    /** Servers before 6.0 have no `wallTime` in their events. */
    synchronized void setWallTime(boolean present) {
        hasWallTime = present;
    }

    /** Documents that are there before anything is logged. */
    synchronized void seed(String namespace, Iterable<BsonDocument> documents) {
        documents.forEach(document -> put(namespace, document.get("_id"), document));
    }

    /** Changes that are committed one by one. */
    synchronized void change(List<BsonDocument> changes) {
        for (BsonDocument change : changes) {
            BsonTimestamp time = tick();
            events.add(event(change, time));
            BsonDocument entry = entry(change);
            oplog.add(logged(time).append("op", entry.get("op")).append("ns", entry.get("ns")).append("o", entry.get("o")));
            if (entry.containsKey("o2")) {
                oplog.get(oplog.size() - 1).append("o2", entry.get("o2"));
            }
            apply(change);
        }
        notifyAll();
    }

    /** Changes of one transaction: they share a cluster time. */
    synchronized void transact(List<BsonDocument> changes) {
        BsonTimestamp time = tick();
        BsonInt64 number = new BsonInt64(++transactions);
        BsonDocument session = new BsonDocument("id", SESSION).append("uid", new BsonBinary(new byte[32]));
        BsonArray operations = new BsonArray();
        for (BsonDocument change : changes) {
            events.add(event(change, time).append("lsid", session).append("txnNumber", number));
            operations.add(entry(change));
            apply(change);
        }
        oplog.add(logged(time)
                .append("op", new BsonString("c"))
                .append("ns", new BsonString("admin.$cmd"))
                .append("o", new BsonDocument("applyOps", operations))
                .append("lsid", session)
                .append("txnNumber", number));
        notifyAll();
    }

    synchronized List<BsonDocument> documents(String namespace) {
        return new ArrayList<>(collections.getOrDefault(namespace, Map.of()).values());
    }

    /** The document as it is now, which is what `updateLookup` returns; null if it has been deleted. */
    synchronized BsonDocument current(BsonDocument event) {
        BsonDocument ns = event.getDocument("ns");
        String namespace = ns.getString("db").getValue() + "." + ns.getString("coll").getValue();
        return collections.getOrDefault(namespace, Map.of()).get(event.getDocument("documentKey").get("_id"));
    }

    synchronized List<String> namespaces() {
        return new ArrayList<>(collections.keySet());
    }

    synchronized BsonTimestamp now() {
        return new BsonTimestamp(second == 0 ? (int) clock.getEpochSecond() : second, Math.max(order, 1));
    }

    synchronized void await(int seen, long milliseconds) throws InterruptedException {
        if (events.size() <= seen) {
            wait(milliseconds);
        }
    }

    private BsonTimestamp tick() {
        int now = (int) clock.getEpochSecond();
        order = now > second ? 1 : order + 1;
        second = Math.max(now, second);
        return new BsonTimestamp(second, order);
    }

    private BsonDocument event(BsonDocument change, BsonTimestamp time) {
        String operation = change.getString("op").getValue();
        BsonDocument event = new BsonDocument("_id", token(events.size() + 1))
                .append("operationType", change.get("op"))
                .append("clusterTime", time);
        if (hasWallTime) {
            event.append("wallTime", new BsonDateTime(clock.toEpochMilli()));
        }
        event.append("ns", ns(change)).append("documentKey", new BsonDocument("_id", change.get("id")));
        if (!operation.equals("delete")) {
            event.append("fullDocument", change.get("document"));
        }
        if (!operation.equals("insert")) {
            BsonDocument before = collection(change).get(change.get("id"));
            event.append("fullDocumentBeforeChange", before == null ? BsonNull.VALUE : before);
        }
        if (operation.equals("update")) {
            event.append("updateDescription", change.get("description"));
        }
        return event;
    }

    static BsonDocument token(int position) {
        return new BsonDocument("_data", new BsonString(String.format("82%08X", position)));
    }

    /** The oplog of MongoDB before 5.0: `$set` and `$unset`, arrays as a whole, or the document that replaces another. */
    private static BsonDocument entry(BsonDocument change) {
        String operation = change.getString("op").getValue();
        BsonDocument id = new BsonDocument("_id", change.get("id"));
        BsonDocument entry = new BsonDocument("ns", change.get("ns"));
        switch (operation) {
            case "insert":
                return entry.append("op", new BsonString("i")).append("o", change.get("document"));
            case "delete":
                return entry.append("op", new BsonString("d")).append("o", id);
            case "replace":
                return entry.append("op", new BsonString("u")).append("o", change.get("document")).append("o2", id);
            default:
                BsonDocument description = change.getDocument("description");
                BsonDocument sets = description.getDocument("updatedFields").clone();
                for (BsonValue truncated : description.getArray("truncatedArrays", new BsonArray())) {
                    String field = truncated.asDocument().getString("field").getValue();
                    sets.keySet().removeIf(name -> name.startsWith(field + "."));
                    sets.append(field, at(change.getDocument("document"), field));
                }
                BsonDocument removed = new BsonDocument();
                description.getArray("removedFields", new BsonArray())
                        .forEach(name -> removed.append(name.asString().getValue(), BsonBoolean.TRUE));
                BsonDocument patch = new BsonDocument("$v", new BsonInt32(1));
                if (!removed.isEmpty()) {
                    patch.append("$unset", removed);
                }
                if (!sets.isEmpty()) {
                    patch.append("$set", sets);
                }
                return entry.append("op", new BsonString("u")).append("o", patch).append("o2", id);
        }
    }

    private static BsonValue at(BsonValue document, String path) {
        BsonValue found = document;
        for (String name : path.split("\\.")) {
            found = found.isArray() ? found.asArray().get(Integer.parseInt(name)) : found.asDocument().get(name);
        }
        return found;
    }

    private BsonDocument logged(BsonTimestamp time) {
        return new BsonDocument("ts", time)
                .append("t", new BsonInt64(1))
                .append("h", new BsonInt64(0))
                .append("v", new BsonInt64(2))
                .append("wall", new BsonDateTime(clock.toEpochMilli()));
    }

    private void apply(BsonDocument change) {
        if (change.getString("op").getValue().equals("delete")) {
            collection(change).remove(change.get("id"));
        } else {
            put(change.getString("ns").getValue(), change.get("id"), change.getDocument("document"));
        }
    }

    private Map<BsonValue, BsonDocument> collection(BsonDocument change) {
        return collections.computeIfAbsent(change.getString("ns").getValue(), name -> new LinkedHashMap<>());
    }

    private void put(String namespace, BsonValue id, BsonDocument document) {
        collections.computeIfAbsent(namespace, name -> new LinkedHashMap<>()).put(id, document);
    }

    private static BsonDocument ns(BsonDocument change) {
        String[] parts = change.getString("ns").getValue().split("\\.", 2);
        return new BsonDocument("db", new BsonString(parts[0])).append("coll", new BsonString(parts[1]));
    }
}

package scripted;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonValue;

/** A scripted primary. Prints its address, then reads one step per line of its input and prints a line after each. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) throws Exception {
        Database database = new Database();
        System.out.println(new Server(database).address());
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            play(database, BsonDocument.parse(line));
            System.out.println("done");
        }
    }

    private static void play(Database database, BsonDocument step) {
        String name = step.getFirstKey();
        switch (name) {
            case "clock":
                database.setClock(Instant.parse(step.getString(name).getValue()));
                break;
            case "wall_time":
                database.setWallTime(step.getBoolean(name).getValue());
                break;
            case "seed":
                database.seed(step.getString(name).getValue(), documents(step.getArray("documents")));
                break;
            case "changes":
                database.change(documents(step.getArray(name)));
                break;
            case "transaction":
                database.transact(documents(step.getArray(name)));
                break;
            default:
                throw new IllegalArgumentException("a step without a known field: " + step);
        }
    }

    private static List<BsonDocument> documents(BsonArray values) {
        List<BsonDocument> documents = new ArrayList<>();
        for (BsonValue value : values) {
            documents.add(value.asDocument());
        }
        return documents;
    }
}

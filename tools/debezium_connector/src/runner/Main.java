package runner;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TimeZone;

/**
 * Runs connectors by commands, one line of JSON each, from stdin. To stdout go the records and, for each command, one
 * line with its answer; everything that a library prints goes to stderr. Ends when stdin does.
 */
public final class Main {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final PrintStream out;
    private final Map<String, Worker> workers = new HashMap<>();

    private Main(PrintStream out) {
        this.out = out;
    }

    public static void main(String[] arguments) throws Exception {
        TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Main main = new Main(out);
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            main.answer(JSON.readValue(line, Command.class));
        }
        // The connectors leave threads running.
        System.exit(0);
    }

    /**
     * One command to one connector; only start has properties and offsets. No record, since
     * Debezium 1.4's Jackson reads none.
     */
    static final class Command {
        public String command;
        public String connector;
        public Map<String, String> properties;
        public String offsets;
    }

    private void answer(Command command) throws Exception {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("answer", command.command);
        answer.put("connector", command.connector);
        try {
            perform(command);
        } catch (Exception e) {
            e.printStackTrace();
            answer.put("error", e.toString());
        }
        line(answer);
    }

    private void perform(Command command) throws Exception {
        String name = command.connector;
        switch (command.command) {
            case "start" -> workers.put(
                    name,
                    new Worker(
                            command.properties,
                            new Offsets(Path.of(command.offsets)),
                            new Lines(out),
                            Map.of("connector", name),
                            failure -> failed(name, failure)));
            case "flush" -> workers.get(name).flush();
            case "stop" -> workers.remove(name).stop(true);
            case "kill" -> workers.remove(name).stop(false);
            default -> throw new IllegalArgumentException("an unknown command: " + command.command);
        }
    }

    private void failed(String connector, Throwable failure) {
        failure.printStackTrace();
        try {
            line(Map.of("connector", connector, "failure", failure.toString()));
        } catch (Exception e) {
            e.printStackTrace();
        }
    }

    private void line(Map<String, ?> fields) throws Exception {
        String text = JSON.writeValueAsString(fields);
        synchronized (out) {
            out.print(text + "\n");
            out.flush();
        }
    }
}

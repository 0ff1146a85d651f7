package scripted;

import java.io.Reader;
import java.io.StringWriter;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.SortedMap;
import java.util.TreeMap;

/** A JDBC connection to the scripted server, and its statements. */
public final class ScriptedConnection implements Proxies.Methods {
    private static final Statements STATEMENTS = new Statements(Database.INSTANCE);

    private boolean closed;
    private boolean autoCommit = true;
    private int isolation = Connection.TRANSACTION_READ_COMMITTED;
    private Connection self;

    private ScriptedConnection() {}

    public static Connection open() {
        ScriptedConnection connection = new ScriptedConnection();
        connection.self = Proxies.of(Connection.class, connection);
        return connection.self;
    }

    @Override
    public Object call(String method, Object[] a) {
        return switch (method) {
            case "createStatement" -> Proxies.of(Statement.class, new ScriptedStatement(null));
            case "prepareStatement" -> Proxies.of(PreparedStatement.class, new ScriptedStatement((String) a[0]));
            case "prepareCall" -> Proxies.of(CallableStatement.class, new ScriptedStatement((String) a[0]));
            case "getMetaData" -> Metadata.of(Database.INSTANCE, self);
            case "setAutoCommit" -> set(() -> autoCommit = (boolean) a[0]);
            case "getAutoCommit" -> autoCommit;
            case "setTransactionIsolation" -> set(() -> isolation = (int) a[0]);
            case "getTransactionIsolation" -> isolation;
            // No other client exists, so locks and savepoints have no effect.
            case "commit", "rollback", "abort", "releaseSavepoint" -> null;
            case "setSavepoint" -> Proxies.of(Savepoint.class, (m, x) -> m.equals("getSavepointId") ? (Object) 1 : "s");
            case "setNetworkTimeout", "setReadOnly", "setCatalog" -> null;
            case "close" -> set(() -> closed = true);
            case "isClosed" -> closed;
            case "isValid" -> !closed;
            case "isReadOnly" -> false;
            case "getCatalog" -> Database.INSTANCE.name;
            case "getNetworkTimeout" -> 0;
            default -> throw Proxies.unsupported("Connection." + method);
        };
    }

    private static Object set(Runnable assignment) {
        assignment.run();
        return null;
    }

    /** Statement, PreparedStatement and CallableStatement in one; {@code prepared} is null for the first. */
    private static final class ScriptedStatement implements Proxies.Methods {
        private final String prepared;
        private final SortedMap<Integer, Object> parameters = new TreeMap<>();
        private Answer answer;
        private boolean closed;

        ScriptedStatement(String prepared) {
            this.prepared = prepared;
        }

        @Override
        public Object call(String method, Object[] a) throws Throwable {
            if (method.startsWith("set") && a.length >= 2 && a[0] instanceof Integer position) {
                parameters.put(position, method.equals("setNull") ? null : bound(a[1]));
                return null;
            }
            return switch (method) {
                case "executeQuery" -> Rows.of(run(a));
                case "execute" -> run(a).hasRows();
                case "executeUpdate" -> run(a).updated();
                case "getResultSet" -> answer == null || !answer.hasRows() ? null : Rows.of(answer);
                case "getUpdateCount" -> answer == null || answer.hasRows() ? -1 : answer.updated();
                case "getMoreResults" -> false;
                case "close" -> set(() -> closed = true);
                case "isClosed" -> closed;
                case "clearParameters" -> set(parameters::clear);
                case "setFetchSize", "setQueryTimeout", "setFetchDirection", "setMaxRows", "setPoolable" -> null;
                case "closeOnCompletion", "cancel" -> null;
                case "getFetchSize", "getQueryTimeout", "getMaxRows" -> 0;
                default -> throw Proxies.unsupported("Statement." + method);
            };
        }

        private Answer run(Object[] arguments) throws Throwable {
            answer = STATEMENTS.run(prepared == null ? (String) arguments[0] : prepared, parameters);
            return answer;
        }

        private static Object bound(Object value) throws Throwable {
            if (value instanceof Reader reader) {
                StringWriter text = new StringWriter();
                reader.transferTo(text);
                return text.toString();
            }
            return value;
        }
    }
}

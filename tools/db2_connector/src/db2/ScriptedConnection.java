package db2;

import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Map;

/** A JDBC connection to the scripted server, and its statements. */
public final class ScriptedConnection implements Proxies.Methods {
    private final String file;
    private boolean closed;
    private boolean autoCommit = true;
    private int isolation = Connection.TRANSACTION_READ_COMMITTED;
    private Connection self;

    private ScriptedConnection(String file) {
        this.file = file;
    }

    public static Connection open(String file) {
        ScriptedConnection connection = new ScriptedConnection(file);
        connection.self = Proxies.of(Connection.class, connection);
        return connection.self;
    }

    @Override
    public Object call(String method, Object[] a) {
        return switch (method) {
            case "createStatement" -> Proxies.of(Statement.class, new ScriptedStatement(null));
            case "prepareStatement" -> Proxies.of(PreparedStatement.class, new ScriptedStatement((String) a[0]));
            case "prepareCall" -> Proxies.of(CallableStatement.class, new ScriptedStatement((String) a[0]));
            case "getMetaData" -> Metadata.of(State.of(file), self);
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
            case "getCatalog" -> null;
            case "getNetworkTimeout" -> 0;
            default -> throw Proxies.unsupported("Connection." + method);
        };
    }

    private static Object set(Runnable assignment) {
        assignment.run();
        return null;
    }

    /** Statement, PreparedStatement and CallableStatement in one; {@code prepared} is null for the first. */
    private final class ScriptedStatement implements Proxies.Methods {
        private final String prepared;
        private final Map<Integer, Object> parameters = new HashMap<>();
        private Answer answer;
        private boolean isClosed;

        ScriptedStatement(String prepared) {
            this.prepared = prepared;
        }

        @Override
        public Object call(String method, Object[] a) {
            if (method.startsWith("set") && a.length >= 2 && a[0] instanceof Integer position) {
                parameters.put(position, method.equals("setNull") ? null : a[1]);
                return null;
            }
            return switch (method) {
                case "executeQuery" -> Rows.of(run(a));
                case "execute" -> run(a) != null;
                case "getResultSet" -> answer == null ? null : Rows.of(answer);
                case "getUpdateCount" -> -1;
                case "getMoreResults" -> false;
                case "close" -> set(() -> isClosed = true);
                case "isClosed" -> isClosed;
                case "clearParameters" -> set(parameters::clear);
                case "setFetchSize", "setQueryTimeout", "setFetchDirection", "setMaxRows", "setPoolable" -> null;
                case "closeOnCompletion", "cancel" -> null;
                case "getFetchSize", "getQueryTimeout", "getMaxRows" -> 0;
                default -> throw Proxies.unsupported("Statement." + method);
            };
        }

        private Answer run(Object[] arguments) {
            answer = Statements.run(State.of(file), prepared == null ? (String) arguments[0] : prepared, parameters);
            return answer;
        }
    }
}

package db2;

import java.lang.reflect.Proxy;

/** Implements the large interfaces of java.sql with the few methods that the connector calls. */
final class Proxies {
    private static final Object[] NO_ARGUMENTS = new Object[0];

    private Proxies() {}

    /** One method call. Throws {@link #unsupported} for an unsupported method. */
    @FunctionalInterface
    interface Methods {
        Object call(String method, Object[] arguments) throws Throwable;
    }

    static <T> T of(Class<T> type, Methods methods) {
        Object proxy = Proxy.newProxyInstance(Proxies.class.getClassLoader(), new Class<?>[] {type}, (self, m, a) ->
                switch (m.getName()) {
                    case "hashCode" -> System.identityHashCode(self);
                    case "equals" -> self == a[0];
                    case "toString" -> "scripted " + type.getSimpleName();
                    case "unwrap" -> self;
                    case "isWrapperFor" -> false;
                    case "getWarnings", "clearWarnings" -> null;
                    default -> methods.call(m.getName(), a == null ? NO_ARGUMENTS : a);
                });
        return type.cast(proxy);
    }

    static UnsupportedOperationException unsupported(String what) {
        System.err.println("the scripted server does not support " + what);
        return new UnsupportedOperationException(what);
    }
}

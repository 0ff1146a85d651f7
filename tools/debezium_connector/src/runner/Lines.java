package runner;

import java.io.PrintStream;
import java.io.StringWriter;

/** A writer that passes on what it has when it is flushed, whole: lines of several connectors never mix. */
final class Lines extends StringWriter {
    private final PrintStream out;

    Lines(PrintStream out) {
        this.out = out;
    }

    @Override
    public void flush() {
        synchronized (out) {
            out.print(getBuffer());
            out.flush();
        }
        getBuffer().setLength(0);
    }
}

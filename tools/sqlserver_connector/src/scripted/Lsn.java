package scripted;

import java.util.Arrays;
import java.util.HexFormat;

/** Log sequence numbers in SQL Server's layout: 4 bytes for the log file, 4 for the block, 2 for the slot. */
final class Lsn {
    static final byte[] NONE = new byte[10];
    private static final int LOG_FILE = 0x25;

    private Lsn() {}

    static byte[] of(long block, int slot) {
        return java.nio.ByteBuffer.allocate(10).putInt(LOG_FILE).putInt((int) block).putShort((short) slot).array();
    }

    /** The result of sys.fn_cdc_increment_lsn: the next number. */
    static byte[] next(byte[] lsn) {
        byte[] next = lsn.clone();
        for (int i = next.length - 1; i >= 0 && ++next[i] == 0; i--) {}
        return next;
    }

    /** The server's order; an absent number sorts first. */
    static int compare(byte[] a, byte[] b) {
        return Arrays.compareUnsigned(a == null ? NONE : a, b == null ? NONE : b);
    }

    /** For example 00000025:00000158:0005. */
    static String text(byte[] lsn) {
        String hex = HexFormat.of().withUpperCase().formatHex(lsn);
        return hex.substring(0, 8) + ":" + hex.substring(8, 16) + ":" + hex.substring(16);
    }
}

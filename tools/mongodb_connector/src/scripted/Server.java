package scripted;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.ByteBufNIO;
import org.bson.codecs.BsonDocumentCodec;
import org.bson.codecs.DecoderContext;
import org.bson.codecs.EncoderContext;
import org.bson.io.BasicOutputBuffer;
import org.bson.io.ByteBufferBsonInput;
import org.bson.BsonBinaryReader;
import org.bson.BsonBinaryWriter;

/** MongoDB's wire protocol on a free port of this machine: OP_MSG, and OP_QUERY for the handshake of old drivers. */
final class Server {
    private static final int OP_REPLY = 1;
    private static final int OP_QUERY = 2004;
    private static final int OP_MSG = 2013;
    private static final int HEADER = 16;
    private static final int CHECKSUM_PRESENT = 1;
    private static final int MORE_TO_COME = 2;
    private static final int ONE_DOCUMENT = 0;

    private final ServerSocket socket;
    private final Commands commands;
    private final AtomicInteger requests = new AtomicInteger();

    Server(Database database) throws IOException {
        socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        commands = new Commands(database, address());
        thread("accept", this::accept);
    }

    String address() {
        return "127.0.0.1:" + socket.getLocalPort();
    }

    private void accept() {
        while (true) {
            try {
                Socket connection = socket.accept();
                thread("connection", () -> serve(connection));
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static void thread(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }

    private void serve(Socket connection) {
        try (connection) {
            DataInputStream input = new DataInputStream(connection.getInputStream());
            OutputStream output = connection.getOutputStream();
            while (true) {
                answer(input, output);
            }
        } catch (EOFException | SocketException e) {
            // The driver has closed the connection.
        } catch (IOException e) {
            e.printStackTrace();
        }
    }

    private void answer(DataInputStream input, OutputStream output) throws IOException {
        ByteBuffer header = read(input, HEADER);
        int length = header.getInt();
        int request = header.getInt();
        header.getInt();
        int opcode = header.getInt();
        ByteBuffer body = read(input, length - HEADER);
        if (opcode == OP_QUERY) {
            output.write(message(OP_REPLY, request, replyPrefix(), commands.answer(query(body))));
        } else if (opcode == OP_MSG) {
            int flags = body.getInt();
            BsonDocument reply = commands.answer(sections(body, flags));
            if ((flags & MORE_TO_COME) == 0) {
                output.write(message(OP_MSG, request, new byte[5], reply));
            }
        } else {
            throw new IOException("unknown opcode " + opcode);
        }
        output.flush();
    }

    private static ByteBuffer read(DataInputStream input, int length) throws IOException {
        byte[] bytes = new byte[length];
        input.readFully(bytes);
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** The command of an OP_QUERY: flags, name of the collection, numbers to skip and return, then the document. */
    private static BsonDocument query(ByteBuffer body) {
        body.getInt();
        String collection = text(body);
        body.getInt();
        body.getInt();
        BsonDocument command = document(body);
        command = command.containsKey("$query") ? command.getDocument("$query") : command;
        return command.append("$db", new BsonString(collection.substring(0, collection.indexOf('.'))));
    }

    /** The command of an OP_MSG: one document, and sequences of documents that belong into it as arrays. */
    private static BsonDocument sections(ByteBuffer body, int flags) {
        int end = body.limit() - ((flags & CHECKSUM_PRESENT) == 0 ? 0 : 4);
        BsonDocument command = new BsonDocument();
        while (body.position() < end) {
            if (body.get() == ONE_DOCUMENT) {
                command.putAll(document(body));
            } else {
                int start = body.position();
                int size = body.getInt();
                BsonArray sequence = new BsonArray();
                String name = text(body);
                while (body.position() < start + size) {
                    sequence.add(document(body));
                }
                command.append(name, sequence);
            }
        }
        return command;
    }

    private static String text(ByteBuffer body) {
        StringBuilder text = new StringBuilder();
        for (byte next = body.get(); next != 0; next = body.get()) {
            text.append((char) next);
        }
        return text.toString();
    }

    private static BsonDocument document(ByteBuffer body) {
        int size = body.getInt(body.position());
        byte[] bytes = new byte[size];
        body.get(bytes);
        ByteBufferBsonInput input = new ByteBufferBsonInput(new ByteBufNIO(ByteBuffer.wrap(bytes)));
        return new BsonDocumentCodec().decode(new BsonBinaryReader(input), DecoderContext.builder().build());
    }

    private static byte[] replyPrefix() {
        // Flags, cursor and starting position are 0; one document is returned.
        return ByteBuffer.allocate(20).order(ByteOrder.LITTLE_ENDIAN).putInt(16, 1).array();
    }

    private byte[] message(int opcode, int request, byte[] prefix, BsonDocument reply) {
        BasicOutputBuffer content = new BasicOutputBuffer();
        new BsonDocumentCodec().encode(new BsonBinaryWriter(content), reply, EncoderContext.builder().build());
        byte[] document = content.toByteArray();
        int length = HEADER + prefix.length + document.length;
        return ByteBuffer.allocate(length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(length)
                .putInt(requests.incrementAndGet())
                .putInt(request)
                .putInt(opcode)
                .put(prefix)
                .put(document)
                .array();
    }
}

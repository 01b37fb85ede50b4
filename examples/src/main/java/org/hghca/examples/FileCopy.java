package org.hghca.examples;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.hghca.verbs.AccessFlag.LOCAL_WRITE;
import static org.hghca.verbs.AccessFlag.REMOTE_WRITE;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.zip.CRC32C;
import org.hghca.cm.RdmaConnection;
import org.hghca.cm.RdmaServer;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.RemoteMemory;
import org.hghca.verbs.SendRequest;

/**
 * A file to another machine by RDMA WRITE, out of the page cache: the client maps a part of the
 * file, registers it, and writes it into a window of the server's memory. No copy at the client;
 * the server's processor sees a part only when it is complete.
 */
final class FileCopy implements Example {
  private static final long WINDOW = 8 << 20;
  private static final long CHUNK = 1 << 20;
  private static final int IN_FLIGHT = 4;

  /** A message has up to two numbers; some cards need receives at multiples of 32 bytes. */
  private static final long MESSAGE = 32;

  @Override
  public String shows() {
    return "a file to another machine by RDMA WRITE, with its progress and a checksum";
  }

  @Override
  public void server(End end) throws Exception {
    try (RdmaServer server = Connections.listen(end);
        Link my = new Link(end);
        // Page-aligned, as cards need that have rules for the targets of WRITEs.
        MemoryRegion window = my.pd.allocate(WINDOW, LOCAL_WRITE, REMOTE_WRITE)) {
      my.connect(options -> Connections.accept(server, options));
      long length = my.receive()[0];
      Path target = Files.createTempFile("hghca-received-", "");
      receive(end, my, window, target, length);
      end.say("the file is " + target);
    }
  }

  private static void receive(End end, Link my, MemoryRegion window, Path target, long length)
      throws Exception {
    try (FileChannel file = FileChannel.open(target, Set.of(StandardOpenOption.WRITE))) {
      my.send(window.address(), window.rkey());
      CRC32C checksum = new CRC32C();
      for (long at = 0; at < length; ) {
        long bytes = my.receive()[0]; // it was sent behind the WRITEs, so they are complete
        End.check(bytes > 0 && bytes <= WINDOW, "the client wrote %d bytes".formatted(bytes));
        MemorySegment part = window.segment().asSlice(0, bytes);
        checksum.update(part.asByteBuffer());
        at += file.write(part.asByteBuffer(), at);
        my.send(checksum.getValue()); // the window is free
      }
      end.say("received %d bytes, CRC %08x".formatted(length, checksum.getValue()));
    }
  }

  @Override
  public void client(End end) throws Exception {
    Path source = end.arguments().isEmpty() ? random() : Path.of(end.arguments().getFirst());
    try (FileChannel file = FileChannel.open(source);
        Link my = new Link(end)) {
      my.connect(options -> Connections.connect(end, options));
      long length = file.size();
      my.send(length);
      long[] window = my.receive();
      var target = new RemoteMemory(window[0], (int) window[1], WINDOW);
      CRC32C checksum = new CRC32C();
      for (long at = 0; at < length; ) {
        long bytes = Math.min(length - at, WINDOW);
        try (Arena arena = Arena.ofShared();
            // Pinned while it is registered; the rights of a file that is only read are enough.
            MemoryRegion part = my.pd.register(file.map(MapMode.READ_ONLY, at, bytes, arena))) {
          checksum.update(part.segment().asByteBuffer());
          my.write(part, target.slice(0, bytes));
          my.send(bytes);
        }
        End.check(my.receive()[0] == checksum.getValue(), "the checksum differs at the server");
        at += bytes;
        end.say("%3d %%, %d of %d bytes".formatted(100 * at / length, at, length));
      }
      end.say("sent %d bytes, CRC %08x".formatted(length, checksum.getValue()));
    } finally {
      if (end.arguments().isEmpty()) {
        Files.delete(source);
      }
    }
  }

  /** A file to try it with. */
  private static Path random() throws IOException {
    byte[] bytes = new byte[(int) (2 * WINDOW + CHUNK / 2 + 1)];
    new Random(1).nextBytes(bytes);
    return Files.write(Files.createTempFile("hghca-random-", ""), bytes);
  }

  /** One end of the connection: its messages, and the WRITEs between them. */
  private static final class Link implements AutoCloseable {
    final End end;
    final ProtectionDomain pd;
    final MemoryRegion memory;
    final CompletionQueue sends;
    final CompletionQueue receives;
    private Optional<RdmaConnection> connection = Optional.empty();
    private QueuePair qp;

    Link(End end) {
      this.end = end;
      pd = end.context().allocateProtectionDomain();
      memory = pd.allocate(2 * MESSAGE, LOCAL_WRITE); // one that comes, one that goes
      sends = end.context().createCompletionQueue(IN_FLIGHT);
      receives = end.context().createCompletionQueue(1);
    }

    void connect(Connections.Maker maker) throws Exception {
      RdmaConnection made =
          maker.make(
              Connections.options(end)
                  .withQueuePair(pd, QueuePairConfig.rc(sends, receives).sendDepth(IN_FLIGHT))
                  // Before the peer can send: some cards cannot recover from a message that meets
                  // no receive.
                  .withPrepare(connection -> postReceive(connection.queuePair())));
      connection = Optional.of(made);
      qp = made.queuePair();
    }

    private void postReceive(QueuePair qp) {
      qp.postReceive(new ReceiveRequest().into(memory, 0, MESSAGE));
    }

    long[] receive() throws Exception {
      End.await(receives);
      MemorySegment message = memory.segment();
      long[] numbers = {message.get(JAVA_LONG, 0), message.get(JAVA_LONG, 8)};
      postReceive(qp); // the peer sends the next one only after our answer
      return numbers;
    }

    void send(long... numbers) throws Exception {
      MemorySegment.copy(numbers, 0, memory.segment(), JAVA_LONG, MESSAGE, numbers.length);
      qp.postSend(new SendRequest().send().sge(memory, MESSAGE, MESSAGE).signaled());
      End.await(sends);
    }

    /** Writes a region to the peer, by several requests at a time. */
    void write(MemoryRegion from, RemoteMemory to) throws Exception {
      int inFlight = 0;
      for (long at = 0; at < from.length(); at += CHUNK) {
        if (inFlight == IN_FLIGHT) {
          End.await(sends);
          inFlight--;
        }
        RemoteMemory target = to.slice(at, Math.min(CHUNK, from.length() - at));
        qp.postSend(new SendRequest().rdmaWrite(target).sge(from, at, target.length()).signaled());
        inFlight++;
      }
      for (; inFlight > 0; inFlight--) {
        End.await(sends); // a region with requests in flight must stay registered
      }
    }

    @Override
    public void close() {
      connection.ifPresent(RdmaConnection::close);
      sends.close();
      receives.close();
      memory.close();
      pd.close();
    }
  }
}

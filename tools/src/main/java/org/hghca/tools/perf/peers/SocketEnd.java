package org.hghca.tools.perf.peers;

import java.io.EOFException;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.hghca.programs.perf.PerfException;
import org.hghca.programs.perf.medium.Medium;
import org.hghca.programs.perf.result.LatencyResult;

/**
 * A connected socket. Of round trips every message is compared, of a stream the first one; the
 * reader of a stream says how many bytes it has.
 */
final class SocketEnd implements End {
  private final ByteChannel channel;
  private final SelectionKey key;
  private final boolean streams;
  private final boolean client;
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(Task.LARGEST);
  private final ByteBuffer contents = ByteBuffer.allocateDirect(Task.LARGEST);

  private SocketEnd(ByteChannel channel, SelectionKey key, boolean streams, boolean client) {
    this.channel = channel;
    this.key = key;
    this.streams = streams;
    this.client = client;
    for (int i = 0; i < contents.capacity(); i++) {
      contents.put(i, (byte) (1 + i % 251)); // no byte is 0, and pages differ
    }
  }

  /** One end of a connection. */
  static SocketEnd stream(SocketHost host, Waiting waiting, Medium medium, boolean client)
      throws IOException, InterruptedException {
    SocketChannel channel = client ? host.connect(host.address(medium)) : accept(host, medium);
    try {
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.configureBlocking(waiting == Waiting.SLEEPING || waiting == Waiting.VIRTUAL);
      SelectionKey key =
          waiting == Waiting.SELECTING
              ? channel.register(host.selector(), SelectionKey.OP_READ)
              : null;
      return new SocketEnd(channel, key, true, client);
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  private static SocketChannel accept(SocketHost host, Medium medium)
      throws IOException, InterruptedException {
    try (ServerSocketChannel listening = host.listen(medium)) {
      return listening.accept();
    }
  }

  /**
   * One of two UDP sockets.
   *
   * @param spinning whether reads and writes return at once
   */
  static SocketEnd datagrams(boolean spinning, Medium medium, boolean client)
      throws IOException, InterruptedException {
    SocketHost host = SocketHost.platform();
    DatagramChannel channel = DatagramChannel.open();
    try {
      channel.bind(host.anyPort());
      SocketHost.tellPort(medium, channel.socket().getLocalPort());
      channel.connect(host.address(medium));
      channel.configureBlocking(!spinning);
      return new SocketEnd(channel, null, false, client);
    } catch (IOException | InterruptedException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  @Override
  public boolean hasStreams() {
    return streams;
  }

  @Override
  public Outcome run(Task task) throws IOException {
    ProcessorTime processor = new ProcessorTime();
    if (task.kind() == Task.Kind.STREAM) {
      long start = System.nanoTime();
      if (client) {
        sendAll(task);
      } else {
        receiveAll(task);
      }
      long nanos = System.nanoTime() - start;
      processor.ends();
      return Outcome.ofStream(task.count(), nanos, processor.nanos());
    }
    if (client) {
      long[] times = ask(task);
      processor.ends();
      return Outcome.of(LatencyResult.of(task.size(), times, false), 1, processor.nanos());
    }
    answer(task);
    processor.ends();
    return new Outcome(0, 0, 0, processor.nanos());
  }

  /** Each message begins with its number, and must come back with it. */
  private long[] ask(Task task) throws IOException {
    long[] times = new long[task.count() + 1];
    times[0] = System.nanoTime();
    for (int i = 1; i < times.length; i++) {
      write(buffer.clear().limit(task.size()).putLong(0, i));
      read(buffer.clear().limit(task.size()).putLong(0, 0));
      if (buffer.getLong(0) != i) {
        throw new PerfException(
            "message %d came back as message %d".formatted(i, buffer.getLong(0)));
      }
      times[i] = System.nanoTime();
    }
    return times;
  }

  private void answer(Task task) throws IOException {
    for (int i = 0; i < task.count(); i++) {
      read(buffer.clear().limit(task.size()));
      write(buffer.flip());
    }
  }

  private void sendAll(Task task) throws IOException {
    for (int i = 0; i < task.count(); i++) {
      write(contents.clear().limit(task.size()));
    }
    read(buffer.clear().limit(Long.BYTES));
    if (buffer.getLong(0) != bytes(task)) {
      throw new PerfException("%d of %d bytes arrived".formatted(buffer.getLong(0), bytes(task)));
    }
  }

  private void receiveAll(Task task) throws IOException {
    read(buffer.clear().limit(task.size()));
    int wrong = buffer.flip().mismatch(contents.clear().limit(task.size()));
    if (wrong >= 0) {
      throw new PerfException(
          "what arrived is not what was sent: byte %d of a message of %d"
              .formatted(wrong, task.size()));
    }
    long left = bytes(task) - task.size();
    while (left > 0) {
      left -= readSome(buffer.clear().limit((int) Math.min(left, buffer.capacity())));
    }
    write(buffer.clear().putLong(bytes(task)).flip());
  }

  private static long bytes(Task task) {
    return (long) task.size() * task.count();
  }

  private void write(ByteBuffer message) throws IOException {
    while (message.hasRemaining()) {
      if (channel.write(message) == 0) {
        await(SelectionKey.OP_WRITE);
      }
    }
  }

  private void read(ByteBuffer message) throws IOException {
    while (message.hasRemaining()) {
      int _ = readSome(message);
    }
  }

  /** Waits for a channel that does not block. */
  private void await(int operation) throws IOException {
    if (key == null) {
      Thread.onSpinWait();
      return;
    }
    if (key.interestOps() != operation) {
      key.interestOps(operation);
    }
    int _ = key.selector().select();
    key.selector().selectedKeys().clear();
  }

  /** A selector's program reads what the selector has told it of. */
  private int readSome(ByteBuffer message) throws IOException {
    if (key != null) {
      await(SelectionKey.OP_READ);
    }
    int bytes = channel.read(message);
    if (bytes < 0) {
      throw new EOFException("the other end has gone");
    }
    if (bytes == 0 && key == null) {
      Thread.onSpinWait();
    }
    return bytes;
  }

  @Override
  public void close() throws IOException {
    channel.close();
    if (key != null) {
      key.selector().close();
    }
  }
}

package org.hghca.tools.perf.peers;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.hghca.programs.perf.PerfException;
import org.hghca.programs.perf.medium.Medium;
import org.hghca.programs.perf.result.LatencyResult;

/**
 * Many connections in one selector at each end: on each of them the client asks again when it is
 * answered. Every answer is compared.
 */
final class CrowdEnd implements End {
  /** How many connections there are. */
  static final int CONNECTIONS = 64;

  private final Selector selector;
  private final Line[] lines = new Line[CONNECTIONS];
  private final Consumer<SelectionKey> onReady = this::ready;
  private final boolean client;
  private IOException failure;

  /** One of the connections. */
  private static final class Line {
    final SocketChannel channel;
    final ByteBuffer message = ByteBuffer.allocateDirect(Work.CROWD.size());
    long number;
    long asked;

    Line(SocketChannel channel) {
      this.channel = channel;
    }
  }

  // Of the task that runs.
  private long[] asked = {};
  private long[] times = {};
  private int begun;
  private int answered;
  private int wanted;

  CrowdEnd(SocketHost host, Medium medium, boolean client)
      throws IOException, InterruptedException {
    this.client = client;
    selector = host.selector();
    if (client) {
      InetSocketAddress address = host.address(medium);
      for (int i = 0; i < CONNECTIONS; i++) {
        add(i, host.connect(address));
      }
    } else {
      try (ServerSocketChannel listening = host.listen(medium)) {
        for (int i = 0; i < CONNECTIONS; i++) {
          add(i, listening.accept());
        }
      }
    }
  }

  private void add(int index, SocketChannel channel) throws IOException {
    lines[index] = new Line(channel);
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    channel.configureBlocking(false);
    channel.register(selector, SelectionKey.OP_READ, lines[index]);
  }

  @Override
  public Outcome run(Task task) throws IOException {
    begun = 0;
    answered = 0;
    wanted = task.count();
    asked = new long[client ? wanted : 0];
    times = new long[asked.length];
    ProcessorTime processor = new ProcessorTime();
    long start = System.nanoTime();
    if (client) {
      for (int i = 0; i < Math.min(CONNECTIONS, wanted); i++) {
        ask(lines[i]);
      }
    }
    while (answered < wanted) {
      selector.select(onReady);
      if (failure != null) {
        throw failure;
      }
    }
    long nanos = System.nanoTime() - start;
    processor.ends();
    return client
        ? outcome(task, nanos, processor.nanos())
        : new Outcome(0, 0, 0, processor.nanos());
  }

  private Outcome outcome(Task task, long nanos, long processor) {
    LatencyResult result = LatencyResult.of(task.size(), asked, times, false);
    double rate = (double) wanted * TimeUnit.SECONDS.toNanos(1) / nanos;
    return new Outcome(result.typical(), result.p99(), rate, processor);
  }

  private void ready(SelectionKey key) {
    Line line = (Line) key.attachment();
    try {
      if (line.channel.read(line.message) < 0) {
        throw new EOFException("the other end has gone");
      }
      if (line.message.hasRemaining()) {
        return; // the rest is to come
      }
      if (client) {
        answered(line);
      } else {
        answered++;
        write(line);
      }
    } catch (IOException e) {
      failure = e;
    }
  }

  private void answered(Line line) throws IOException {
    asked[answered] = line.asked;
    times[answered++] = System.nanoTime();
    if (line.message.getLong(0) != line.number) {
      throw new PerfException(
          "message %d came back as message %d".formatted(line.number, line.message.getLong(0)));
    }
    if (begun < wanted) {
      ask(line);
    } else {
      line.message.clear();
    }
  }

  private void ask(Line line) throws IOException {
    begun++;
    line.number++;
    line.message.putLong(0, line.number).position(line.message.capacity());
    line.asked = System.nanoTime();
    write(line);
  }

  /** Writes the message; so few bytes always have room. */
  private static void write(Line line) throws IOException {
    line.message.flip();
    while (line.message.hasRemaining()) {
      line.channel.write(line.message);
    }
    line.message.clear();
  }

  @Override
  public void close() throws IOException {
    for (Line line : lines) {
      line.channel.close();
    }
    selector.close();
  }
}

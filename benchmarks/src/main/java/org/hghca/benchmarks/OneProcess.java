package org.hghca.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;
import java.util.stream.IntStream;
import org.hghca.benchmarks.Pair.Connection;
import org.hghca.verbs.Context;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.WrOpcode;

/**
 * Two software HCAs in this process, joined by a cable, beside a copy of memory in the same rounds:
 * messages of each kind, round trips, many connections, idle ones. {@code benchmarks/one-process}
 * runs it.
 */
public final class OneProcess {
  private static final int SHORT = 8;
  private static final int LONG = 64 * 1024;

  /** Lists of short messages, and long messages, that are outstanding. */
  private static final int LISTS = 8;

  private static final int LONG_OUTSTANDING = 16;
  private static final int MANY = 256;
  private static final int IDLE = 100;
  private static final long WARM_UP = TimeUnit.MILLISECONDS.toNanos(1500);
  private static final double MEGA = 1e6;
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** One figure: its name with the unit, and what measures it once. */
  private record Figure(String name, DoubleSupplier measurement) {}

  private final List<Figure> figures = new ArrayList<>();
  private final long nanos;
  private long messages;

  private OneProcess(long nanos) {
    this.nanos = nanos;
  }

  /**
   * Prints each round, and the medians.
   *
   * @param arguments seconds of each measurement, rounds, and parameters of both locators, which
   *     begin with an ampersand
   */
  public static void main(String... arguments) throws InterruptedException {
    long nanos = (long) (Double.parseDouble(arguments[0]) * TimeUnit.SECONDS.toNanos(1));
    int rounds = Integer.parseInt(arguments[1]);
    String parameters = arguments.length > 2 ? arguments[2] : "";
    new OneProcess(nanos).run(rounds, parameters);
    idle(parameters);
  }

  private void run(int rounds, String parameters) {
    try (Context client = RdmaDevices.open("model:a?cable=c" + parameters);
        Context server = RdmaDevices.open("model:b?cable=c" + parameters);
        Pair pair = Pair.of(client, server, 3, LISTS * Stream.LIST);
        Pair shared = Pair.of(client, server, MANY, Stream.LIST);
        Connection one = pair.connect();
        Connection ofSends = pair.connect();
        Connection ofLongSends = pair.connect()) {
      List<Connection> many = connections(shared, MANY);
      try (Stream write = shorts(pair, List.of(one), WrOpcode.RDMA_WRITE, LISTS);
          Stream read = shorts(pair, List.of(one), WrOpcode.RDMA_READ, LISTS);
          Stream send = shorts(pair, List.of(ofSends), WrOpcode.SEND, LISTS);
          Stream writeLong = longs(pair, one, WrOpcode.RDMA_WRITE);
          Stream readLong = longs(pair, one, WrOpcode.RDMA_READ);
          Stream sendLong = longs(pair, ofLongSends, WrOpcode.SEND);
          Stream overMany = shorts(shared, many, WrOpcode.RDMA_WRITE, MANY);
          WriteRoundTrips roundTrips = new WriteRoundTrips(pair, one);
          Arena arena = Arena.ofConfined()) {
        MemorySegment from = arena.allocate((long) LONG * LONG_OUTSTANDING, 4096).fill((byte) 1);
        MemorySegment to = arena.allocate((long) LONG * LONG_OUTSTANDING, 4096).fill((byte) 2);
        figure("copies of 64 KiB, MB/s", () -> copies(from, to));
        figure("WRITE, 64 KiB, MB/s", () -> megabytes(writeLong));
        figure("READ, 64 KiB, MB/s", () -> megabytes(readLong));
        figure("SEND, 64 KiB, MB/s", () -> megabytes(sendLong));
        figure("WRITEs of 8 bytes, million/s", () -> millions(write));
        figure("READs of 8 bytes, million/s", () -> millions(read));
        figure("SENDs of 8 bytes, million/s", () -> millions(send));
        figure("WRITEs over 256, million/s", () -> millions(overMany));
        figure("WRITE ping-pong, 1 thread, us", () -> roundTrips.oneThread(nanos) / 1e3);
        figure("WRITE ping-pong, 2 threads, us", () -> roundTrips.twoThreads(nanos) / 1e3);
        measure(rounds);
      }
      many.forEach(Connection::close);
    }
  }

  private static List<Connection> connections(Pair pair, int count) {
    return IntStream.range(0, count).mapToObj(i -> pair.connect()).toList();
  }

  private static Stream shorts(
      Pair pair, List<Connection> connections, WrOpcode opcode, int lists) {
    return new Stream(pair, connections, opcode, SHORT, Stream.LIST, lists);
  }

  private static Stream longs(Pair pair, Connection connection, WrOpcode opcode) {
    return new Stream(pair, List.of(connection), opcode, LONG, 1, LONG_OUTSTANDING);
  }

  private void figure(String name, DoubleSupplier measurement) {
    figures.add(new Figure(name, measurement));
  }

  private double millions(Stream stream) {
    double perSecond = stream.run(nanos);
    messages += (long) (perSecond * nanos / 1e9);
    return perSecond / MEGA;
  }

  private double megabytes(Stream stream) {
    return millions(stream) * LONG;
  }

  /** Copies place by place between two memories; returns megabytes a second. */
  private double copies(MemorySegment from, MemorySegment to) {
    long start = System.nanoTime();
    long now = start;
    long count = 0;
    while (now - start < nanos) {
      for (long place = 0; place < from.byteSize(); place += LONG) {
        MemorySegment.copy(from, place, to, place, LONG);
      }
      count += LONG_OUTSTANDING;
      now = System.nanoTime();
    }
    return count * LONG / MEGA * 1e9 / (now - start);
  }

  private void measure(int rounds) {
    double[][] found = new double[figures.size()][rounds];
    long end = System.nanoTime() + WARM_UP * figures.size();
    while (System.nanoTime() < end) {
      measure(found, 0);
    }
    messages = 0;
    long allocated = THREADS.getTotalThreadAllocatedBytes();
    for (int round = 0; round < rounds; round++) {
      measure(found, round);
    }
    double perMessage = (double) (THREADS.getTotalThreadAllocatedBytes() - allocated) / messages;
    for (int i = 0; i < found.length; i++) {
      StringBuilder line = new StringBuilder("%-32s".formatted(figures.get(i).name()));
      for (double figure : found[i]) {
        line.append("%,10.2f".formatted(figure));
      }
      Arrays.sort(found[i]);
      System.out.println(line.append("   median %,.2f".formatted(found[i][rounds / 2])));
    }
    System.out.println("%-32s%10.2f".formatted("allocated, bytes per message", perMessage));
  }

  private void measure(double[][] found, int round) {
    for (int i = 0; i < found.length; i++) {
      found[i][round] = figures.get(i).measurement().getAsDouble();
    }
  }

  /** Prints what part of a core idle connections take. */
  private static void idle(String parameters) throws InterruptedException {
    try (Context client = RdmaDevices.open("model:a?cable=c" + parameters);
        Context server = RdmaDevices.open("model:b?cable=c" + parameters);
        Pair pair = Pair.of(client, server, IDLE, Stream.LIST)) {
      List<Connection> connections = connections(pair, IDLE);
      TimeUnit.SECONDS.sleep(1);
      long cpu = SYSTEM.getProcessCpuTime();
      long start = System.nanoTime();
      TimeUnit.SECONDS.sleep(3);
      double share = (double) (SYSTEM.getProcessCpuTime() - cpu) / (System.nanoTime() - start);
      System.out.println("%-32s%10.2f".formatted("100 idle connections, % of a core", 100 * share));
      connections.forEach(Connection::close);
    }
  }
}

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
import org.hghca.benchmarks.Pair.Connection;
import org.hghca.verbs.Context;

/**
 * Two software devices in this process, joined by a cable, beside a copy of memory in the same
 * rounds, and beside two of another kind: messages of each kind, round trips, many connections,
 * idle ones. {@code benchmarks/one-process} runs it.
 */
public final class OneProcess {
  private static final int IDLE = 100;

  /** The warm-up takes so many times what a round takes. */
  private static final int WARM_UP = 5;

  /** Of each measurement in the warm-up: so the compiler sees all of them, not one for long. */
  private static final long WARM_UP_TURN = TimeUnit.MILLISECONDS.toNanos(10);

  private static final double MEGA = 1e6;
  private static final String LINE = "%-40s%10.2f";
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** One figure: its name with the unit, and what measures it once. */
  private record Figure(String name, DoubleSupplier measurement) {}

  private final List<Figure> figures = new ArrayList<>();

  /** Of each measurement: shorter in the warm-up. */
  private long nanos = WARM_UP_TURN;

  private long messages;

  /**
   * Prints each round, and the medians.
   *
   * @param arguments seconds of each measurement, rounds, and kinds of devices: schemes of
   *     locators, each with parameters that begin with an ampersand
   */
  public static void main(String... arguments) throws InterruptedException {
    long nanos = (long) (Double.parseDouble(arguments[0]) * TimeUnit.SECONDS.toNanos(1));
    int rounds = Integer.parseInt(arguments[1]);
    List<String> kinds = List.of(arguments).subList(2, arguments.length);
    new OneProcess().run(nanos, rounds, kinds);
    for (String kind : kinds) {
      idle(kind);
    }
  }

  private void run(long each, int rounds, List<String> kinds) {
    List<OneKind> open = new ArrayList<>();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment from = copied(arena, 1);
      MemorySegment to = copied(arena, 2);
      figure("copies of 64 KiB, MB/s", () -> copies(from, to));
      for (String kind : kinds) {
        open.add(new OneKind(kind));
        add(open.getLast());
      }
      measure(each, rounds);
    } finally {
      open.forEach(OneKind::close);
    }
  }

  private static MemorySegment copied(Arena arena, int content) {
    long bytes = (long) OneKind.LONG * OneKind.LONG_OUTSTANDING;
    return arena.allocate(bytes, 4096).fill((byte) content);
  }

  private void add(OneKind kind) {
    String name = kind.name();
    figure(name + ": WRITE, 64 KiB, MB/s", () -> megabytes(kind.writeLong()));
    figure(name + ": READ, 64 KiB, MB/s", () -> megabytes(kind.readLong()));
    figure(name + ": SEND, 64 KiB, MB/s", () -> megabytes(kind.sendLong()));
    figure(name + ": WRITEs of 8 bytes, million/s", () -> millions(kind.write()));
    figure(name + ": READs of 8 bytes, million/s", () -> millions(kind.read()));
    figure(name + ": SENDs of 8 bytes, million/s", () -> millions(kind.send()));
    String many = name + ": WRITEs over %d, million/s".formatted(kind.connections());
    figure(many, () -> millions(kind.overMany()));
    figure(name + ": ping-pong, 1 thread, us", () -> kind.roundTrips().oneThread(nanos) / 1e3);
    figure(name + ": ping-pong, 2 threads, us", () -> kind.roundTrips().twoThreads(nanos) / 1e3);
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
    return millions(stream) * OneKind.LONG;
  }

  /** Copies place by place between two memories; returns megabytes a second. */
  private double copies(MemorySegment from, MemorySegment to) {
    long start = System.nanoTime();
    long now = start;
    long count = 0;
    while (now - start < nanos) {
      for (long place = 0; place < from.byteSize(); place += OneKind.LONG) {
        MemorySegment.copy(from, place, to, place, OneKind.LONG);
      }
      count += OneKind.LONG_OUTSTANDING;
      now = System.nanoTime();
    }
    return count * OneKind.LONG / MEGA * 1e9 / (now - start);
  }

  private void measure(long each, int rounds) {
    double[][] found = new double[figures.size()][rounds];
    long end = System.nanoTime() + WARM_UP * each * figures.size();
    while (System.nanoTime() < end) {
      measure(found, 0);
    }
    nanos = each;
    messages = 0;
    long allocated = THREADS.getTotalThreadAllocatedBytes();
    for (int round = 0; round < rounds; round++) {
      measure(found, round);
    }
    double perMessage = (double) (THREADS.getTotalThreadAllocatedBytes() - allocated) / messages;
    for (int i = 0; i < found.length; i++) {
      StringBuilder line = new StringBuilder("%-40s".formatted(figures.get(i).name()));
      for (double figure : found[i]) {
        line.append("%,10.2f".formatted(figure));
      }
      Arrays.sort(found[i]);
      System.out.println(line.append("   median %,.2f".formatted(found[i][rounds / 2])));
    }
    System.out.println(LINE.formatted("allocated, bytes per message", perMessage));
  }

  private void measure(double[][] found, int round) {
    for (int i = 0; i < found.length; i++) {
      found[i][round] = figures.get(i).measurement().getAsDouble();
    }
  }

  /** Prints what part of a core idle connections take. */
  private static void idle(String kind) throws InterruptedException {
    try (Context client = OneKind.open(kind, "a");
        Context server = OneKind.open(kind, "b");
        Pair pair = Pair.of(client, server, IDLE, Stream.LIST)) {
      List<Connection> connections = pair.connect(IDLE);
      TimeUnit.SECONDS.sleep(1);
      long cpu = SYSTEM.getProcessCpuTime();
      long start = System.nanoTime();
      TimeUnit.SECONDS.sleep(3);
      double share = (double) (SYSTEM.getProcessCpuTime() - cpu) / (System.nanoTime() - start);
      System.out.println(LINE.formatted(kind + ": 100 idle, % of a core", 100 * share));
      connections.forEach(Connection::close);
    }
  }
}

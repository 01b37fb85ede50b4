package org.hghca.model;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.time.Duration;

/**
 * A software HCA with a fault, in virtual time, and a queue pair that is its own peer: each message
 * goes from one half of a buffer to the other.
 */
final class FaultyHost implements AutoCloseable {
  static final int BYTES = 1 << 14;
  private static int count;

  final Simulation simulation;
  final Host host;
  Host.Qp qp;
  Host.Buffer source;
  Host.Buffer target;

  /**
   * @param parameters of the locator, such as {@code fault=no-cqe}
   */
  FaultyHost(String parameters) {
    String name = "faulty" + count++;
    simulation = Simulation.inline(name);
    host = Host.open("model:%s?sim=%s&%s".formatted(name, name, parameters));
  }

  /** All up to a connected queue pair. */
  FaultyHost bringUp() {
    host.bringUp();
    return connect(6);
  }

  /** A queue pair with a completion queue of a size, as a logarithm. */
  FaultyHost connect(int logSize) {
    return connect(host.cq(logSize));
  }

  /** A queue pair with a completion queue. */
  FaultyHost connect(Host.Cq cq) {
    qp = host.qp(cq);
    qp.peer(host, qp);
    qp.toRts();
    source = host.buffer(BYTES, Host.ALL);
    target = host.buffer(BYTES, Host.ALL);
    for (int i = 0; i < BYTES; i++) {
      source.memory().set(JAVA_BYTE, i, value(i));
    }
    return this;
  }

  /** What the source has: no two dwords or bytes nearby are the same, and some bits are 0. */
  static byte value(int at) {
    return (byte) (at * 7 + (at >> 8) * 3 & 0x77);
  }

  /** Writes so many bytes to the target, to which the same offset belongs. */
  void write(int at, int bytes) {
    qp.write(target, at, new Host.Piece(source, at, bytes));
  }

  /** What the target has. */
  byte[] target(int at, int bytes) {
    return target.memory().asSlice(at, bytes).toArray(JAVA_BYTE);
  }

  /** What it should have. */
  static byte[] expected(int at, int bytes) {
    byte[] expected = new byte[bytes];
    for (int i = 0; i < bytes; i++) {
      expected[i] = value(at + i);
    }
    return expected;
  }

  /** Writes some bytes; returns what arrives where they belong. */
  byte[] written(int at, int bytes) {
    write(at, bytes);
    return target(at, bytes);
  }

  boolean isCompleted() {
    return qp.cq.hasNext();
  }

  void advance(Duration time) {
    simulation.advance(time);
  }

  MemorySegment answer() {
    return host.out();
  }

  @Override
  public void close() {
    host.close();
    simulation.close();
  }
}

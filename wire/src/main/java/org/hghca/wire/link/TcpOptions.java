package org.hghca.wire.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.hghca.linux.SystemCalls;

/**
 * Options of a TCP connection that carries frames: each leaves at once, and a peer that is gone
 * without a word is noticed within some 10 seconds. A failure of one is no failure of the
 * connection.
 */
final class TcpOptions {
  private static final int SOL_SOCKET = 1;
  private static final int SO_KEEPALIVE = 9;
  private static final int TCP = 6;
  private static final int TCP_NODELAY = 1;
  private static final int TCP_KEEPIDLE = 4;
  private static final int TCP_KEEPINTVL = 5;
  private static final int TCP_KEEPCNT = 6;
  private static final int TCP_USER_TIMEOUT = 18;

  private static final int IDLE_SECONDS = 5;
  private static final int INTERVAL_SECONDS = 1;
  private static final int PROBES = 5;

  /** For a peer that is gone while there is something to send to it. */
  private static final int UNACKNOWLEDGED_MILLIS = 10_000;

  private TcpOptions() {}

  static void set(SystemCalls linux, int socket) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocate(ValueLayout.JAVA_INT);
      set(linux, socket, TCP, TCP_NODELAY, 1, value);
      set(linux, socket, TCP, TCP_KEEPIDLE, IDLE_SECONDS, value);
      set(linux, socket, TCP, TCP_KEEPINTVL, INTERVAL_SECONDS, value);
      set(linux, socket, TCP, TCP_KEEPCNT, PROBES, value);
      set(linux, socket, TCP, TCP_USER_TIMEOUT, UNACKNOWLEDGED_MILLIS, value);
      set(linux, socket, SOL_SOCKET, SO_KEEPALIVE, 1, value);
    }
  }

  private static void set(
      SystemCalls linux, int socket, int level, int option, int number, MemorySegment value) {
    value.set(ValueLayout.JAVA_INT, 0, number);
    linux.setsockopt(socket, level, option, value);
  }
}

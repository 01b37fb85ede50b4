package org.hghca.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Datagrams in batches between two sockets of the loopback interface, and options of sockets. */
final class SocketsTest {
  private static final int AF_INET = 2;
  private static final int SOCK_DGRAM = 2;
  private static final int SOL_SOCKET = 1;
  private static final int SO_REUSEADDR = 2;
  private static final int SO_TYPE = 3;
  private static final int MSG_DONTWAIT = 0x40;
  private static final int LOOPBACK = 0x7f00_0001;
  private static final ValueLayout.OfShort PORT =
      ValueLayout.JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt ADDRESS =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);

  private final SystemCalls linux = Linux.system();
  private final Arena arena = Arena.ofShared();
  private final int left = linux.socket(AF_INET, SOCK_DGRAM, 0);
  private final int right = linux.socket(AF_INET, SOCK_DGRAM, 0);

  @AfterEach
  void close() {
    assertThat(linux.close(left)).isZero();
    assertThat(linux.close(right)).isZero();
    arena.close();
  }

  private MemorySegment loopback(int port) {
    MemorySegment address = arena.allocate(16, 8);
    address.set(ValueLayout.JAVA_SHORT, 0, (short) AF_INET);
    address.set(PORT, 2, (short) port);
    address.set(ADDRESS, 4, LOOPBACK);
    return address;
  }

  /** Messages of one buffer of 8 bytes each, one behind the other. */
  private MemorySegment messages(int count, MemorySegment buffers, MemorySegment name) {
    MemorySegment messages = arena.allocate(64L * count, 8);
    for (int i = 0; i < count; i++) {
      MemorySegment piece = arena.allocate(16, 8);
      piece.set(ValueLayout.JAVA_LONG, 0, buffers.address() + 8L * i);
      piece.set(ValueLayout.JAVA_LONG, 8, 8);
      messages.set(ValueLayout.JAVA_LONG, 64L * i, name.address());
      messages.set(ValueLayout.JAVA_INT, 64L * i + 8, (int) name.byteSize());
      messages.set(ValueLayout.JAVA_LONG, 64L * i + 16, piece.address());
      messages.set(ValueLayout.JAVA_LONG, 64L * i + 24, 1);
    }
    return messages;
  }

  @Test
  void batchOfDatagramsArrives() {
    assertThat(linux.bind(right, loopback(0))).isZero();
    MemorySegment bound = arena.allocate(16, 8);
    assertThat(linux.getsockname(right, bound)).isEqualTo(16);
    assertThat(bound.get(ADDRESS, 4)).isEqualTo(LOOPBACK);
    MemorySegment sent = arena.allocateFrom(ValueLayout.JAVA_LONG, 1, 22, 333);
    MemorySegment outgoing = messages(3, sent, bound);
    assertThat(linux.sendmmsg(left, outgoing, 2, MSG_DONTWAIT)).isEqualTo(2);
    assertThat(linux.sendmmsg(left, outgoing.asSlice(128), 1, MSG_DONTWAIT)).isEqualTo(1);

    MemorySegment received = arena.allocate(32, 8);
    MemorySegment incoming = messages(4, received, arena.allocate(16, 8));
    assertThat(linux.recvmmsg(right, incoming, MSG_DONTWAIT)).isEqualTo(3);
    assertThat(received.toArray(ValueLayout.JAVA_LONG)).containsExactly(1, 22, 333, 0);
    assertThat(incoming.get(ValueLayout.JAVA_INT, 56)).isEqualTo(8);
    assertThat(LinuxErrno.EAGAIN.is(linux.recvmmsg(right, incoming, MSG_DONTWAIT))).isTrue();
  }

  @Test
  void optionIsSetAndRead() {
    MemorySegment value = arena.allocateFrom(ValueLayout.JAVA_INT, 1);
    assertThat(linux.setsockopt(left, SOL_SOCKET, SO_REUSEADDR, value)).isZero();
    value.set(ValueLayout.JAVA_INT, 0, 0);
    assertThat(linux.getsockopt(left, SOL_SOCKET, SO_REUSEADDR, value)).isEqualTo(4);
    assertThat(value.get(ValueLayout.JAVA_INT, 0)).isOne();
    assertThat(linux.getsockopt(left, SOL_SOCKET, SO_TYPE, value)).isEqualTo(4);
    assertThat(value.get(ValueLayout.JAVA_INT, 0)).isEqualTo(SOCK_DGRAM);
  }

  @Test
  void failedCallReturnsItsError() {
    MemorySegment nothing = arena.allocate(64, 8);
    assertThat(LinuxErrno.EBADF.is(linux.sendmmsg(-1, nothing, 1, 0))).isTrue();
    assertThat(LinuxErrno.EBADF.is(linux.recvmmsg(-1, nothing, 0))).isTrue();
    assertThat(LinuxErrno.EBADF.is(linux.setsockopt(-1, 1, 2, nothing))).isTrue();
    assertThat(LinuxErrno.EBADF.is(linux.getsockopt(-1, 1, 2, nothing))).isTrue();
    assertThat(LinuxErrno.EBADF.is(linux.getsockname(-1, nothing))).isTrue();
    MemorySegment stranger = loopback(0);
    stranger.set(ADDRESS, 4, 0xc633_6401); // 198.51.100.1: reserved for documentation
    assertThat(LinuxErrno.EADDRNOTAVAIL.is(linux.bind(left, stranger))).isTrue();
  }
}

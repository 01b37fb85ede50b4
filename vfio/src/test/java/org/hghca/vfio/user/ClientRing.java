package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.hghca.linux.Linux;
import org.hghca.linux.SealedFile;
import org.hghca.vfio.user.UserStructures.RingInfo;

/** A ring of register writes as a client has it, and its bytes; for tests. */
final class ClientRing implements AutoCloseable {
  static final String GREETING = "{\"capabilities\":{\"hghca_register_ring\":true}}";

  private final Arena arena = Arena.ofShared();
  final int file = RegisterRing.create(Linux.system());
  final MemorySegment memory =
      SealedFile.map(Linux.system(), file, RegisterRing.BYTES, true, arena);
  private final RegisterRing ring = RegisterRing.map(Linux.system(), file, arena);
  private long position;

  /** Connects, and gives the server a ring. */
  static RawClient connect(String path, ClientRing ring) {
    RawClient client = RawClient.connect(path);
    assertThat(client.greet(GREETING)).isZero();
    assertThat(give(client, RegisterRing.LAYOUT, ring.file)).isZero();
    return client;
  }

  /** Sends the files of rings; returns 0 or the error number. */
  static int give(RawClient client, int layout, int... files) {
    client.begin(UserCommand.REGISTER_RING, RingInfo.BYTES);
    client.out.putInt(RingInfo.LAYOUT, layout);
    for (int one : files) {
      client.out.attach(one);
    }
    return client.call();
  }

  /** Writes the next entry, whether or not there is room. */
  void put(int region, long offset, int width, long value) {
    ring.put(position++, region, offset, width, value);
  }

  /** Stores a word anywhere. */
  void scribble(long at, long word) {
    memory.set(ValueLayout.JAVA_LONG, at, word);
  }

  /** How many entries the server has taken. */
  long taken() {
    return ring.taken();
  }

  boolean isFull() {
    return position - taken() == RegisterRing.ENTRIES;
  }

  /** Whether the server is to be told of the next entry. */
  boolean serverSleeps() {
    return (ring.sleep() & 1) != 0;
  }

  @Override
  public void close() {
    arena.close();
    Linux.system().close(file);
  }
}

package org.hghca.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.MemoryRegion;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class MappedStreamTest {
  private static final StreamOptions SMALL =
      new StreamOptions(4096, 4096, 16, 16, 64, false, 7200, 2);
  private static final int LENGTH = 100_000;

  private TwoStreamDevices devices;
  private TwoStreamDevices.Pair pair;
  private MemoryRegion region;

  @BeforeEach
  void open() throws IOException {
    devices = TwoStreamDevices.onHub("");
    pair = devices.pair(SMALL, SMALL);
    region = devices.server.allocate(LENGTH, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
  }

  @AfterEach
  void close() {
    pair.close();
    region.close();
    devices.close();
  }

  private static MappedStream mapped(ByteStream stream) {
    return (MappedStream) stream;
  }

  /** Tells the client of the memory, and of that by a byte. */
  private void tell(int index, long offset) throws IOException {
    while (!mapped(pair.server()).map(region, index, offset)) {
      assertThat(pair.server().await(SelectionKey.OP_WRITE, TwoStreamDevices.deadline())).isTrue();
    }
    TwoStreamDevices.writeFully(pair.server(), ByteBuffer.allocate(1));
    TwoStreamDevices.readFully(pair.client(), ByteBuffer.allocate(1));
  }

  private void writeAll(long offset) throws IOException {
    ByteBuffer source = ByteBuffer.allocate(LENGTH);
    for (int i = 0; i < LENGTH; i++) {
      source.put(i, Transfer.at(offset + i));
    }
    while (source.hasRemaining()) {
      long at = offset + source.position();
      if (mapped(pair.client()).writeMapped(source, at) == 0) {
        pair.client().progress();
      }
    }
  }

  @Test
  void whatIsWrittenIsThereWhenTheNextByteOfTheStreamIs() throws IOException {
    for (int i = 0; i < 40; i++) { // more often than there are credits
      long offset = (long) i << 40;
      tell(i % 2, offset);
      writeAll(offset);
      TwoStreamDevices.writeFully(pair.client(), ByteBuffer.allocate(1));
      TwoStreamDevices.readFully(pair.server(), ByteBuffer.allocate(1));
      for (int at = 0; at < LENGTH; at++) {
        assertThat(region.segment().get(ValueLayout.JAVA_BYTE, at))
            .isEqualTo(Transfer.at(offset + at));
      }
    }
  }

  @Test
  void whereThePeerHasToldOfNothingNothingIsWritten() throws IOException {
    assertThat(mapped(pair.client()).writeMapped(ByteBuffer.allocate(1), 0)).isZero();
    tell(0, 1000);
    assertThat(mapped(pair.client()).writeMapped(ByteBuffer.allocate(1), 999)).isZero();
    assertThat(mapped(pair.client()).writeMapped(ByteBuffer.allocate(2), 1000 + LENGTH - 1))
        .isEqualTo(1);
    assertThat(mapped(pair.client()).writeMapped(ByteBuffer.allocate(1), 1000 + LENGTH)).isZero();
  }

  @Test
  void anEntryThatThePeerDoesNotHaveIsRefused() throws IOException {
    assertThatThrownBy(() -> mapped(pair.server()).map(region, 2, 0))
        .isInstanceOf(IndexOutOfBoundsException.class);
    try (TwoStreamDevices.Pair plain = devices.pair(StreamOptions.DEFAULT, SMALL)) {
      assertThatThrownBy(() -> mapped(plain.server()).map(region, 0, 0))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
  }
}

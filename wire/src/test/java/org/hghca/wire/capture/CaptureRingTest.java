package org.hghca.wire.capture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class CaptureRingTest {
  private static final int LARGEST = 100;

  private final CaptureRing ring = new CaptureRing(512, LARGEST);
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private byte next;

  /** Adds a block in which each byte is one more than the one before it. */
  private boolean put(int length) {
    int at = ring.reserve();
    for (int i = 0; at >= 0 && i < length; i++) {
      ring.memory().set(ValueLayout.JAVA_BYTE, at + i, next++);
    }
    if (at >= 0) {
      ring.commit(length);
    }
    return at >= 0;
  }

  private static void assertInOrder(byte[] bytes) {
    int wrong = 0;
    while (wrong < bytes.length && bytes[wrong] == (byte) wrong) {
      wrong++;
    }
    assertThat(wrong).as("the first byte that is not in order").isEqualTo(bytes.length);
  }

  @Test
  void blockIsRefusedWithoutRoomForTheLargestBlock() throws IOException {
    assertThat(put(100)).isTrue();
    assertThat(put(100)).isTrue();
    assertThat(put(100)).isTrue();
    assertThat(put(100)).isTrue();
    assertThat(put(13)).isTrue(); // 412 bytes left room for 100
    assertThat(put(1)).isFalse();
    ring.drainTo(Channels.newChannel(out));
    assertThat(out.size()).isEqualTo(413);
    assertThat(put(1)).isTrue();
  }

  @Test
  void blocksAcrossTheEndStayComplete() throws IOException {
    SplittableRandom random = new SplittableRandom(3);
    // Accepts less than it is given, as a channel may.
    WritableByteChannel some =
        new WritableByteChannel() {
          @Override
          public int write(ByteBuffer from) {
            int count = Math.min(from.remaining(), random.nextInt(1, 60));
            for (int i = 0; i < count; i++) {
              out.write(from.get());
            }
            return count;
          }

          @Override
          public boolean isOpen() {
            return true;
          }

          @Override
          public void close() {}
        };
    int sum = 0;
    for (int i = 0; i < 10_000; i++) {
      int length = random.nextInt(1, LARGEST + 1);
      if (put(length)) {
        sum += length;
      } else {
        ring.drainTo(some);
      }
    }
    ring.drainTo(some);
    assertThat(out.size()).isEqualTo(sum);
    assertInOrder(out.toByteArray());
  }

  @Test
  void oneThreadAddsWhatAnotherOneRemoves() throws Exception {
    int blocks = 100_000;
    AtomicLong full = new AtomicLong();
    Thread putting =
        Thread.ofPlatform()
            .start(
                () -> {
                  for (int i = 0; i < blocks; i++) {
                    while (!put(1 + i % LARGEST)) {
                      full.incrementAndGet();
                      Thread.onSpinWait();
                    }
                  }
                });
    while (putting.isAlive()) {
      ring.drainTo(Channels.newChannel(out));
    }
    ring.drainTo(Channels.newChannel(out));
    assertThat(full).as("met a full ring").hasPositiveValue();
    assertThat(out.size()).isEqualTo(blocks / LARGEST * (LARGEST * (LARGEST + 1) / 2));
    assertInOrder(out.toByteArray());
  }
}

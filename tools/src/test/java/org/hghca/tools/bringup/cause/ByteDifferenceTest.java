package org.hghca.tools.bringup.cause;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ByteDifferenceTest {
  private static final byte BLANK = 0x5c;
  private static final int GUARD = 64;
  private static final int LENGTH = 200;

  /** A message between guards: its first and last byte are no guard. */
  private static byte[] message() {
    byte[] bytes = new byte[GUARD + LENGTH + GUARD];
    new SplittableRandom(7).nextBytes(bytes);
    Arrays.fill(bytes, 0, GUARD, BLANK);
    Arrays.fill(bytes, GUARD + LENGTH, bytes.length, BLANK);
    bytes[GUARD] = 1;
    bytes[GUARD + LENGTH - 1] = 2;
    return bytes;
  }

  private static String of(Consumer<byte[]> fault) {
    byte[] seen = message();
    fault.accept(seen);
    return ByteDifference.of(message(), seen).orElse("equal");
  }

  private static void each(byte[] bytes, int order) {
    byte[] before = bytes.clone();
    for (int i = 0; i < LENGTH; i++) {
      bytes[GUARD + i] = before[GUARD + (i ^ order)];
    }
  }

  @Test
  void equalBytesHaveNoDifference() {
    assertThat(ByteDifference.of(message(), message())).isEmpty();
  }

  @Test
  void bytesOfAnotherLengthHaveNone() {
    assertThat(ByteDifference.of(new byte[4], new byte[5])).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 11, 20, 31})
  void stuckBitIsNamed(int bit) {
    String one =
        of(
            bytes -> {
              for (int i = bit / 8; i < LENGTH; i += 4) {
                bytes[GUARD + i] |= (byte) (1 << bit % 8);
              }
            });
    String zero =
        of(
            bytes -> {
              for (int i = bit / 8; i < LENGTH; i += 4) {
                bytes[GUARD + i] &= (byte) ~(1 << bit % 8);
              }
            });

    assertThat(one).isEqualTo("bit %d of each dword is stuck at 1".formatted(bit));
    assertThat(zero).isEqualTo("bit %d of each dword is stuck at 0".formatted(bit));
  }

  @Test
  void oneFlipIsNotAStuckBit() {
    assertThat(of(bytes -> bytes[GUARD + 77] ^= 4)).isEqualTo("one bit of the message is flipped");
  }

  @Test
  void swapsAreNamed() {
    assertThat(of(bytes -> each(bytes, 3))).contains("opposite order");
    assertThat(of(bytes -> each(bytes, 2))).contains("halves of each dword");
    assertThat(of(bytes -> each(bytes, 1))).contains("bytes of each word");
    assertThat(of(bytes -> each(bytes, 4))).contains("dwords are swapped in pairs");
  }

  @Test
  void wholeMessagesThatAreWrongAreNamed() {
    assertThat(of(bytes -> Arrays.fill(bytes, GUARD, GUARD + LENGTH, (byte) 0))).contains("zeros");
    assertThat(of(bytes -> Arrays.fill(bytes, GUARD, GUARD + LENGTH, (byte) -1))).contains("ones");
    assertThat(of(bytes -> Arrays.fill(bytes, GUARD, GUARD + LENGTH, BLANK)))
        .contains("memory is unchanged");
  }

  @ParameterizedTest
  @ValueSource(ints = {-3, -1, 1, 4})
  void shiftIsNamed(int by) {
    String text =
        of(
            bytes -> {
              byte[] before = bytes.clone();
              System.arraycopy(before, GUARD, bytes, GUARD + by, LENGTH);
            });

    assertThat(text).contains("shifted by " + Math.abs(by));
  }

  @Test
  void missingEndIsCounted() {
    assertThat(of(bytes -> Arrays.fill(bytes, GUARD + LENGTH - 4, GUARD + LENGTH, BLANK)))
        .isEqualTo("the last 4 bytes of the message are missing");
  }

  @Test
  void bytesOutsideAreNamed() {
    assertThat(of(bytes -> bytes[GUARD - 3] = 0)).contains("before the message");
    assertThat(of(bytes -> bytes[GUARD + LENGTH + 8] = 0)).contains("behind the message");
  }

  @Test
  void otherContentIsCounted() {
    assertThat(of(bytes -> Arrays.fill(bytes, GUARD + 10, GUARD + 20, (byte) 0x77)))
        .isEqualTo("10 of 200 bytes of the message are others, from byte 10 on");
  }
}

package org.hghca.wire.capture;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.hghca.wire.PacketOpcode;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Captures mutated from valid ones: they are read or refused, with little memory. {@code
 * -Dhghca.fuzz=N} runs N rounds of 1000 files for each seed instead of the build's.
 */
@Timeout(600)
class BentCapturesTest {
  private static final int ROUNDS = Integer.getInteger("hghca.fuzz", 10);
  private static final int FILES = 1000;

  /** For one file: the largest block, buffers doubled up to its size, frames, messages. */
  private static final long MOST_MEMORY = 4 << 20;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2})
  void mutatedCaptureIsReadOrRefused(long seed) throws IOException {
    RandomGenerator random = new SplittableRandom(seed);
    List<byte[]> valid = List.of(pcapng(), pcap(ByteOrder.BIG_ENDIAN), other());
    int refused = 0;
    int read = 0;
    for (int i = 0; i < ROUNDS * FILES; i++) {
      byte[] file = bend(valid.get(random.nextInt(valid.size())).clone(), random);
      List<CapturedFrame> frames = new ArrayList<>();
      long before = THREADS.getCurrentThreadAllocatedBytes();
      try {
        Captures.readInto(frames, file);
        read++;
      } catch (CaptureException e) {
        refused++;
      }
      assertThat(THREADS.getCurrentThreadAllocatedBytes() - before)
          .as("bytes allocated for file %d", i)
          .isLessThan(MOST_MEMORY);
      frames.forEach(CapturedFrame::ethernet); // of any link type and length
      long sum = frames.stream().mapToLong(frame -> frame.bytes().byteSize()).sum();
      assertThat(sum).isLessThanOrEqualTo(file.length);
    }
    assertThat(read).isGreaterThan(FILES / 20);
    assertThat(refused).isGreaterThan(FILES / 20);
  }

  private static byte[] pcapng() throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (CaptureFile capture =
        new CaptureFile(
            "test",
            Channels.newChannel(out),
            PcapngBlocks.head("a", 1),
            () -> 5,
            1 << 13,
            CaptureFile.WITHOUT_END)) {
      capture.sent(Captures.acknowledge(1));
      capture.received(Captures.packet(PacketOpcode.SEND_ONLY, 2, 9));
    }
    return out.toByteArray();
  }

  /** Big-endian, with what {@link CaptureFile} does not write. */
  private static byte[] other() {
    ByteBuffer out = ByteBuffer.allocate(28 + 32 + 20 + 36 + 16);
    out.putInt(0x0a0d0d0a).putInt(28).putInt(0x1a2b3c4d).putInt(0x0001_0000).putLong(-1).putInt(28);
    out.putInt(1).putInt(32).putInt(0x0001_0000).putInt(4);
    out.putInt(0x000e_0008).putLong(7).putInt(32);
    out.putInt(3).putInt(20).putInt(3).putInt(0x01020300).putInt(20);
    out.putInt(2).putInt(36).putInt(0).putLong(9).putInt(4).putInt(4).putInt(7).putInt(36);
    out.putInt(77).putInt(16).putInt(0).putInt(16);
    return out.array();
  }

  private static byte[] pcap(ByteOrder order) {
    ByteBuffer out = ByteBuffer.allocate(24 + 2 * 24).order(order);
    out.putInt(0xa1b2c3d4).putInt(0x0002_0004).putLong(0).putInt(65535).putInt(1);
    out.putLong(1).putInt(8).putInt(8).putLong(0x0102030405060708L);
    out.putLong(2).putInt(8).putInt(90).putLong(0x0102030405060708L);
    return out.array();
  }

  private static byte[] bend(byte[] file, RandomGenerator random) {
    byte[] bent = file;
    for (int bends = random.nextInt(1, 4); bends > 0; bends--) {
      bent =
          switch (random.nextInt(5)) {
            case 0 -> Arrays.copyOf(bent, random.nextInt(bent.length + 1));
            case 1 -> Arrays.copyOf(bent, bent.length + random.nextInt(64));
            case 2 -> withWord(bent, random);
            default -> withBits(bent, random);
          };
    }
    return bent;
  }

  private static byte[] withBits(byte[] file, RandomGenerator random) {
    for (int flips = random.nextInt(1, 5); flips > 0 && file.length > 0; flips--) {
      int bit = random.nextInt(8 * file.length);
      file[bit / 8] ^= (byte) (1 << bit % 8);
    }
    return file;
  }

  /** Any word becomes an invalid number: small, large, of the wrong sign. */
  private static byte[] withWord(byte[] file, RandomGenerator random) {
    if (file.length >= 4) {
      int at = random.nextInt(file.length / 4) * 4;
      int word =
          switch (random.nextInt(4)) {
            case 0 -> random.nextInt(64);
            case 1 -> random.nextInt();
            case 2 -> random.nextInt(1 << 21);
            default -> -random.nextInt(64);
          };
      ByteOrder order = random.nextBoolean() ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
      ByteBuffer.wrap(file).order(order).putInt(at, word);
    }
    return file;
  }
}

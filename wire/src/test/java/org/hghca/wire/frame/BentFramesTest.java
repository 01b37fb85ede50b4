package org.hghca.wire.frame;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.hghca.wire.DropCause;
import org.hghca.wire.Packet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Frames mutated from valid ones: nothing is thrown, nothing is read beyond the frame, and an
 * accepted frame has the sent contents. {@code -Dhghca.fuzz=N} runs N rounds of 2000 frames for
 * each seed instead of the build's.
 */
class BentFramesTest {
  private static final int ROUNDS = Integer.getInteger("hghca.fuzz", 25);
  private static final int FRAMES = 2000;
  private static final int IP = 14;

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2})
  void mutatedFrameIsDroppedOrHasTheSentContents(long seed) {
    RandomGenerator random = new SplittableRandom(seed);
    Map<DropCause, Integer> causes = new EnumMap<>(DropCause.class);
    int taken = 0;
    for (int i = 0; i < ROUNDS * FRAMES; i++) {
      int opcode = Frames.OPCODES[random.nextInt(Frames.OPCODES.length)];
      Packet sent = Frames.random(random, opcode, random.nextBoolean(), random.nextInt(100));
      if (random.nextInt(4) > 0) {
        sent.vlan = Packet.NO_VLAN;
      }
      byte[] frame = bend(Frames.encode(sent), random);
      FrameDecoder decoder = new FrameDecoder(Frames.memory(frame)); // exactly the frame's bytes
      Packet read = Frames.packet();
      if (decoder.decode(0, frame.length, read)) {
        taken++;
        exemptWhatIsNotProtected(sent, read);
        Frames.assertSame(read, sent);
      } else {
        causes.merge(decoder.cause(), 1, Integer::sum);
      }
    }
    assertThat(taken).as("frames bent where it does no harm").isPositive();
    assertThat(causes.keySet())
        .contains(
            DropCause.TRUNCATED,
            DropCause.ETHER_TYPE,
            DropCause.IP_HEADER,
            DropCause.IP_CHECKSUM,
            DropCause.IP_LENGTH,
            DropCause.NOT_ROCE,
            DropCause.UDP_LENGTH,
            DropCause.TRANSPORT_VERSION,
            DropCause.OPCODE,
            DropCause.TRANSPORT_LENGTH,
            DropCause.PADDING,
            DropCause.ICRC);
  }

  private static byte[] bend(byte[] frame, RandomGenerator random) {
    byte[] bent = frame;
    for (int bends = random.nextInt(1, 4); bends > 0; bends--) {
      bent =
          switch (random.nextInt(6)) {
            case 0 -> Arrays.copyOf(bent, random.nextInt(bent.length + 1));
            case 1 -> Arrays.copyOf(bent, bent.length + random.nextInt(64));
            case 2 -> withLength(bent, random);
            case 3 -> withHeaderByte(bent, random);
            default -> withBits(bent, random);
          };
    }
    return random.nextBoolean() ? summed(bent) : bent;
  }

  private static byte[] withBits(byte[] frame, RandomGenerator random) {
    for (int flips = random.nextInt(1, 9); flips > 0 && frame.length > 0; flips--) {
      int bit = random.nextInt(8 * frame.length);
      frame[bit / 8] ^= (byte) (1 << bit % 8);
    }
    return frame;
  }

  /** Any byte up to the end of the transport headers is replaced. */
  private static byte[] withHeaderByte(byte[] frame, RandomGenerator random) {
    if (frame.length > 0) {
      frame[random.nextInt(Math.min(frame.length, 100))] = (byte) random.nextInt();
    }
    return frame;
  }

  /** IP and UDP agree on another length, independent of the frame. */
  private static byte[] withLength(byte[] frame, RandomGenerator random) {
    boolean ipv6 = frame.length > IP && (frame[IP] & 0xf0) == 0x60;
    int udp = IP + (ipv6 ? 40 : 20);
    if (frame.length >= udp + 8) {
      int most = frame.length - udp;
      int length = random.nextInt(4) == 0 ? random.nextInt(1 << 16) : random.nextInt(most + 1);
      put(frame, udp + 4, length);
      put(frame, ipv6 ? IP + 4 : IP + 2, ipv6 ? length : length + 20);
    }
    return frame;
  }

  /** A deliberately modified IPv4 header gets a correct checksum. */
  private static byte[] summed(byte[] frame) {
    if (frame.length >= IP + 20 && (frame[IP] & 0xf0) == 0x40) {
      put(frame, IP + 10, 0);
      int sum = 0;
      for (int at = IP; at < IP + 20; at += 2) {
        sum += (frame[at] & 0xff) << 8 | frame[at + 1] & 0xff;
      }
      sum = (sum & 0xffff) + (sum >>> 16);
      put(frame, IP + 10, ~((sum & 0xffff) + (sum >>> 16)));
    }
    return frame;
  }

  private static void put(byte[] frame, int at, int number) {
    frame[at] = (byte) (number >>> 8);
    frame[at + 1] = (byte) number;
  }

  /** Fields that the network may change, which the invariant CRC omits. */
  private static void exemptWhatIsNotProtected(Packet sent, Packet read) {
    sent.destinationMac = read.destinationMac;
    sent.sourceMac = read.sourceMac;
    sent.vlan = read.vlan;
    sent.trafficClass = read.trafficClass;
    sent.hopLimit = read.hopLimit;
    sent.flowLabel = read.flowLabel;
    sent.forwardCongestion = read.forwardCongestion;
    sent.backwardCongestion = read.backwardCongestion;
  }
}

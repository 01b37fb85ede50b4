package org.hghca.wire.frame;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import java.util.SplittableRandom;
import org.hghca.wire.DropCause;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;
import org.hghca.wire.PacketPool;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Datagrams whose headers a UDP socket removed become frames again, with the fields that the socket
 * does not report.
 */
final class RestoredHeadersTest {
  private static final int AT = 64;

  private final MemorySegment memory = Arena.ofAuto().allocate(8192, 8);
  private final FrameDecoder decoder = FrameDecoder.ofRestored(memory);
  private final Packet packet = new PacketPool().take();

  /** From the base transport header to the CRC, of a packet with these addresses. */
  private boolean decode(String datagram, int source, int destination, int port) {
    byte[] bytes = HexFormat.of().parseHex(datagram.replace(" ", ""));
    MemorySegment.copy(MemorySegment.ofArray(bytes), 0, memory, AT, bytes.length);
    packet.sourceIpv4(source);
    packet.destinationIpv4(destination);
    packet.udpSourcePort = port;
    int length = RestoredHeaders.write(memory, AT, bytes.length, true, packet);
    return decoder.decode(RestoredHeaders.frame(AT, true), length, packet);
  }

  /** An acknowledgement that was sent with identification 1234h. */
  @Test
  void identificationIsFound() {
    assertThat(
            decode("1100ffff0000012300000100 1f000001 236d98da", 0x0a63_000b, 0x0a63_0001, 0xc5a0))
        .isTrue();
    assertThat(packet.identification).isEqualTo(0x1234);
    assertThat(packet.opcode).isEqualTo(PacketOpcode.ACKNOWLEDGE);
    assertThat(packet.psn).isEqualTo(0x100);
  }

  /** A SEND that was sent with identification 0. */
  @Test
  void identificationZeroIsFoundAtOnce() {
    assertThat(
            decode(
                "0470ffff0000001180000100 68656c6c6f000000 d0e4ccfc",
                0x0a63_0001,
                0x0a63_000b,
                0xc123))
        .isTrue();
    assertThat(packet.identification).isZero();
    assertThat(packet.length).isEqualTo(5);
  }

  @Test
  void wrongBitIsDetected() {
    assertThat(
            decode("1100ffff0000012300000101 1f000001 236d98da", 0x0a63_000b, 0x0a63_0001, 0xc5a0))
        .isFalse();
    assertThat(decoder.cause()).isEqualTo(DropCause.ICRC);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 100, 1024, 4095, 4096})
  void everyIdentificationIsFoundForEveryLength(int length) {
    SplittableRandom random = new SplittableRandom(length);
    FrameEncoder encoder = new FrameEncoder(memory);
    for (int round = 0; round < 300; round++) {
      Packet sent = new PacketPool().take();
      sent.opcode = PacketOpcode.SEND_ONLY;
      sent.sourceIpv4(random.nextInt() | 1);
      sent.destinationIpv4(random.nextInt() | 1);
      sent.identification = random.nextInt(1 << 16);
      sent.length = length;
      for (int i = 0; i < length; i++) {
        sent.payload().set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
      }
      int frame = RestoredHeaders.frame(AT, true);
      int bytes = encoder.encode(sent, frame);
      packet.sourceIpHigh = sent.sourceIpHigh;
      packet.sourceIpLow = sent.sourceIpLow;
      packet.destinationIpHigh = sent.destinationIpHigh;
      packet.destinationIpLow = sent.destinationIpLow;
      packet.udpSourcePort = sent.udpSourcePort;
      RestoredHeaders.write(memory, AT, bytes - RestoredHeaders.size(true), true, packet);
      assertThat(decoder.decode(frame, bytes, packet)).isTrue();
      assertThat(packet.identification).isEqualTo(sent.identification);
    }
  }

  @Test
  void damageIsDetectedExceptInOneFrameOf65536() {
    SplittableRandom random = new SplittableRandom(7);
    FrameEncoder encoder = new FrameEncoder(memory);
    Packet sent = new PacketPool().take();
    sent.opcode = PacketOpcode.SEND_ONLY;
    sent.sourceIpv4(1);
    sent.destinationIpv4(2);
    sent.length = 64;
    int frame = RestoredHeaders.frame(AT, true);
    int taken = 0;
    for (int round = 0; round < 100_000; round++) {
      int bytes = encoder.encode(sent, frame);
      for (int i = 0; i < 3; i++) {
        long at = AT + 12L + random.nextInt(64);
        memory.set(ValueLayout.JAVA_BYTE, at, (byte) random.nextInt());
      }
      taken += decoder.decode(frame, bytes, packet) ? 1 : 0;
    }
    assertThat(taken).isBetween(0, 10);
  }
}

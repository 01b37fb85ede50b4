package org.hghca.tools.programs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.hghca.tools.capture.DecodedFrame;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;
import org.hghca.wire.PacketPool;
import org.hghca.wire.capture.CaptureReader;
import org.hghca.wire.capture.CapturedFrame;
import org.hghca.wire.capture.Direction;

/** The SENDs of one packet in a capture, without those between connection managers. */
final class SentMessages {
  private static final int GSI = 1;

  private SentMessages() {}

  /** The bytes of each that was sent, or received, as hexadecimal digits. */
  static List<String> of(Path capture, Direction direction) throws IOException {
    List<String> messages = new ArrayList<>();
    Set<Long> seen = new HashSet<>(); // on a busy machine packets are repeated
    DecodedFrame decoded = new DecodedFrame(new PacketPool().take());
    try (CaptureReader reader = new CaptureReader(Files.newInputStream(capture))) {
      for (Optional<CapturedFrame> frame = reader.next();
          frame.isPresent();
          frame = reader.next()) {
        decoded.decode(frame.get(), frame.get().ethernet().orElseThrow());
        assertThat(decoded.hasPacket()).as(decoded.problem()).isTrue();
        if (frame.get().direction() == direction
            && isMessage(decoded.packet())
            && seen.add((long) decoded.packet().destinationQpn << 24 | decoded.packet().psn)) {
          messages.add(
              HexFormat.of()
                  .formatHex(
                      decoded
                          .packet()
                          .payload()
                          .asSlice(0, decoded.packet().length)
                          .toArray(ValueLayout.JAVA_BYTE)));
        }
      }
    }
    return messages;
  }

  private static boolean isMessage(Packet packet) {
    return packet.destinationQpn != GSI
        && switch (packet.opcode & PacketOpcode.OPERATION_MASK) {
          case PacketOpcode.SEND_ONLY, PacketOpcode.SEND_ONLY_IMM -> true;
          default -> false;
        };
  }
}

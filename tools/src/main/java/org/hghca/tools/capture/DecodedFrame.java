package org.hghca.tools.capture;

import java.lang.foreign.MemorySegment;
import org.hghca.wire.DropCause;
import org.hghca.wire.Packet;
import org.hghca.wire.capture.CapturedFrame;
import org.hghca.wire.frame.FrameDecoder;

/** A frame of a capture and the packet in it, one after another. */
public final class DecodedFrame {
  private final Packet packet;
  private CapturedFrame frame;
  private boolean taken;
  private DropCause cause = DropCause.NOT_ROCE;

  /**
   * @param packet what frames are decoded into
   */
  public DecodedFrame(Packet packet) {
    this.packet = packet;
  }

  /**
   * @param next a frame
   * @param ethernet its bytes as a frame of Ethernet
   */
  public void decode(CapturedFrame next, MemorySegment ethernet) {
    frame = next;
    FrameDecoder decoder = new FrameDecoder(ethernet);
    taken = decoder.decode(0, (int) ethernet.byteSize(), packet);
    cause = decoder.cause();
  }

  CapturedFrame frame() {
    return frame;
  }

  /** The packet, where there {@link #hasPacket is one}. */
  public Packet packet() {
    return packet;
  }

  /** Why the frame has no packet, or a damaged one. */
  DropCause cause() {
    return cause;
  }

  /** Whether all headers are known, be the invariant CRC right or wrong. */
  public boolean hasPacket() {
    return taken || cause == DropCause.ICRC;
  }

  /** Whether the frame is whole and no RoCE v2 packet, not even a malformed one. */
  boolean isOther() {
    return !taken
        && !frame.isCut()
        && switch (cause) {
          case UDP_LENGTH,
              UDP_CHECKSUM,
              TRANSPORT_VERSION,
              OPCODE,
              TRANSPORT_LENGTH,
              PADDING,
              ICRC ->
              false;
          default -> true;
        };
  }

  /** Why there is no packet, in words. */
  public String problem() {
    return frame.isCut()
        ? "%d of %d bytes were captured".formatted(frame.bytes().byteSize(), frame.length())
        : "%s, %d bytes".formatted(cause, frame.length());
  }
}

package org.hghca.wire.capture;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Instant;
import java.util.Optional;

/** Reads the older pcap, of either byte order, with times in microseconds or nanoseconds. */
final class PcapReader implements FrameSource {
  static final int MICROSECONDS = 0xa1b2c3d4;
  static final int NANOSECONDS = 0xa1b23c4d;

  private static final int VERSION = 2;

  /** The other bits of the link type describe the FCS. */
  private static final int LINK_TYPE_MASK = 0xffff;

  private final CaptureInput input;
  private final int linkType;

  /** Nanoseconds of a fraction of a second. */
  private final long fraction;

  PcapReader(CaptureInput input) throws IOException {
    this.input = input;
    int magic = input.take(4).order(ByteOrder.BIG_ENDIAN).getInt();
    boolean isBig = magic == MICROSECONDS || magic == NANOSECONDS;
    input.order(isBig ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
    this.fraction = (isBig ? magic : Integer.reverseBytes(magic)) == NANOSECONDS ? 1 : 1000;
    int version = input.take(4).getShort();
    if (version != VERSION) {
      throw input.wrong("version %d of pcap is not known".formatted(version));
    }
    input.take(12);
    this.linkType = input.take(4).getInt() & LINK_TYPE_MASK;
  }

  @Override
  public Optional<CapturedFrame> next() throws IOException {
    if (!input.hasMore()) {
      return Optional.empty();
    }
    ByteBuffer head = input.take(16);
    long seconds = Integer.toUnsignedLong(head.getInt());
    long nanos = fraction * Integer.toUnsignedLong(head.getInt());
    int captured = input.frameLength(Integer.toUnsignedLong(head.getInt()));
    long length = Integer.toUnsignedLong(head.getInt());
    byte[] bytes = input.frame(input.take(captured), captured);
    return Optional.of(
        new CapturedFrame(
            Optional.of(Instant.ofEpochSecond(seconds, nanos)),
            Direction.UNKNOWN,
            "",
            linkType,
            length,
            MemorySegment.ofArray(bytes)));
  }
}

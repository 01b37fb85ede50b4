package org.hghca.wire.capture;

import java.lang.foreign.MemorySegment;
import java.time.Instant;
import java.util.Optional;

/**
 * A frame of a capture.
 *
 * @param time when it was captured, if known
 * @param direction whether it was sent or received
 * @param device the name of its interface, empty where it has none
 * @param linkType the type of the frame, {@link #ETHERNET} or another number of the registry of
 *     link types
 * @param length its bytes on the wire
 * @param bytes those that were captured
 */
public record CapturedFrame(
    Optional<Instant> time,
    Direction direction,
    String device,
    int linkType,
    long length,
    MemorySegment bytes) {

  /** The link type of Ethernet. */
  public static final int ETHERNET = PcapngBlocks.ETHERNET;

  /** Whether the frame was longer than its captured bytes. */
  public boolean isCut() {
    return bytes.byteSize() < length;
  }
}

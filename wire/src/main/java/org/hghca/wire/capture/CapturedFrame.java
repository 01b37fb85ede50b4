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

  /**
   * The captured bytes as an Ethernet frame with at most one VLAN tag, the innermost: those of raw
   * IP, null, loop and Linux cooked captures (SLL, SLL2) get an Ethernet header, whose unknown
   * addresses are zero.
   *
   * @return none for another link type
   */
  public Optional<MemorySegment> ethernet() {
    return linkType == ETHERNET
        ? Optional.of(EthernetTags.innermost(bytes))
        : LinkHeader.of(linkType).map(header -> EthernetTags.innermost(header.ethernet(bytes)));
  }

  /** The frame with the direction that its own header has, where the capture has none. */
  CapturedFrame withDirectionOfLink() {
    Direction known =
        direction == Direction.UNKNOWN
            ? LinkHeader.of(linkType)
                .map(header -> header.direction(bytes))
                .orElse(Direction.UNKNOWN)
            : direction;
    return new CapturedFrame(time, known, device, linkType, length, bytes);
  }
}

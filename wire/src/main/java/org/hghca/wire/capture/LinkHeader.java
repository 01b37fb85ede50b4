package org.hghca.wire.capture;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;

/**
 * What a link type other than Ethernet has in front of an IP packet, and the Ethernet header that
 * takes its place.
 *
 * <pre>
 * RAW     nothing
 * FAMILY  address family 4: of NULL in the byte order of the machine that captured, of LOOP
 *         big-endian
 * SLL     direction 2, hardware 2, address length 2, address 8, type 2
 * SLL2    type 2, zero 2, interface 4, hardware 2, direction 1, address length 1, address 8
 * </pre>
 */
enum LinkHeader {
  RAW(0),
  FAMILY(4),
  SLL(16) {
    @Override
    Direction direction(MemorySegment frame) {
      return directionOf(EthernetTags.number(frame, 0));
    }

    @Override
    int type(MemorySegment frame) {
      return EthernetTags.number(frame, 14);
    }

    @Override
    int address(MemorySegment frame) {
      return EthernetTags.number(frame, 4) == MAC_SIZE ? 6 : NO_ADDRESS;
    }
  },
  SLL2(20) {
    @Override
    Direction direction(MemorySegment frame) {
      return directionOf(EthernetTags.number(frame, 10) >>> 8);
    }

    @Override
    int type(MemorySegment frame) {
      return EthernetTags.number(frame, 0);
    }

    @Override
    int address(MemorySegment frame) {
      return (EthernetTags.number(frame, 10) & 0xff) == MAC_SIZE ? 12 : NO_ADDRESS;
    }
  };

  private static final int IPV4_TYPE = 0x0800;
  private static final int IPV6_TYPE = 0x86dd;
  static final int MAC_SIZE = 6;
  static final int NO_ADDRESS = -1;

  /** The direction of a frame that the capturing machine sends. */
  private static final int OUTGOING = 4;

  private final int size;

  LinkHeader(int size) {
    this.size = size;
  }

  /** The header of a link type, by its number in the registry or of a BSD. */
  static Optional<LinkHeader> of(int linkType) {
    return Optional.ofNullable(
        switch (linkType) {
          case 12, 14, 101, 228, 229 -> RAW;
          case 0, 108 -> FAMILY;
          case 113 -> SLL;
          case 276 -> SLL2;
          default -> null;
        });
  }

  /** Whether a frame was sent or received, where the header has that. */
  Direction direction(MemorySegment frame) {
    return Direction.UNKNOWN;
  }

  static Direction directionOf(int code) {
    return code == OUTGOING ? Direction.OUT : Direction.IN;
  }

  /** The Ethernet type of what follows the header, 0 if it is no IP packet. */
  int type(MemorySegment frame) {
    int version = frame.byteSize() > size ? frame.get(ValueLayout.JAVA_BYTE, size) >>> 4 : 0;
    return switch (version) {
      case 4 -> IPV4_TYPE;
      case 6 -> IPV6_TYPE;
      default -> 0;
    };
  }

  /** The offset of the sender's Ethernet address, or {@link #NO_ADDRESS}. */
  int address(MemorySegment frame) {
    return NO_ADDRESS;
  }

  /** The frame with an Ethernet header, whose unknown addresses are zero. */
  MemorySegment ethernet(MemorySegment frame) {
    long body = Math.max(0, frame.byteSize() - size);
    MemorySegment ethernet = MemorySegment.ofArray(new byte[(int) body + EthernetTags.TYPE_AT + 2]);
    if (body > 0) {
      int address = address(frame);
      if (address != NO_ADDRESS) {
        MemorySegment.copy(frame, address, ethernet, MAC_SIZE, MAC_SIZE);
      }
      ethernet.set(EthernetTags.SHORT, EthernetTags.TYPE_AT, (short) type(frame));
      MemorySegment.copy(frame, size, ethernet, EthernetTags.TYPE_AT + 2, body);
    }
    return ethernet;
  }
}

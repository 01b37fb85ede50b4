package org.hghca.abi;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * EXTENSION. A multicast group and the queue pairs that are attached to it: inbox of WRITE_MGM and
 * outbox of READ_MGM, with the layout of the cards from which this one is derived.
 *
 * <pre>
 *           +0       +1       +2       +3
 *      +-----------------------------------+
 *  00h |              reserved             |
 *   .. |                                   |
 *  10h |          mgid, 16 bytes           |
 *  20h |v |            qpn 0               |
 *   .. |                                   |
 *  FCh |v |            qpn 55              |
 *      +-----------------------------------+
 * </pre>
 *
 * <p>The groups are on the chip, at any index below {@link #GROUPS}; no two have the same GID. One
 * without queue pairs is free. A datagram to {@link #QPN} goes to all queue pairs of the group
 * whose GID is the destination address, with IPv4 addresses as ::ffff:a.b.c.d; the port takes the
 * Ethernet addresses of the groups, and tells the network about them.
 *
 * @param gidHigh the first eight bytes of the group's GID
 * @param gidLow the last eight bytes of the group's GID
 * @param queuePairs numbers of the attached queue pairs, at most {@link #QUEUE_PAIRS}
 */
public record MulticastGroup(long gidHigh, long gidLow, List<Integer> queuePairs) {
  /** Groups of a device. */
  public static final int GROUPS = 1024;

  /** Queue pairs of a group. */
  public static final int QUEUE_PAIRS = 56;

  /** The queue pair number that stands for all members of a group. */
  public static final int QPN = 0xff_ffff;

  /** 10h, 64 bits: first 8 bytes of the GID. */
  public static final MailboxField GID_HIGH = MailboxField.qword("mgid[127:64]", 0x10);

  /** 18h, 64 bits: last 8 bytes of the GID. */
  public static final MailboxField GID_LOW = MailboxField.qword("mgid[63:0]", 0x18);

  /** The whole body, 256 bytes, without its array of queue pairs. */
  public static final MailboxLayout LAYOUT =
      MailboxLayout.of("MGM", "EXTENSION", 256, GID_HIGH, GID_LOW);

  /** Of the dword of each queue pair, [31]: 1 if it holds a number. */
  private static final MailboxField VALID = MailboxField.bits("v", 0x20, 31, 31);

  /** Of the dword of each queue pair, [23:0]: its number. */
  private static final MailboxField NUMBER = MailboxField.bits("qpn", 0x20, 23, 0);

  /**
   * A group.
   *
   * @throws IllegalArgumentException for too many queue pairs
   */
  public MulticastGroup {
    queuePairs = List.copyOf(queuePairs);
    if (queuePairs.size() > QUEUE_PAIRS) {
      throw new IllegalArgumentException(
          "a multicast group takes %d queue pairs, not %d"
              .formatted(QUEUE_PAIRS, queuePairs.size()));
    }
  }

  /** Writes the body, reserved bits as zero. */
  public void encode(MemorySegment mailbox) {
    LAYOUT.clear(mailbox);
    GID_HIGH.setLong(mailbox, gidHigh);
    GID_LOW.setLong(mailbox, gidLow);
    for (int i = 0; i < queuePairs.size(); i++) {
      VALID.set(mailbox, (long) i * Integer.BYTES, 1);
      NUMBER.set(mailbox, (long) i * Integer.BYTES, queuePairs.get(i));
    }
  }

  /** Reads a body; the valid queue pairs may be anywhere in the array. */
  public static MulticastGroup decode(MemorySegment mailbox) {
    List<Integer> queuePairs = new ArrayList<>();
    for (int i = 0; i < QUEUE_PAIRS; i++) {
      if (VALID.get(mailbox, (long) i * Integer.BYTES) != 0) {
        queuePairs.add(NUMBER.get(mailbox, (long) i * Integer.BYTES));
      }
    }
    return new MulticastGroup(GID_HIGH.getLong(mailbox), GID_LOW.getLong(mailbox), queuePairs);
  }

  /** GID and queue pairs, for the command trace. */
  public static String describe(MemorySegment mailbox) {
    return LAYOUT.describe(mailbox)
        + decode(mailbox).queuePairs.stream()
            .map("0x%06x"::formatted)
            .collect(Collectors.joining(" ", " [", "]"));
  }
}

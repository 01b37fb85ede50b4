package org.hghca.abi;

import java.lang.foreign.MemorySegment;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Set;

/**
 * EXTENSION. A capability of the software HCA beyond the interface document, which it announces in
 * the last 8 bytes of the QUERY_DEV_LIM outbox, which the document reserves and the RTL leaves
 * zero:
 *
 * <pre>
 *           +0       +1       +2       +3
 *      +-----------------------------------+
 *  38h |               magic               |
 *  3Ch |version |        extensions        |
 *      +-----------------------------------+
 * </pre>
 *
 * <p>Each extension has one bit; all later extensions get theirs here. A device without magic and
 * version has no extensions, independent of the other bits. Unknown bits are ignored.
 */
public enum DeviceExtension {
  /**
   * Bit 0: shared receive queues, {@link SrqContext}. The device has as many as queue pairs, each
   * with as many requests and elements as a receive queue; number 0 is valid.
   */
  SHARED_RECEIVE_QUEUES(0),

  /**
   * Bit 1: rings that begin anywhere in their region: {@link QueuePairContext#SEND_RING_OFFSET},
   * {@link QueuePairContext#RECEIVE_RING_OFFSET}, and regions that only hold rings, {@link
   * MptFlags#QUEUE_ONLY}.
   */
  RING_OFFSETS(1),

  /**
   * Bit 2: the port finds the Ethernet addresses of IP destinations by itself, where a context or a
   * datagram's unit has none, that is 0; and it reaches nothing but IP destinations: IPv4, and IPv6
   * with {@link #IPV6_ADDRESSES}.
   */
  NEIGHBOR_DISCOVERY(2),

  /**
   * Bit 3: a table of GIDs, {@link GidTable}, which {@link HcrCommand#WRITE_GID} fills. A queue
   * pair whose {@link QueuePairContext#MGID_INDEX} selects an IPv6 address sends from there to
   * {@link QueuePairContext#REMOTE_GID_HIGH} and {@link QueuePairContext#REMOTE_GID_LOW}, and a
   * datagram does with {@link UdUnit#IPV6}.
   */
  IPV6_ADDRESSES(3),

  /**
   * Bit 4: datagrams have the fields of {@link UdUnit#PATH}: hop limit, traffic class and flow
   * label; and connections and datagrams without a flow label may have the UDP source port of the
   * first proposal, {@link QueuePairContext#PORT_BY_NUMBERS} and {@link UdUnit#PORT_BY_NUMBERS},
   * instead of that of a flow label.
   */
  FLOW_LABELS(4),

  /**
   * Bit 6: multicast groups, {@link MulticastGroup}, with the queue pair number {@link
   * MulticastGroup#QPN} as destination of datagrams.
   */
  MULTICAST(6),

  /**
   * Bit 7: alternate paths of connections: the fields of {@link QueuePairContext} from {@link
   * QueuePairContext#MIGRATION} on, and the events {@link EventType#PATH_MIG} and {@link
   * EventType#PATH_MIG_FAILED}.
   */
  ALTERNATE_PATHS(7),

  /**
   * Bit 8: the reserved queue pair number {@link #GSI_NUMBER}, for datagrams, of which one packet
   * with the Q_Key of its context is one management datagram (MAD).
   */
  GSI_QUEUE_PAIR(8),

  /**
   * Bit 9: completion queues that begin anywhere in their region: at {@link
   * CompletionQueueContext#START} bytes from its beginning, a multiple of 32; after RESIZE_CQ at
   * the beginning of the new one.
   */
  COMPLETION_RING_OFFSETS(9),

  /**
   * Bit 10: a region that only holds rings, {@link MptFlags#QUEUE_ONLY}, serves queue pairs of
   * every protection domain.
   */
  RINGS_OF_ALL_DOMAINS(10);

  /** The number of the queue pair of the general services interface (GSI). */
  public static final int GSI_NUMBER = 1;

  /** 38h: marks the rest as valid, {@link #MAGIC}. */
  public static final MailboxField MAGIC_FIELD = MailboxField.dword("ext_magic", 0x38);

  /** 3Ch[31:24]: {@link #VERSION}. */
  public static final MailboxField VERSION_FIELD = MailboxField.bits("ext_version", 0x3C, 31, 24);

  /** 3Ch[23:0]: the extensions. */
  public static final MailboxField BITS_FIELD = MailboxField.bits("extensions", 0x3C, 23, 0);

  /** "HgX+": a value that no counter, filler or unresponsive bus returns. */
  public static final int MAGIC = 0x4867_582B;

  /** The only version. */
  public static final int VERSION = 1;

  private final int bit;

  DeviceExtension(int position) {
    this.bit = 1 << position;
  }

  /** The bit in {@link #BITS_FIELD}. */
  public int bit() {
    return bit;
  }

  /** Announces extensions in an outbox of QUERY_DEV_LIM. */
  public static void announce(MemorySegment mailbox, Collection<DeviceExtension> extensions) {
    int bits = 0;
    for (DeviceExtension extension : extensions) {
      bits |= extension.bit;
    }
    MAGIC_FIELD.set(mailbox, MAGIC);
    VERSION_FIELD.set(mailbox, VERSION);
    BITS_FIELD.set(mailbox, bits);
  }

  /** The extensions that an outbox of QUERY_DEV_LIM announces. */
  public static Set<DeviceExtension> announced(MemorySegment mailbox) {
    Set<DeviceExtension> extensions = EnumSet.noneOf(DeviceExtension.class);
    if (MAGIC_FIELD.get(mailbox) == MAGIC && VERSION_FIELD.get(mailbox) == VERSION) {
      for (DeviceExtension extension : values()) {
        if ((BITS_FIELD.get(mailbox) & extension.bit) != 0) {
          extensions.add(extension);
        }
      }
    }
    return extensions;
  }
}

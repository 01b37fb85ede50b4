package org.hghca.abi;

import java.util.List;

/**
 * The properties and behaviour of one profile of the card, as data. The driver queries the profile,
 * never a version number; the software HCA implements it. A behaviour that is the same for all
 * profiles has no value here.
 *
 * <p>{@link #S} is the interface document, {@link #R1} the makers' first RTL, {@link #R2} their
 * second. A statement about the RTL without "first" or "second" holds for both. Where the behaviour
 * of the second RTL is unknown, its profile has the value that is safe for all three. QUERY_DEV_LIM
 * may lower any limit.
 *
 * <p>Immutable and thread-safe.
 */
public final class HardwareProfile {
  /** A limit that no source states. */
  public static final int UNBOUNDED = Integer.MAX_VALUE;

  /** The interface document. */
  public static final HardwareProfile S = new HardwareProfile(ProfileValues.s());

  /** The makers' first RTL. */
  public static final HardwareProfile R1 = new HardwareProfile(ProfileValues.r1());

  /** The makers' second RTL. */
  public static final HardwareProfile R2 = new HardwareProfile(ProfileValues.r2());

  private final ProfileValues values;

  private HardwareProfile(ProfileValues values) {
    this.values = values;
  }

  /** All profiles: s, r1, r2. */
  public static List<HardwareProfile> all() {
    return List.of(S, R1, R2);
  }

  /**
   * The profile of that name.
   *
   * @throws IllegalArgumentException if there is none; the message lists the profiles
   */
  public static HardwareProfile byName(String name) {
    for (HardwareProfile profile : all()) {
      if (profile.name().equals(name)) {
        return profile;
      }
    }
    throw new IllegalArgumentException(
        "unknown hardware profile \"" + name + "\"; known are s, r1 and r2");
  }

  /** Short name: s, r1 or r2. */
  public String name() {
    return values.name;
  }

  /** Offset of the HCR in BAR0. */
  public int hcrBase() {
    return values.hcrBase;
  }

  /** Offset of the reset register in BAR0. */
  public int resetOffset() {
    return values.resetOffset;
  }

  /**
   * Whether writing the reset register resets. The RTL leaves its pulse unconnected: only a reset
   * at PCIe level clears the card.
   */
  public boolean resetConnected() {
    return values.resetConnected;
  }

  /** Status of the NOP command if the HCR works. The RTL does not know NOP and answers 02. */
  public int nopStatus() {
    return values.nopStatus;
  }

  /** Whether RESIZE_CQ may be issued. It hangs the RTL. */
  public boolean resizeCq() {
    return values.resizeCq;
  }

  /** Whether MODIFY_QP may be given without an inbox (op_modifier 2 or 3). It hangs the RTL. */
  public boolean modifyQpWithoutInbox() {
    return values.modifyQpWithoutInbox;
  }

  /**
   * Whether QUERY_QP returns the actual context. The first RTL's image is corrupted by traffic, the
   * second's is unusable.
   */
  public boolean queryQpReliable() {
    return values.queryQpReliable;
  }

  /**
   * Whether QUERY_QP returns the current sequence numbers in unused fields, at 60h, 70h and 98h,
   * and the state at 17h[7:4], as the first RTL does.
   */
  public boolean misplacesSequenceNumbers() {
    return values.misplacesSequenceNumbers;
  }

  /**
   * Whether the QP states SQE and SQD may be used. The RTL has their codes swapped and rejects
   * sends in both.
   */
  public boolean sqdSqeStates() {
    return values.sqdSqeStates;
  }

  /**
   * Whether event queues and interrupts work. The RTL accepts their commands and never writes an
   * entry or raises an interrupt; elsewhere the entry format is an EXTENSION, see {@link Eqe}.
   */
  public boolean eventQueues() {
    return values.eventQueues;
  }

  /** Bytes between CQ contexts in ICM. The first RTL uses 64 although its DEV_LIM says 128. */
  public int cqcEntrySize() {
    return values.cqcEntrySize;
  }

  /** Bytes between EQ contexts in ICM. DEV_LIM says 64, the second RTL uses 128. */
  public int eqcEntrySize() {
    return values.eqcEntrySize;
  }

  /**
   * Maximum number of entries of one MAP_ICM, all of one table. With more than one the RTL maps
   * wrongly or hangs.
   */
  public int mapIcmMaxEntries() {
    return values.mapIcmMaxEntries;
  }

  /**
   * Maximum number of pages of one MAP_ICM entry: its field has 12 bits. On the first RTL the
   * capacity of the entry's table is also a limit (this value is the largest of them); the second
   * ignores the field and maps one page.
   */
  public int mapIcmMaxPagesPerEntry() {
    return values.mapIcmMaxPagesPerEntry;
  }

  /**
   * Pages that the map of the QPC table holds. Beyond it the first RTL overwrites the beginning.
   */
  public int qpcCapacityPages() {
    return values.qpcCapacityPages;
  }

  /** Pages that the map of the CQC table holds. */
  public int cqcCapacityPages() {
    return values.cqcCapacityPages;
  }

  /** Pages that the map of the EQC table holds. */
  public int eqcCapacityPages() {
    return values.eqcCapacityPages;
  }

  /** Pages that the map of the MPT table holds. */
  public int mptCapacityPages() {
    return values.mptCapacityPages;
  }

  /** Pages that the map of the MTT table holds; 512 entries in each. */
  public int mttCapacityPages() {
    return values.mttCapacityPages;
  }

  /**
   * Whether ICM may be unmapped while the HCA runs. The first RTL writes MTT lines back late, to
   * bus address 0 when their page is gone; the second has no UNMAP_ICM.
   */
  public boolean icmReclaim() {
    return values.icmReclaim;
  }

  /**
   * Whether all of the MPT must be mapped before a peer may send. For any key from the wire, the
   * first RTL reads the page of its entry, at bus address 0 if none is mapped.
   */
  public boolean mptMappedWhole() {
    return values.mptMappedWhole;
  }

  /**
   * Whether all of the MTT must be mapped before a peer may send. The first RTL does not refuse an
   * address below its region, and reads the entries before the region's, at bus address 0 if none
   * are mapped. So does the second RTL, whose table would take thousands of commands.
   */
  public boolean mttMappedWhole() {
    return values.mttMappedWhole;
  }

  /**
   * Number of key bits that select the MPT entry, if DEV_LIM reports fewer; 0 if DEV_LIM is right.
   * The first RTL uses 15 although its DEV_LIM says 2^14 entries.
   */
  public int keyIndexBits() {
    return values.keyIndexBits;
  }

  /**
   * Whether a doorbell may overtake the effect of the previous command: the RTL completes a command
   * when it has handed it over.
   */
  public boolean doorbellsOvertakeCommands() {
    return values.doorbellsOvertakeCommands;
  }

  /**
   * First QPN that must not be used, unless DEV_LIM gives a lower one. The first RTL's tables use
   * 10 bits of it.
   */
  public int qpnLimit() {
    return values.qpnLimit;
  }

  /** First CQN that must not be used, unless DEV_LIM gives a lower one. */
  public int cqnLimit() {
    return values.cqnLimit;
  }

  /**
   * Whether the ring positions of a CQN or QPN survive destroying the object, so that the next one
   * of that number does not start at slot 0.
   */
  public boolean positionsSurviveDestroy() {
    return values.positionsSurviveDestroy;
  }

  /**
   * Whether a number may be reused from the ring positions that have survived. This was tested on
   * the first RTL, under the conditions of its receive ring, but never on the second.
   */
  public boolean positionsResumable() {
    return values.positionsResumable;
  }

  /**
   * Smallest receive queue, in bytes. The card fetches this much at a time, past the end of a
   * smaller ring.
   */
  public int minReceiveQueueBytes() {
    return values.minReceiveQueueBytes;
  }

  /**
   * Maximum number of doorbells rung on the whole device without a CQE yet. The RTL drops doorbells
   * that exceed its 64-deep FIFO.
   */
  public int doorbellsInFlight() {
    return values.doorbellsInFlight;
  }

  /**
   * Whether a fenced request waits for the READs and atomics before it, payload included. The first
   * RTL holds back only the packets of a SEND, after it has fetched the payload, and stops if that
   * SEND is long; the behaviour of the second is unknown.
   */
  public boolean fences() {
    return values.fences;
  }

  /**
   * Maximum number of requests of one queue pair without a CQE yet. If a request is enqueued in the
   * same cycle in which the last outstanding one is released, the first RTL loses its completion
   * and those of all later requests; the behaviour of the second is unknown.
   */
  public int requestsOutstanding() {
    return values.requestsOutstanding;
  }

  /**
   * Maximum number of requests of all queue pairs without a CQE yet, {@link #doorbellsInFlight} or
   * fewer. Two first RTLs that both have more than some 50 in flight wait for each other
   * indefinitely: requests, responses and acknowledgements pass through one queue, in order.
   */
  public int requestsInFlight() {
    return values.requestsInFlight;
  }

  /**
   * Maximum number of bytes that READs may fetch together, over the whole device. A first RTL that
   * answers more of a peer's READs while it sends payload of its own waits indefinitely: the data
   * of both pass through one queue, in order. 896 were right with two depths of its FIFOs, and with
   * 48 requests of the other side.
   */
  public int readBytesInFlight() {
    return values.readBytesInFlight;
  }

  /**
   * Maximum number of bytes that one READ may fetch at a time, a power of two. The second RTL
   * executes its slots one by one, so that no READ can be split there.
   */
  public int readPiece() {
    return values.readPiece;
  }

  /**
   * Maximum number of bytes of all requests of the device, READs and payload, while one of them is
   * a READ; a longer request goes alone. More stop two first RTLs that both do so.
   */
  public int bytesInFlightBesideRead() {
    return values.bytesInFlightBesideRead;
  }

  /**
   * Whether a SEND or WRITE of a reliable connection may have the last PSN, FFFFFFh. When it is
   * acknowledged, the first RTL writes completions of it without end, and the device is lost; the
   * behaviour of the second is unknown.
   */
  public boolean psnWraps() {
    return values.psnWraps;
  }

  /** Whether a READ may have the last PSN, and requests after it are right. */
  public boolean readsCrossPsnWrap() {
    return values.readsCrossPsnWrap;
  }

  /**
   * Whether a request that the card cannot execute (wrong key or bounds of local memory, unknown
   * opcode) fails with a completion. On the first RTL it stops the send side of the whole card, and
   * the second checks nothing: the driver must check before posting.
   */
  public boolean badRequestsReported() {
    return values.badRequestsReported;
  }

  /** Whether messages and data units of length 0 are allowed. They break the RTL. */
  public boolean zeroLength() {
    return values.zeroLength;
  }

  /**
   * Whether a receive may be without a data unit. Such a receive corrupts the receive list of all
   * queue pairs on the first RTL: data goes into buffers of others.
   */
  public boolean emptyReceives() {
    return values.emptyReceives;
  }

  /** Whether the atomic opcodes may be used. They stop the RTL's send side. */
  public boolean atomics() {
    return values.atomics;
  }

  /** Whether a UD send may be inline. */
  public boolean inlineOnUd() {
    return values.inlineOnUd;
  }

  /**
   * Whether a received datagram begins with the 40 bytes of a global route header. The RTL writes
   * and counts only the payload.
   */
  public boolean grhPlaced() {
    return values.grhPlaced;
  }

  /**
   * Whether a SEND may have an immediate. The first RTL puts a different one on the wire, and
   * halves the source QPN of a datagram that has one; the behaviour of the second is unknown.
   */
  public boolean sendImmediate() {
    return values.sendImmediate;
  }

  /** Whether the CQE of a receive carries the immediate. */
  public boolean immediateDelivered() {
    return values.immediateDelivered;
  }

  /**
   * Bytes to which the start of a memory region is rounded down and its length up. The RTL
   * translates page-aligned regions only.
   */
  public int remoteBoundsGranularity() {
    return values.remoteBoundsGranularity;
  }

  /**
   * Alignment in bytes of receive buffers, READ results and targets of remote WRITE, and the
   * multiple of bytes that every data unit except the last must have. Otherwise a transfer across a
   * page end can stop the first RTL.
   */
  public int destinationAlignment() {
    return values.destinationAlignment;
  }

  /**
   * Whether the transport implements more than moving bytes between two queue pairs in order: a
   * QP's own access rights, Q_Keys, datagrams of several peers, sequence numbers that wrap, flow
   * labels, messages before RTR, refused READs. The RTL lacks all of these.
   */
  public boolean completeTransport() {
    return values.completeTransport;
  }

  /** Whether the card retries after RNR and loss, and times out. */
  public boolean rnrAndTimeoutInHardware() {
    return values.rnrAndTimeoutInHardware;
  }

  /**
   * Whether a reliable connection in INIT acknowledges messages and drops them, so that the peer
   * regards them as delivered. The behaviour of the second RTL is unknown.
   */
  public boolean initAcknowledges() {
    return values.initAcknowledges;
  }

  /** Owner byte that the card writes into a CQE. */
  public int cqeOwner() {
    return values.cqeOwner;
  }

  /**
   * Unit in bytes of the receive WQE offset in a CQE. The second RTL counts units of 16 bytes; the
   * first gives 0 for a SEND of more than one packet, whichever slot it took.
   */
  public int receiveCqeUnit() {
    return values.receiveCqeUnit;
  }

  /** Whether a failed send gets an error CQE. */
  public boolean errorCqes() {
    return values.errorCqes;
  }

  /**
   * Whether an error CQE holds its syndrome at 10h. The first RTL writes 0 there: RC has none, UC
   * and UD at byte 13h.
   */
  public boolean errorCqeHasSyndrome() {
    return values.errorCqeHasSyndrome;
  }

  /** Whether a QP that goes to ERR completes everything outstanding with WR_FLUSH_ERR. */
  public boolean flushesInHardware() {
    return values.flushesInHardware;
  }

  /** The name. */
  @Override
  public String toString() {
    return name();
  }
}

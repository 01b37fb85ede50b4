package org.hghca.model.rtl.r1;

import static org.hghca.wire.PacketOpcode.OPERATION_MASK;

import java.util.ArrayList;
import java.util.List;
import org.hghca.model.rtl.OnChipQp;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;

/**
 * Detects that two cards block each other. Both egresses wait for the other's ingress, and neither
 * moves again. It takes requests both ways, and there are two ways into it:
 *
 * <ol>
 *   <li>by the number of requests: those of the peer, the data of its READs and the
 *       acknowledgements share one ingress in order;
 *   <li>by READs beside other bytes: payload of the card's own requests and the data that it
 *       answers READs with share one channel in order. A card that talks to itself can do that
 *       alone.
 * </ol>
 *
 * <p>The bounds are those of the makers' RTL with FIFOs of 16 entries and more. What lies between
 * the last good and the first bad measurement is good here. On the card most of it depends on
 * timing; the model blocks whenever it is possible. A card sees of its peer what arrives in one
 * step, all of which is in flight at the same time: it may underestimate the peer, and never
 * overestimates it.
 */
final class Gridlock {
  /** Requests of which READs of {@link #MANY_READ_BYTES} and more block: 50 are good, 52 block. */
  static final int MOST_READS = 50;

  static final long MANY_READ_BYTES = MOST_READS * 1024L + 1;

  /** Requests of SENDs and WRITEs of 4000 bytes: 56 are good, 57 block. */
  static final int MOST_LONG = 56;

  static final long MANY_LONG_BYTES = MOST_LONG * 4000L + 1;

  /** Requests of random lengths up to 4000 bytes: 62 are good, 63 block. */
  static final int MOST_MIXED = 62;

  /** Messages of up to 1000 bytes do not block, not even 64. */
  static final long MANY_MIXED_BYTES = 64 * 1000L + 1;

  /**
   * Bytes that must not be in flight beside a READ: 6 KiB are good, four requests of 2000 block.
   */
  static final long BYTES_BESIDE_READ = 4 * 2000L;

  /** Bytes of READs beside which there may be {@link #BYTES_BESIDE_SHORT_READS} of payload. */
  static final long SHORT_READS = 1024;

  /** Requests of 2000 bytes on average: 16 are good beside short READs, 32 block. */
  static final long BYTES_BESIDE_SHORT_READS = 16 * 2000L;

  /** Bytes of READs beside which there may be {@link #BYTES_BESIDE_TINY_READS} of payload. */
  static final long TINY_READS = 256;

  /** Requests of 2000 bytes on average: 32 are good beside tiny READs, 48 block. */
  static final long BYTES_BESIDE_TINY_READS = 32 * 2000L;

  /** What one peer has in flight. */
  private static final class Peer {
    long mac;
    final Traffic traffic = new Traffic();
  }

  private final Traffic ownAtStart = new Traffic();
  private final List<Peer> peers = new ArrayList<>();
  private int count;
  private boolean loops;

  /** A step begins; nothing has arrived. */
  void begin(Traffic own) {
    ownAtStart.copy(own);
    count = 0;
    loops = false;
  }

  /** A packet of a request arrives that is the one that its queue pair expects. */
  void arrives(OnChipQp qp, Packet packet) {
    int operation = packet.opcode & OPERATION_MASK;
    Traffic traffic = peer(qp.destinationMac).traffic;
    loops |= packet.destinationMac == qp.destinationMac;
    if (operation == PacketOpcode.READ_REQUEST) {
      traffic.requests++;
      traffic.reads += Integer.toUnsignedLong(packet.dmaLength);
    } else {
      traffic.requests += PacketOpcode.starts(operation) ? 1 : 0;
      traffic.payload += packet.length;
    }
  }

  private Peer peer(long mac) {
    for (int i = 0; i < count; i++) {
      if (peers.get(i).mac == mac) {
        return peers.get(i);
      }
    }
    if (count == peers.size()) {
      peers.add(new Peer());
    }
    Peer peer = peers.get(count++);
    peer.mac = mac;
    peer.traffic.clear();
    return peer;
  }

  /**
   * Whether the card and a peer block each other.
   *
   * @param own what is in flight at the end of the step
   */
  boolean isReached(Traffic own) {
    if (loops) {
      return isReachedAlone(ownAtStart) || isReachedAlone(own);
    }
    for (int i = 0; i < count; i++) {
      Traffic peer = peers.get(i).traffic;
      if (isReached(ownAtStart, peer) || isReached(own, peer)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isReachedAlone(Traffic own) {
    return crowdsReads(own) && own.payload > 0;
  }

  private static boolean isReached(Traffic own, Traffic peer) {
    return areTooMany(own) && areTooMany(peer)
        || crowdsReads(own) && resists(own, peer)
        || crowdsReads(peer) && resists(peer, own);
  }

  private static boolean areTooMany(Traffic of) {
    return of.requests > MOST_READS && of.reads >= MANY_READ_BYTES
        || of.requests > MOST_LONG && of.payload >= MANY_LONG_BYTES
        || of.requests > MOST_MIXED && of.bytes() >= MANY_MIXED_BYTES;
  }

  /** Whether a card has READs in flight beside too much else. One request alone is good. */
  private static boolean crowdsReads(Traffic of) {
    if (of.reads == 0 || of.requests < 2 || of.bytes() < BYTES_BESIDE_READ) {
      return false;
    }
    return of.reads > SHORT_READS
        || of.reads > TINY_READS && of.payload > BYTES_BESIDE_SHORT_READS
        || of.payload > BYTES_BESIDE_TINY_READS;
  }

  /** Whether the card that must answer a crowd's READs sends enough itself to block. */
  private static boolean resists(Traffic crowd, Traffic other) {
    return other.payload >= BYTES_BESIDE_READ
        || crowdsReads(other) && crowd.payload + other.payload > 0;
  }
}

package org.hghca.wire.link;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.hghca.wire.IpAddress;
import org.hghca.wire.PortAddresses;
import org.hghca.wire.frame.ArpFrame;
import org.hghca.wire.frame.NeighborFrame;

/**
 * The MACs of IP addresses on an Ethernet: sends requests, answers those of others, and keeps
 * entries, by ARP for IPv4 and by neighbor discovery for IPv6. Called by the poller for received
 * frames and by the owner of a link for destinations. Thread-safe.
 */
final class AddressResolution {
  /** Nanoseconds between two requests for the same address. */
  static final long INTERVAL = 1_000_000_000L;

  /** Bytes of the longest written frame. */
  static final int LONGEST_FRAME = NeighborFrame.SIZE;

  /** The age at which an entry is requested again. */
  private static final long OLD = 30 * INTERVAL;

  private static final int MOST = 1024;
  private static final int MOST_ANSWERS = 64;

  private static final class Neighbor {
    final long high;
    final long low;
    long mac;
    long asked;
    long heard;
    boolean asks;

    /** Packets were sent to it. */
    boolean wanted;

    Neighbor(long high, long low, long now) {
      this.high = high;
      this.low = low;
      this.asked = now - INTERVAL;
      this.heard = now - OLD;
    }
  }

  /** An answer: our address, and the requester, whose address is :: when it has none yet. */
  private record Answer(long ownHigh, long ownLow, long toMac, long toHigh, long toLow) {}

  private final long mac;
  private final PortAddresses own;
  private final Answer[] answers = new Answer[MOST_ANSWERS];
  private int answerCount;
  private Neighbor[] neighbors = new Neighbor[4];
  private int count;
  private int last;
  private int questions;

  /** Resolution for a port with these addresses. */
  AddressResolution(long mac, PortAddresses own) {
    this.mac = mac;
    this.own = own;
  }

  /**
   * The MAC of an address, in halves as {@link IpAddress} has them.
   *
   * @param now by {@link System#nanoTime}
   * @return 0 while it is unknown: the request is among the {@link #write frames to send}
   */
  synchronized long resolve(long high, long low, long now) {
    Neighbor neighbor = find(high, low);
    if (neighbor == null) {
      neighbor = add(high, low, now);
    }
    neighbor.wanted = true;
    if ((neighbor.mac == 0 || now - neighbor.heard >= OLD) && now - neighbor.asked >= INTERVAL) {
      neighbor.asked = now;
      if (!neighbor.asks && own.toward(high, low) >= 0) {
        neighbor.asks = true;
        questions++;
      }
    }
    return neighbor.mac;
  }

  /** Adds an entry, which replaces another one in a full table. */
  private Neighbor add(long high, long low, long now) {
    int place = count < MOST ? count++ : mostUseless();
    if (place == neighbors.length) {
      neighbors = Arrays.copyOf(neighbors, 2 * place);
    }
    Neighbor before = neighbors[place];
    if (before != null && before.asks) {
      questions--;
    }
    Neighbor neighbor = new Neighbor(high, low, now);
    neighbors[place] = neighbor;
    last = place;
    return neighbor;
  }

  /**
   * Replaces first an address that nothing was sent to, then one without an answer, then the
   * oldest.
   */
  private int mostUseless() {
    int place = 0;
    for (int i = 1; i < count; i++) {
      if (uses(neighbors[i]) < uses(neighbors[place])
          || uses(neighbors[i]) == uses(neighbors[place])
              && neighbors[i].heard - neighbors[place].heard < 0) {
        place = i;
      }
    }
    return place;
  }

  private static int uses(Neighbor neighbor) {
    return neighbor.wanted ? neighbor.mac == 0 ? 1 : 2 : 0;
  }

  private Neighbor find(long high, long low) {
    if (count > 0 && neighbors[last].low == low && neighbors[last].high == high) {
      return neighbors[last];
    }
    for (int i = 0; i < count; i++) {
      if (neighbors[i].low == low && neighbors[i].high == high) {
        last = i;
        return neighbors[i];
      }
    }
    return null;
  }

  /**
   * Processes a frame, if it is one of the protocols. A requester is answered and remembered, as
   * packets to it will follow soon; frames of others only update known entries.
   *
   * @return whether it is one
   */
  synchronized boolean heard(MemorySegment memory, long at, int length, long now) {
    if (ArpFrame.isArp(memory, at, length)) {
      heardArp(memory, at, now);
      return true;
    }
    if (NeighborFrame.isNeighbor(memory, at, length)) {
      heardNeighbor(memory, at, now);
      return true;
    }
    return false;
  }

  private void heardArp(MemorySegment memory, long at, long now) {
    long senderLow = IpAddress.lowOfIpv4(ArpFrame.senderIp(memory, at));
    long senderMac = ArpFrame.senderMac(memory, at);
    long target = IpAddress.lowOfIpv4(ArpFrame.targetIp(memory, at));
    boolean forUs = own.has(0, target);
    if (!isOthers(0, senderLow, senderMac)) {
      return;
    }
    learn(0, senderLow, senderMac, forUs, now);
    if (forUs && ArpFrame.isRequest(memory, at)) {
      answer(new Answer(0, target, senderMac, 0, senderLow));
    }
  }

  private void heardNeighbor(MemorySegment memory, long at, long now) {
    long senderHigh = NeighborFrame.senderHigh(memory, at);
    long senderLow = NeighborFrame.senderLow(memory, at);
    long targetHigh = NeighborFrame.targetHigh(memory, at);
    long targetLow = NeighborFrame.targetLow(memory, at);
    long named = NeighborFrame.mac(memory, at);
    if (NeighborFrame.isSolicitation(memory, at)) {
      long senderMac = named == 0 ? NeighborFrame.frameMac(memory, at) : named;
      boolean forUs = own.has(targetHigh, targetLow);
      if (isOthers(senderHigh, senderLow, senderMac)) {
        if (named != 0) {
          learn(senderHigh, senderLow, named, forUs, now);
        }
        if (forUs) {
          answer(new Answer(targetHigh, targetLow, senderMac, senderHigh, senderLow));
        }
      }
    } else if (isOthers(targetHigh, targetLow, named)) {
      Neighbor known = find(targetHigh, targetLow);
      if (known != null && (known.mac == 0 || NeighborFrame.overrides(memory, at))) {
        learn(targetHigh, targetLow, named, false, now);
      }
    }
  }

  /** Whether the sender's address is not one of ours, and its MAC that of a single station. */
  private boolean isOthers(long high, long low, long ofMac) {
    return !own.has(high, low) && ofMac != 0 && (ofMac >>> 40 & 1) == 0;
  }

  /**
   * @param isNew whether to add an entry for an unknown address
   */
  private void learn(long high, long low, long itsMac, boolean isNew, long now) {
    if ((high | low) == 0) {
      return;
    }
    Neighbor neighbor = find(high, low);
    if (neighbor == null && isNew && count < MOST) {
      neighbor = add(high, low, now);
    }
    if (neighbor != null) {
      neighbor.mac = itsMac;
      neighbor.heard = now;
    }
  }

  private void answer(Answer answer) {
    if (answerCount < MOST_ANSWERS) {
      answers[answerCount++] = answer;
    }
  }

  /** Whether there are frames to send. */
  synchronized boolean hasFrames() {
    return answerCount > 0 || questions > 0;
  }

  /**
   * Writes the next frame to send.
   *
   * @return its bytes, at most {@link #LONGEST_FRAME}; 0 when there is none
   */
  synchronized int write(MemorySegment memory, long at) {
    if (answerCount > 0) {
      return write(memory, at, answers[--answerCount]);
    }
    for (int i = 0; i < count && questions > 0; i++) {
      if (neighbors[i].asks) {
        neighbors[i].asks = false;
        questions--;
        return writeQuestion(memory, at, neighbors[i]);
      }
    }
    return 0;
  }

  private int write(MemorySegment memory, long at, Answer answer) {
    if (IpAddress.isIpv4(answer.ownHigh, answer.ownLow)) {
      int ip = (int) answer.ownLow;
      ArpFrame.writeReply(memory, at, mac, ip, answer.toMac, (int) answer.toLow);
      return ArpFrame.SIZE;
    }
    NeighborFrame.writeAdvertisement(
        memory, at, mac, answer.ownHigh, answer.ownLow, answer.toMac, answer.toHigh, answer.toLow);
    return NeighborFrame.SIZE;
  }

  private int writeQuestion(MemorySegment memory, long at, Neighbor to) {
    int from = own.toward(to.high, to.low);
    if (IpAddress.isIpv4(to.high, to.low)) {
      ArpFrame.writeRequest(memory, at, mac, (int) own.low(from), (int) to.low);
      return ArpFrame.SIZE;
    }
    NeighborFrame.writeSolicitation(
        memory, at, mac, own.high(from), own.low(from), to.high, to.low);
    return NeighborFrame.SIZE;
  }
}

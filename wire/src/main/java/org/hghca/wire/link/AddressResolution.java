package org.hghca.wire.link;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.hghca.wire.frame.ArpFrame;

/**
 * Which MACs IPv4 addresses have on an Ethernet: asks, answers, and remembers. What the poller
 * hears and what the owner of a link asks for meet here. Thread-safe.
 */
final class AddressResolution {
  /** How long between two questions for the same address, in nanoseconds. */
  static final long INTERVAL = 1_000_000_000L;

  /** How old an answer gets before the question is asked again. */
  private static final long OLD = 30 * INTERVAL;

  private static final int MOST = 1024;
  private static final int MOST_ANSWERS = 64;

  private static final class Neighbor {
    final int ip;
    long mac;
    long asked;
    long heard;
    boolean asks;

    /** Packets were sent to it. */
    boolean wanted;

    Neighbor(int ip, long now) {
      this.ip = ip;
      this.asked = now - INTERVAL;
      this.heard = now - OLD;
    }
  }

  private final long mac;
  private final int ip;
  private final long[] answersToMac = new long[MOST_ANSWERS];
  private final int[] answersToIp = new int[MOST_ANSWERS];
  private int answers;
  private Neighbor[] neighbors = new Neighbor[4];
  private int count;
  private int last;
  private int questions;

  /** Resolution for a port with these addresses. */
  AddressResolution(long mac, int ip) {
    this.mac = mac;
    this.ip = ip;
  }

  /**
   * The MAC of an address.
   *
   * @param now by {@link System#nanoTime}
   * @return 0 while it is not known: the question is among the {@link #write frames to send}
   */
  synchronized long resolve(int address, long now) {
    Neighbor neighbor = find(address);
    if (neighbor == null) {
      neighbor = add(address, now);
    }
    neighbor.wanted = true;
    if ((neighbor.mac == 0 || now - neighbor.heard >= OLD) && now - neighbor.asked >= INTERVAL) {
      neighbor.asked = now;
      if (!neighbor.asks) {
        neighbor.asks = true;
        questions++;
      }
    }
    return neighbor.mac;
  }

  /** Remembers an address, in the place of another one where there are enough. */
  private Neighbor add(int address, long now) {
    int place = count < MOST ? count++ : mostUseless();
    if (place == neighbors.length) {
      neighbors = Arrays.copyOf(neighbors, 2 * place);
    }
    Neighbor before = neighbors[place];
    if (before != null && before.asks) {
      questions--;
    }
    Neighbor neighbor = new Neighbor(address, now);
    neighbors[place] = neighbor;
    last = place;
    return neighbor;
  }

  /** One that nothing was sent to before any other, then one without answer, then the oldest. */
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

  private Neighbor find(int address) {
    if (count > 0 && neighbors[last].ip == address) {
      return neighbors[last];
    }
    for (int i = 0; i < count; i++) {
      if (neighbors[i].ip == address) {
        last = i;
        return neighbors[i];
      }
    }
    return null;
  }

  /**
   * Takes a frame of the protocol. Who asks for us is answered and remembered, as it will be asked
   * for soon; of others only what is known already is updated.
   */
  synchronized void heard(MemorySegment memory, long at, long now) {
    int senderIp = ArpFrame.senderIp(memory, at);
    long senderMac = ArpFrame.senderMac(memory, at);
    boolean forUs = ArpFrame.targetIp(memory, at) == ip;
    if (senderIp == ip || senderMac == 0 || (senderMac >>> 40 & 1) != 0) {
      return;
    }
    Neighbor neighbor = senderIp == 0 ? null : find(senderIp);
    if (neighbor == null && senderIp != 0 && forUs && count < MOST) {
      neighbor = add(senderIp, now);
    }
    if (neighbor != null) {
      neighbor.mac = senderMac;
      neighbor.heard = now;
    }
    if (forUs && ArpFrame.isRequest(memory, at) && answers < MOST_ANSWERS) {
      answersToMac[answers] = senderMac;
      answersToIp[answers++] = senderIp;
    }
  }

  /** Whether there are frames to send. */
  synchronized boolean hasFrames() {
    return answers > 0 || questions > 0;
  }

  /**
   * Writes the next frame to send, of {@link ArpFrame#SIZE} bytes.
   *
   * @return false when there is none
   */
  synchronized boolean write(MemorySegment memory, long at) {
    if (answers > 0) {
      answers--;
      ArpFrame.writeReply(memory, at, mac, ip, answersToMac[answers], answersToIp[answers]);
      return true;
    }
    for (int i = 0; i < count && questions > 0; i++) {
      if (neighbors[i].asks) {
        neighbors[i].asks = false;
        questions--;
        ArpFrame.writeRequest(memory, at, mac, ip, neighbors[i].ip);
        return true;
      }
    }
    return false;
  }
}

package org.hghca.wire.link;

import java.lang.foreign.MemorySegment;
import org.hghca.wire.DropCause;
import org.hghca.wire.IpAddress;
import org.hghca.wire.Packet;
import org.hghca.wire.PortAddresses;
import org.hghca.wire.frame.EthernetDecoder;
import org.hghca.wire.frame.FrameLayout;
import org.hghca.wire.frame.ListenerFrame;
import org.hghca.wire.frame.MembershipFrame;
import org.hghca.wire.frame.PacketDecoder;
import org.hghca.wire.frame.PacketEncoder;

/**
 * A port on an Ethernet, independent of the carrier of frames: packets become frames with the
 * port's addresses, neighbors are resolved and answered, and packets wait meanwhile. One thread at
 * a time sends; one, possibly another, processes received frames.
 */
final class EthernetEnd {
  /** The memory into which frames to send are written. */
  interface Frames {
    /**
     * Reserves room for a frame.
     *
     * @param bytes of the longest frame that may be written there
     * @return its offset in the memory, or a negative number without room
     */
    int room(int bytes);

    /**
     * A frame was written into the reserved {@link #room}.
     *
     * @param length its bytes
     * @param packets the number of the port's packets in it: 1, or 0 for a frame of our own
     */
    void add(int length, int packets);
  }

  private final LinkOptions options;
  private final LinkCounts counts;
  private final MemorySegment outgoing;
  private final MemorySegment incoming;
  private final Frames frames;
  private final PacketEncoder encoder;
  private final PacketDecoder decoder;
  private final PortAddresses addresses;
  private final AddressResolution neighbors;
  private final GroupMembership groups;

  private final HeldPackets held = new HeldPackets();

  /** A neighbor was heard since the last flush: waiting packets may be able to leave. */
  private volatile boolean heard;

  /** The network was left: the next one gets reports of all groups. */
  private boolean left = true;

  /** When to request again. */
  private volatile long due = Long.MAX_VALUE;

  /**
   * @param outgoing the memory of the frames
   * @param incoming the memory of received frames
   */
  EthernetEnd(
      LinkOptions options,
      LinkCounts counts,
      MemorySegment outgoing,
      MemorySegment incoming,
      Frames frames) {
    this.options = options;
    this.counts = counts;
    this.outgoing = outgoing;
    this.frames = frames;
    this.incoming = incoming;
    this.encoder = options.encapsulation().encoder(outgoing);
    this.decoder = options.encapsulation().decoder(incoming);
    this.addresses =
        options.share() || options.encapsulation().carriesEverything()
            ? options.addresses() // the kernel's own, or none, are all that it has
            : options.addresses().withLinkLocal(options.mac());
    this.neighbors = new AddressResolution(options.mac(), addresses);
    // At a shared interface the kernel reports the groups of its addresses.
    boolean solicits = options.encapsulation().findsNeighbors() && !options.share();
    this.groups = new GroupMembership(options.mac(), addresses, solicits);
  }

  /** The port's multicast groups. */
  GroupMembership groups() {
    return groups;
  }

  /** The port's addresses, its link-local one among them unless the kernel has another one. */
  PortAddresses addresses() {
    return addresses;
  }

  /**
   * Takes a packet to be sent, which stays the caller's.
   *
   * @return whether {@link #due} is earlier than it was
   */
  boolean send(Packet packet) {
    if (!options.encapsulation().findsNeighbors()) {
      write(packet);
      return false;
    }
    int from = addresses.toward(packet.destinationIpHigh, packet.destinationIpLow);
    if ((packet.destinationIpHigh | packet.destinationIpLow) == 0 || from < 0) {
      counts.notSent(SendFailure.NO_ADDRESS);
      return false;
    }
    if (!addresses.has(packet.sourceIpHigh, packet.sourceIpLow)) {
      packet.sourceIpHigh = addresses.high(from);
      packet.sourceIpLow = addresses.low(from);
    }
    if (IpAddress.isGroup(packet.destinationIpHigh, packet.destinationIpLow)) {
      packet.destinationMac = IpAddress.groupMac(packet.destinationIpHigh, packet.destinationIpLow);
      append(packet);
      return false;
    }
    long now = System.nanoTime();
    if (packet.destinationMac == 0) {
      packet.destinationMac =
          neighbors.resolve(packet.destinationIpHigh, packet.destinationIpLow, now);
    }
    if (packet.destinationMac == 0) {
      return hold(packet, now);
    }
    if (held.holdsFor(packet.destinationIpHigh, packet.destinationIpLow)) {
      sendHeld(now);
    }
    append(packet);
    return false;
  }

  private boolean hold(Packet packet, long now) {
    if (!held.hold(packet, now)) {
      counts.notSent(SendFailure.UNRESOLVED);
      return false;
    }
    long before = due;
    due = held.due();
    return due < before;
  }

  private void append(Packet packet) {
    packet.sourceMac = options.mac();
    packet.identification = 0;
    packet.hopLimit = packet.hopLimit <= 1 ? Packet.DEFAULT_HOP_LIMIT : packet.hopLimit;
    write(packet);
  }

  private void write(Packet packet) {
    int at = frames.room(FrameLayout.MAX_FRAME);
    if (at < 0) {
      counts.notSent(SendFailure.BUFFER_FULL);
      return;
    }
    int length = encoder.encode(packet, at);
    if (length == 0) {
      counts.notSent(SendFailure.NO_ADDRESS);
      return;
    }
    frames.add(length, 1);
  }

  /** Whether received frames have left something to {@link #flush}. */
  boolean needsFlush() {
    return neighbors.hasFrames()
        || groups.due() != Long.MAX_VALUE && groups.due() <= System.nanoTime()
        || heard && due != Long.MAX_VALUE; // packets wait
  }

  /** Writes packets that have waited long enough, requests and replies. */
  void flush() {
    heard = false;
    if (left) {
      left = false;
      groups.moved(System.nanoTime());
    }
    if (!held.isEmpty()) {
      sendHeld(System.nanoTime());
    }
    while (neighbors.hasFrames()) {
      int at = frames.room(AddressResolution.LONGEST_FRAME);
      int length = at < 0 ? 0 : neighbors.write(outgoing, at);
      if (length == 0) {
        return;
      }
      frames.add(length, 0);
    }
    if (groups.due() != Long.MAX_VALUE) {
      report(System.nanoTime());
    }
  }

  private void report(long now) {
    while (groups.due() <= now) {
      int at = frames.room(GroupMembership.LONGEST_FRAME);
      int length = at < 0 ? 0 : groups.write(outgoing, at, now);
      if (length == 0) {
        return;
      }
      frames.add(length, 0);
    }
  }

  private void sendHeld(long now) {
    held.release(
        now,
        new HeldPackets.Destiny() {
          @Override
          public long resolve(long high, long low) {
            return neighbors.resolve(high, low, now);
          }

          @Override
          public void send(Packet packet, long mac) {
            packet.destinationMac = mac;
            append(packet);
          }

          @Override
          public void giveUp(Packet packet) {
            counts.notSent(SendFailure.UNRESOLVED);
          }
        });
    due = held.due();
  }

  /** Drops waiting packets, as the link is down. */
  void clear() {
    left = true;
    held.clear(packet -> counts.notSent(SendFailure.DOWN));
    due = Long.MAX_VALUE;
  }

  /**
   * When {@link #flush} is due by itself, as long as the link is up. By any thread.
   *
   * @param hasRoom false while the link waits for room, of which an event tells: reports wait for
   *     it
   */
  long due(boolean hasRoom) {
    return hasRoom ? Math.min(due, groups.due()) : due;
  }

  /**
   * Processes a received frame: the next packet of the batch, which has room for it, or a frame of
   * neighbor resolution or about multicast groups.
   *
   * @param at its offset in the memory of received frames
   * @param vlan a tag that was removed from the frame, or {@link Packet#NO_VLAN}
   */
  void take(int at, int length, int vlan, ReceiveBatch batch) {
    if (options.encapsulation().carriesEverything()) {
      takePacket(at, length, vlan, batch);
      return;
    }
    if (neighbors.heard(incoming, at, length, System.nanoTime())) {
      heard = true;
      return;
    }
    if (MembershipFrame.isMembership(incoming, at, length)) {
      if (MembershipFrame.isQuery(incoming, at, length, addresses)) {
        int group = MembershipFrame.group(incoming, at);
        long low = group == 0 ? 0 : IpAddress.lowOfIpv4(group);
        long response = MembershipFrame.responseNanos(incoming, at);
        groups.queried(true, 0, low, response, System.nanoTime());
      }
      return; // the reports of others matter to switches and routers only
    }
    if (ListenerFrame.isListener(incoming, at, length)) {
      if (ListenerFrame.isQuery(incoming, at, length, addresses)) {
        long high = ListenerFrame.groupHigh(incoming, at);
        long low = ListenerFrame.groupLow(incoming, at);
        long response = ListenerFrame.responseNanos(incoming, at);
        groups.queried(false, high, low, response, System.nanoTime());
      }
      return;
    }
    takePacket(at, length, vlan, batch);
  }

  private void takePacket(int at, int length, int vlan, ReceiveBatch batch) {
    Packet packet = batch.next();
    if (!decoder.decode(at, length, packet)) {
      counts.dropped(decoder.cause());
    } else if (!isForUs(packet)) {
      counts.dropped(DropCause.ADDRESS);
    } else if (packet.plain && vlan != Packet.NO_VLAN && !EthernetDecoder.tag(packet, vlan)) {
      counts.dropped(DropCause.TRUNCATED);
    } else {
      if (vlan != Packet.NO_VLAN) {
        packet.vlan = vlan;
      }
      counts.received();
      batch.filled();
    }
  }

  private boolean isForUs(Packet packet) {
    if (options.encapsulation().carriesEverything()) {
      return true; // the port looks at it
    }
    boolean isOwnMac = packet.destinationMac == options.mac();
    if (!options.encapsulation().findsNeighbors()) {
      return isOwnMac;
    }
    return isOwnMac && addresses.has(packet.destinationIpHigh, packet.destinationIpLow)
        || groups.contains(packet.destinationIpHigh, packet.destinationIpLow);
  }
}

package org.hghca.wire.link;

import org.hghca.linux.LinuxErrno;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.wire.IpAddress;
import org.hghca.wire.Packet;
import org.hghca.wire.PortAddresses;

/**
 * Ethernet frames through an interface of this machine. The port has a MAC and IP addresses of its
 * own there, and resolves and answers its neighbors by itself.
 */
final class FrameLink implements Link, EthernetEnd.Frames {
  private static final ConditionLog LOG = ConditionLog.of(FrameLink.class);

  /** Where queries about groups go: 224.0.0.1 and ff02::1. */
  private static final long IPV4_HOSTS = 0x0100_5e00_0001L;

  private static final long IPV6_HOSTS = 0x3333_0000_0001L;

  private static final int SLOTS = 128;

  /**
   * The number of frames sent at once; the other slots are for callers that detect late that there
   * is no room.
   */
  private static final int BATCH = 64;

  private final FrameCarrier carrier;
  private final LinkOptions options;
  private final LinkCounts counts = new LinkCounts();
  private final DatagramBatch outgoing = DatagramBatch.ofFrames(SLOTS);
  private final EthernetEnd ethernet;
  private final int[] packets = new int[SLOTS];
  private LinkWatch watch;

  /** Slots that are written and not sent: from {@code head} to below {@code tail}. */
  private int head;

  private int tail;
  private volatile boolean full;

  FrameLink(FrameCarrier carrier, LinkOptions options) {
    this.carrier = carrier;
    this.options = options;
    this.ethernet = new EthernetEnd(options, counts, outgoing.frames(), carrier.incoming(), this);
  }

  @Override
  public String description() {
    return "%s, path MTU %d".formatted(carrier.description(), pathMtu());
  }

  @Override
  public int pathMtu() {
    return PathMtu.of(Math.min(carrier.mtu(), options.mtu().orElse(carrier.mtu())));
  }

  @Override
  public PortAddresses addresses() {
    return ethernet.addresses();
  }

  @Override
  public boolean isUp() {
    return carrier.isUp();
  }

  @Override
  public boolean hasRoom() {
    return !full;
  }

  @Override
  public boolean join(long high, long low) {
    long mac = IpAddress.groupMac(high, low);
    boolean joined = carrier.join(mac);
    if (joined && !ethernet.groups().join(high, low, System.nanoTime())) {
      carrier.leave(mac);
      return false;
    }
    watch.pollSoon(); // the report about it
    return joined;
  }

  @Override
  public void leave(long high, long low) {
    ethernet.groups().leave(high, low, System.nanoTime());
    watch.pollSoon();
    carrier.leave(IpAddress.groupMac(high, low));
  }

  @Override
  public LinkCounters counters() {
    return counts.snapshot();
  }

  @Override
  public void open(LinkWatch watched) {
    watch = watched;
    carrier.open(watched);
    hear(IPV4_HOSTS);
    hear(IPV6_HOSTS);
    for (long low : ethernet.groups().solicitedLows()) {
      hear(IpAddress.groupMac(IpAddress.LINK_GROUP_HIGH, low));
    }
  }

  /** Has the interface take frames of the protocols that the port speaks. */
  private void hear(long mac) {
    if (!carrier.join(mac)) {
      LOG.warn(
          About.NOTHING,
          "the interface of {} takes no frames to {}",
          description(),
          Long.toHexString(mac));
    }
  }

  @Override
  public void send(Packet packet) {
    if (!carrier.isUp()) {
      counts.notSent(SendFailure.DOWN);
    } else if (ethernet.send(packet)) {
      watch.pollSoon(); // the poller may sleep without a deadline
    }
  }

  @Override
  public int room(int bytes) {
    if (tail >= BATCH) {
      transmit();
    }
    return tail == SLOTS ? -1 : outgoing.datagram(tail);
  }

  @Override
  public void add(int length, int ofPackets) {
    outgoing.complete(tail, length);
    packets[tail++] = ofPackets;
  }

  @Override
  public void flush() {
    if (!carrier.isUp()) {
      ethernet.clear();
    } else {
      ethernet.flush();
    }
    transmit();
  }

  @Override
  public boolean needsFlush() {
    return carrier.isUp() && ethernet.needsFlush();
  }

  private void transmit() {
    while (head < tail) {
      int sent = carrier.send(outgoing, head, tail - head);
      if (LinuxErrno.EAGAIN.is(sent)) {
        await(true);
        return;
      }
      if (sent < 0 && packets[head] > 0) {
        counts.notSent(failure(sent));
      }
      for (int i = 0; i < sent; i++) {
        counts.sent(packets[head + i]);
      }
      head += Math.max(1, sent);
    }
    head = 0;
    tail = 0;
    await(false);
  }

  private static SendFailure failure(int answer) {
    if (LinuxErrno.EMSGSIZE.is(answer)) {
      return SendFailure.TOO_LONG;
    }
    if (LinuxErrno.ENOBUFS.is(answer)) {
      return SendFailure.BUFFER_FULL; // the queue of the interface has dropped it
    }
    boolean down = LinuxErrno.ENETDOWN.is(answer) || LinuxErrno.EIO.is(answer);
    return down ? SendFailure.DOWN : SendFailure.REFUSED;
  }

  private void await(boolean room) {
    if (full != room) {
      full = room;
      carrier.awaitRoom(room);
    }
  }

  /** The next request for a neighbor, or report about a group. */
  @Override
  public long deadline() {
    return carrier.isUp() ? ethernet.due(!full) : Long.MAX_VALUE;
  }

  @Override
  public void receive(ReceiveBatch batch) {
    carrier.receive(ethernet, batch);
  }

  @Override
  public void close() {
    carrier.close();
  }
}

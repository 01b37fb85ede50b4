package org.hghca.wire.link;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.hghca.wire.DropCause;
import org.hghca.wire.Packet;
import org.hghca.wire.PortAddresses;

/**
 * Links of several addresses of one port: a packet leaves through the link of its source address,
 * or else through the one whose address is closest to its destination.
 */
final class JoinedLink implements Link {
  private final Link[] links;
  private final PortAddresses addresses;
  private final LinkCounts counts = new LinkCounts();

  /** The link to read first: in turn, as the first may fill the batch. */
  private int first;

  /**
   * @param links at least one, each of one address
   */
  JoinedLink(List<? extends Link> links) {
    this.links = links.toArray(Link[]::new);
    PortAddresses all = PortAddresses.NONE;
    for (Link link : links) {
      all = all.with(link.addresses().high(0), link.addresses().low(0));
    }
    this.addresses = all;
  }

  @Override
  public String description() {
    return List.of(links).stream().map(Link::description).collect(Collectors.joining("; "));
  }

  @Override
  public int pathMtu() {
    int least = links[0].pathMtu();
    for (Link link : links) {
      least = Math.min(least, link.pathMtu());
    }
    return least;
  }

  @Override
  public PortAddresses addresses() {
    return addresses;
  }

  @Override
  public boolean isUp() {
    for (Link link : links) {
      if (!link.isUp()) {
        return false;
      }
    }
    return true;
  }

  @Override
  public boolean hasRoom() {
    for (Link link : links) {
      if (!link.hasRoom()) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void send(Packet packet) {
    if (packet.plain) {
      counts.notSent(SendFailure.NOT_ROCE); // links of several addresses have no frames
      return;
    }
    int from = addresses.toward(packet.destinationIpHigh, packet.destinationIpLow);
    for (int i = 0; i < links.length; i++) {
      if (addresses.high(i) == packet.sourceIpHigh && addresses.low(i) == packet.sourceIpLow) {
        from = i;
      }
    }
    if (from < 0) {
      counts.notSent(SendFailure.NO_ADDRESS);
    } else {
      links[from].send(packet);
    }
  }

  /** Through one link, which also sends packets to the group: otherwise each would arrive twice. */
  @Override
  public boolean join(long high, long low) {
    int by = addresses.toward(high, low);
    return by >= 0 && links[by].join(high, low);
  }

  @Override
  public void leave(long high, long low) {
    links[addresses.toward(high, low)].leave(high, low);
  }

  @Override
  public void flush() {
    for (Link link : links) {
      link.flush();
    }
  }

  @Override
  public boolean needsFlush() {
    for (Link link : links) {
      if (link.needsFlush()) {
        return true;
      }
    }
    return false;
  }

  @Override
  public LinkCounters counters() {
    LinkCounters sum = counts.snapshot();
    for (Link link : links) {
      sum = sum(sum, link.counters());
    }
    return sum;
  }

  private static LinkCounters sum(LinkCounters one, LinkCounters other) {
    Map<SendFailure, Long> notSent = new EnumMap<>(SendFailure.class);
    notSent.putAll(one.notSent());
    other.notSent().forEach((cause, count) -> notSent.merge(cause, count, Long::sum));
    Map<DropCause, Long> dropped = new EnumMap<>(DropCause.class);
    dropped.putAll(one.dropped());
    other.dropped().forEach((cause, count) -> dropped.merge(cause, count, Long::sum));
    return new LinkCounters(
        one.sent() + other.sent(), one.received() + other.received(), notSent, dropped);
  }

  @Override
  public void open(LinkWatch watch) {
    for (Link link : links) {
      link.open(watch);
    }
  }

  @Override
  public void receive(ReceiveBatch batch) {
    for (int i = 0; i < links.length && !batch.isFull(); i++) {
      links[(first + i) % links.length].receive(batch);
    }
    first = (first + 1) % links.length;
  }

  @Override
  public long deadline() {
    long due = Long.MAX_VALUE;
    for (Link link : links) {
      due = Math.min(due, link.deadline());
    }
    return due;
  }

  @Override
  public void close() {
    for (Link link : links) {
      link.close();
    }
  }
}

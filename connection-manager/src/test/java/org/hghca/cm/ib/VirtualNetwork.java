package org.hghca.cm.ib;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import org.hghca.cm.carrier.ConnectReply;
import org.hghca.cm.carrier.ConnectRequest;
import org.hghca.cm.carrier.Path;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.carrier.ServiceRequest;
import org.hghca.cm.mad.Mad;
import org.hghca.cm.mad.Message;
import org.hghca.cm.mad.Parsed;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Gid;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpType;

/** A network of engines in virtual time. For one thread. */
final class VirtualNetwork {
  /** Of port space TCP. */
  static final long SERVICE = 0x0106_1c06L;

  private static final long LATENCY = 10_000;

  private final Map<Gid, Node> nodes = new HashMap<>();
  private final PriorityQueue<Flight> flights =
      new PriorityQueue<>(
          Comparator.<Flight>comparingLong(flight -> flight.at)
              .thenComparingLong(flight -> flight.number));
  private final SplittableRandom random;
  private final List<Sent> sent = new ArrayList<>();
  private Predicate<Sent> lost = _ -> false;
  private double loss;
  private double duplicates;
  private long jitter;
  private long numbers;
  private long now;

  VirtualNetwork(long seed) {
    this.random = new SplittableRandom(seed);
  }

  private record Flight(long at, long number, Gid to, byte[] mad, Arrival from) {}

  /** A datagram that was sent. */
  record Sent(long at, Node from, Gid to, Mad mad) {

    /** Such as {@code a REQ}. */
    @Override
    public String toString() {
      return from.name + " " + mad.message().getClass().getSimpleName().toUpperCase(Locale.ROOT);
    }
  }

  /** A device. */
  final class Node implements MadTransport {
    final String name;
    final int ip;
    final Gid gid;
    final long guid;
    final Engine engine;
    final IbCarrier carrier;

    private Node(String name, int ip, long guid) {
      this.name = name;
      this.ip = ip;
      this.gid = Gid.ofIpv4(ip);
      this.guid = guid;
      this.engine = new Engine(this, guid, Mtu.MTU_1024, random.split());
      this.carrier = new IbCarrier(engine, () -> {});
    }

    @Override
    public void send(byte[] mad, AddressVector to) {
      Mad message = (Mad) Parsed.of(mad);
      Sent one = new Sent(now, this, to.destination(), message);
      sent.add(one);
      if (!lost.test(one) && random.nextDouble() >= loss) {
        int copies = random.nextDouble() < duplicates ? 2 : 1;
        for (int copy = 0; copy < copies; copy++) {
          fly(mad, to.destination(), gid);
        }
      }
    }

    @Override
    public long nanoTime() {
      return now;
    }

    @Override
    public void wake() {}

    @Override
    public OptionalInt indexOf(Gid other) {
      return other.equals(gid) ? OptionalInt.of(1) : OptionalInt.empty();
    }

    InetSocketAddress address(int port) {
      return new InetSocketAddress(gid.address(), port);
    }

    Path pathTo(Gid other) {
      return new Path(gid, 1, other, 0x12345, 8, 64, 3, 1, Mtu.MTU_1024, 16);
    }

    ConnectRequest request(Node other, int qpNumber) {
      return request(other, qpNumber, SERVICE, new byte[] {1, 2, 3});
    }

    ConnectRequest request(Node other, int qpNumber, long serviceId, byte[] data) {
      return new ConnectRequest(
          serviceId,
          address(40000),
          other.address((int) serviceId & 0xffff),
          pathTo(other.gid),
          Optional.empty(),
          QpType.RC,
          qpNumber,
          true,
          0x123456,
          4,
          5,
          7,
          6,
          true,
          17,
          PrivateData.of(data),
          Optional.empty());
    }

    ServiceRequest question(Node other, long serviceId) {
      return new ServiceRequest(
          serviceId,
          address(40001),
          other.address((int) serviceId & 0xffff),
          pathTo(other.gid),
          PrivateData.of(new byte[] {7}));
    }

    ConnectReply reply(ConnectRequest request, int qpNumber) {
      return new ConnectReply(
          request.path(),
          qpNumber,
          false,
          0x654321,
          2,
          3,
          7,
          true,
          15,
          PrivateData.of(new byte[] {4, 5}),
          Optional.empty());
    }

    @Override
    public String toString() {
      return name;
    }
  }

  Node node(String name, int ip) {
    return impostor(name, ip, 0x5254_00ff_fe00_0000L | ip & 0xff);
  }

  /** A device with the GUID of another. */
  Node impostor(String name, int ip, long guid) {
    Node node = new Node(name, ip, guid);
    nodes.put(node.gid, node);
    return node;
  }

  /** Disturbs from now on. */
  VirtualNetwork disturbed(double losses, double copies, Duration reordering) {
    loss = losses;
    duplicates = copies;
    jitter = reordering.toNanos();
    return this;
  }

  /** Loses what matches, from now on. */
  void lose(Predicate<Sent> which) {
    lost = which;
  }

  void loseNothing() {
    lost = _ -> false;
  }

  /** Puts a datagram on its way, as if its source had sent it. */
  void fly(byte[] mad, Gid to, Gid from) {
    long delay = LATENCY + (jitter == 0 ? 0 : random.nextLong(jitter));
    flights.add(new Flight(now + delay, numbers++, to, mad, new Arrival(from, to, 1, 8)));
  }

  void fly(Message message, Node to, Node from) {
    fly(new Mad(0x7777_0000_0001L, message).toBytes(), to.gid, from.gid);
  }

  /** Lets time pass. */
  void run(Duration time) {
    long end = now + time.toNanos();
    while (advance(end)) {
      // until the time is over
    }
    now = end;
  }

  /** Lets time pass until nothing happens any more. */
  void settle() {
    while (advance(Long.MAX_VALUE)) {
      // until nothing is due
    }
  }

  /** What happens before anything else can: datagrams arrive, but no timer runs out. */
  void exchange() {
    run(Duration.ofNanos(20 * LATENCY));
  }

  private boolean advance(long end) {
    long next = Long.MAX_VALUE;
    for (Node node : nodes.values()) {
      OptionalLong due = node.engine.step();
      if (due.isPresent()) {
        next = Math.min(next, now + Math.max(due.getAsLong(), 0));
      }
    }
    if (!flights.isEmpty()) {
      next = Math.min(next, flights.peek().at);
    }
    if (next > end || next == Long.MAX_VALUE) {
      return false;
    }
    now = Math.max(now, next);
    while (!flights.isEmpty() && flights.peek().at <= now) {
      Flight flight = flights.remove();
      Optional.ofNullable(nodes.get(flight.to))
          .ifPresent(node -> node.engine.received(flight.mad, flight.from));
    }
    return true;
  }

  Duration now() {
    return Duration.ofNanos(now);
  }

  /** All datagrams since the start or the last call. */
  List<Sent> takeSent() {
    List<Sent> all = List.copyOf(sent);
    sent.clear();
    return all;
  }

  /** What was sent since the last call, such as {@code a REQ}. */
  void assertSent(String... messages) {
    assertThat(takeSent()).extracting(Sent::toString).containsExactly(messages);
  }

  /** The last message of a kind. */
  static <T extends Message> T last(List<Sent> sent, Class<T> kind) {
    return sent.stream()
        .map(one -> one.mad.message())
        .filter(kind::isInstance)
        .map(kind::cast)
        .reduce((_, later) -> later)
        .orElseThrow();
  }
}

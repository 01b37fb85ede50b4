package org.hghca.programs.perf;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import org.hghca.programs.perf.result.Limits;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpType;

/**
 * What is measured, and how.
 *
 * @param test the program
 * @param type RC, UC or UD
 * @param amount how much is transferred
 * @param queues the queue pairs and how they are filled
 * @param route how packets travel
 * @param report what is printed
 */
public record Parameters(
    PerfTest test, QpType type, Amount amount, Queues queues, Route route, Report report) {
  /** Bytes that requests of short messages carry in themselves, as perftest has it. */
  public static final int INLINE = 236;

  /** The largest message, which is that of all sizes. */
  public static final long LARGEST_BYTES = 1L << 23;

  /**
   * How much is transferred.
   *
   * @param size bytes of a message; of the largest one if all sizes are measured
   * @param adaptable whether datagrams become as small as the MTU
   * @param all whether sizes 2, 4, 8 to {@link #LARGEST_BYTES} are measured, each in turn
   * @param iterations messages of a queue pair; ignored with a span
   * @param span how long, instead of how many
   * @param rate messages a second at most
   */
  public record Amount(
      long size,
      boolean adaptable,
      boolean all,
      long iterations,
      Optional<Span> span,
      Optional<RateLimit> rate) {}

  /**
   * A measurement by time: what happens from the end of the first margin to the beginning of the
   * second one counts.
   *
   * @param whole of both margins and what is between them
   * @param margin at the beginning and at the end
   * @param endless whether another one follows, until the program is interrupted
   */
  public record Span(Duration whole, Duration margin, boolean endless) {
    /** With a fifth of it as the margin. */
    public static Span of(Duration whole) {
      return new Span(whole, whole.dividedBy(5), false);
    }
  }

  /**
   * A limit that the client keeps.
   *
   * @param messagesPerSecond more than 0
   * @param burst messages that are sent at once
   */
  public record RateLimit(double messagesPerSecond, int burst) {}

  /** The atomic operation. */
  public enum AtomicKind {
    CMP_AND_SWAP,
    FETCH_AND_ADD
  }

  /**
   * The queue pairs.
   *
   * @param pairs how many
   * @param sendDepth outstanding requests of a send queue
   * @param receiveDepth posted receives of a receive queue
   * @param postList requests that are posted at once
   * @param moderation requests for each completion
   * @param inline bytes that a request may carry in itself
   * @param outstandingReads READs and atomics; 0 is as many as the device can
   * @param bidirectional whether both sides send
   * @param events whether to sleep until the next completion
   * @param atomic which operation, of the atomic tests
   */
  public record Queues(
      int pairs,
      int sendDepth,
      int receiveDepth,
      int postList,
      int moderation,
      int inline,
      int outstandingReads,
      boolean bidirectional,
      boolean events,
      AtomicKind atomic) {}

  /** How the two sides come together. */
  public enum Meeting {
    /** They talk over TCP. */
    TCP,
    /** They talk over a connection of the connection manager. */
    TALK,
    /** The connection manager connects the queue pairs as well. */
    CONNECT;

    /** Whether the two sides talk over a connection of the connection manager. */
    public boolean talks() {
      return this != TCP;
    }

    /** Whether the connection manager connects the queue pairs. */
    public boolean connects() {
      return this == CONNECT;
    }
  }

  /**
   * How packets travel.
   *
   * @param meeting how the two sides come together
   * @param port of the device, from 1
   * @param gidIndex the best GID when it is empty
   * @param mtu that of the port when it is empty
   * @param timeout exponent of the time-out of RC, 0 to 31
   * @param retryCount of connections of the connection manager, 0 to 7
   * @param serviceLevel 0 to 15
   * @param hopLimit 0 to 255
   * @param trafficClass 0 to 255
   * @param multicast of datagrams to groups; empty for those from one queue pair to another
   */
  public record Route(
      Meeting meeting,
      int port,
      OptionalInt gidIndex,
      Optional<Mtu> mtu,
      int timeout,
      int retryCount,
      int serviceLevel,
      int hopLimit,
      int trafficClass,
      Optional<Multicast> multicast) {
    /** The defaults of perftest, for sides that talk over TCP. */
    public static Route tcp(int port, OptionalInt gidIndex) {
      return new Route(
          Meeting.TCP, port, gidIndex, Optional.empty(), 14, 7, 0, 64, 0, Optional.empty());
    }
  }

  /**
   * What is printed.
   *
   * @param gigabits Gb/s instead of MiB/s
   * @param peak whether the best throughput of a part is searched
   * @param unsorted whether all latencies are printed as they came
   * @param sorted whether all latencies are printed by length
   * @param only one number instead of header and rows
   * @param silent whether nothing is printed, as the document is wanted
   * @param limits what the results must reach
   */
  public record Report(
      boolean gigabits,
      boolean peak,
      boolean unsorted,
      boolean sorted,
      Optional<Only> only,
      boolean silent,
      Limits limits) {}

  /** The one number that is printed. */
  public enum Only {
    BANDWIDTH,
    MESSAGE_RATE,
    LATENCY
  }

  /**
   * A test of a reliable connection, silent, and else as perftest has it where queues have room.
   *
   * @param room requests of a queue at most
   */
  public static Parameters reliable(PerfTest test, long size, int room, Route route) {
    boolean bandwidth = test.isBandwidth();
    int depth = Math.min(128, room);
    int receives = Math.min(512, room);
    return new Parameters(
        test,
        QpType.RC,
        new Amount(size, false, false, receives, Optional.empty(), Optional.empty()),
        new Queues(
            1,
            bandwidth ? depth : 1,
            bandwidth ? 1 : receives,
            1,
            bandwidth ? Math.max(1, depth / 2) : 1,
            bandwidth ? 0 : INLINE,
            0,
            false,
            false,
            AtomicKind.FETCH_AND_ADD),
        route,
        new Report(false, false, false, false, Optional.empty(), true, Limits.NONE));
  }

  /** Requests of a queue that fit into a device, beside a few of the program's own. */
  public static int room(DeviceAttributes device) {
    return Integer.highestOneBit(Math.min(device.maxQpWr(), device.maxCqe()) / 2);
  }

  /** Bytes of the largest message. */
  public long largest() {
    return amount.size;
  }

  /** What is measured, such as {@code RDMA_Write BW Test}. */
  public String title() {
    Verb verb = test.verb();
    StringBuilder title = new StringBuilder(verb.title()).append(' ');
    if (verb == Verb.ATOMIC) {
      title.append(queues.atomic()).append(' ');
    }
    String end = route.multicast().isPresent() ? "Multicast Test" : "Test";
    if (!test.isBandwidth()) {
      return title.append("Latency ").append(end).toString();
    }
    if (queues.bidirectional()) {
      title.append("Bidirectional ");
    }
    if (queues.postList() > 1) {
      title.append("Post List ");
    }
    return title.append("BW ").append(end).toString();
  }

  /** Whether both sides send. */
  public boolean isBidirectional() {
    return queues.bidirectional;
  }

  /** Whether this side sends: the client does, and in most tests only it. */
  public boolean sends(boolean client) {
    return client || isBidirectional() || !test.isBandwidth();
  }

  /** Whether SENDs arrive at this side. */
  public boolean receives(boolean client) {
    return test.verb() == Verb.SEND && (!client || isBidirectional() || !test.isBandwidth());
  }

  /**
   * The same for a path whose packets have at most some bytes, which is the most that a datagram
   * has.
   *
   * @throws PerfException when datagrams were asked for that are larger
   */
  public Parameters within(int mtu) {
    if (type != QpType.UD || largest() <= mtu) {
      return this;
    }
    if (!amount.all && !amount.adaptable) {
      throw new PerfException(
          "Max message size in UD cannot be greater than MTU: -s %d, and the MTU is %d"
              .formatted(amount.size, mtu));
    }
    return with(new Amount(mtu, true, amount.all, amount.iterations, amount.span, amount.rate));
  }

  /** The same by time. */
  public Parameters lasting(Span span) {
    return with(
        new Amount(
            amount.size,
            amount.adaptable,
            amount.all,
            amount.iterations,
            Optional.of(span),
            amount.rate));
  }

  /** The same with a number of messages. */
  public Parameters of(long iterations) {
    return with(
        new Amount(
            amount.size, amount.adaptable, amount.all, iterations, Optional.empty(), amount.rate));
  }

  /**
   * The same with requests in lists, of which each has one completion, and carries what it sends in
   * itself where it can.
   *
   * @param list requests, at most the depth of the send queue
   */
  public Parameters inLists(int list) {
    Queues lists =
        new Queues(
            queues.pairs,
            queues.sendDepth,
            queues.receiveDepth,
            list,
            list,
            INLINE,
            queues.outstandingReads,
            queues.bidirectional,
            queues.events,
            queues.atomic);
    return new Parameters(test, type, amount, lists, route, report);
  }

  private Parameters with(Amount other) {
    return new Parameters(test, type, other, queues, route, report);
  }
}

package org.hghca.programs.pingpong;

import java.io.PrintWriter;
import java.lang.foreign.ValueLayout;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.hghca.programs.peer.ReadyDevice;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.MemorySlice;
import org.hghca.verbs.PortAttributes;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.VerbsException;

/**
 * The programs {@code ibv_rc_pingpong}, {@code ibv_uc_pingpong}, {@code ibv_ud_pingpong} and {@code
 * ibv_srq_pingpong}: the client sends the first message on each queue pair; a queue pair sends the
 * next one when it has received one and the one before has left.
 */
public final class Pingpong {
  /** Longest wait for an address of the peer. */
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private static final int MOST_QUEUE_PAIRS = 255;

  /** Of a page, whose first byte is checked. */
  private static final int PAGE_BYTES = 4096;

  private final Variant variant;
  private final Options options;
  private final Function<Gid, String> gidText;
  private final PrintWriter out;
  private final PrintWriter err;
  private int sent;
  private int received;

  /**
   * A program that has not run.
   *
   * @param gidText a GID as {@code inet_ntop} writes an IPv6 address
   */
  public Pingpong(
      Variant variant,
      Options options,
      Function<Gid, String> gidText,
      PrintWriter out,
      PrintWriter err) {
    this.variant = variant;
    this.options = options;
    this.gidText = gidText;
    this.out = out;
    this.err = err;
  }

  /** Runs it and returns its exit code, 0 for success. */
  public int run() throws InterruptedException {
    try {
      checkQueuePairs();
      try (Context context = open()) {
        checkSize(context);
        try (Queues queues = new Queues(context, variant, options)) {
          play(context, queues);
        }
      }
      return 0;
    } catch (StepFailedException e) {
      err.println(e.getMessage());
      if (e.getCause() != null) {
        err.println("hghca: " + e.getCause().getMessage());
      }
      return 1;
    }
  }

  private void checkQueuePairs() {
    int count = options.queuePairs();
    if (variant.shares() && count > options.depth()) {
      throw new StepFailedException(
          "rx_depth %d is too small for %d QPs -- must have at least one receive per QP."
              .formatted(options.depth(), count));
    }
    if (count > MOST_QUEUE_PAIRS) {
      throw new StepFailedException(
          "num_qp %d must be less than %d".formatted(count, MOST_QUEUE_PAIRS));
    }
  }

  private Context open() {
    String device = options.device();
    try {
      return ReadyDevice.open(device);
    } catch (VerbsException e) {
      String line =
          e.errno() == Errno.ENODEV ? "IB device %s not found" : "Couldn't get context for %s";
      throw new StepFailedException(line.formatted(device), e);
    }
  }

  /** A datagram is one packet. */
  private void checkSize(Context context) {
    if (variant == Variant.UD) {
      PortAttributes port =
          StepFailedException.make(
              "Unable to query port info for port %d".formatted(options.port()),
              () -> context.queryPort(options.port()));
      if (options.size() > port.activeMtu().bytes()) {
        throw new StepFailedException(
            "Requested size larger than port MTU (%d)".formatted(port.activeMtu().bytes()));
      }
    }
  }

  private void play(Context context, Queues queues) throws InterruptedException {
    queues.postReceives();
    queues.arm();
    connect(context, queues);
    if (options.server().isPresent()) {
      if (options.check()) {
        mark(queues.message());
      }
      queues.lanes().forEach(Lane::send);
    }
    long start = System.nanoTime();
    exchange(queues);
    printTimes(System.nanoTime() - start);
    if (options.check() && options.server().isEmpty()) {
      check(queues.message());
    }
  }

  private void connect(Context context, Queues queues) throws InterruptedException {
    PortAttributes port =
        StepFailedException.make("Couldn't get port info", () -> context.queryPort(options.port()));
    Gid gid = ownGid(context);
    List<QpEndpoint> own =
        queues.lanes().stream().map(lane -> lane.address(port.lid(), gid)).toList();
    own.forEach(one -> printAddress("local address:  ", variant.beforeOwnGid(), one));
    AddressExchange exchange =
        new AddressExchange(variant.addresses(), ReadyDevice.timeOf(context).stretch(PATIENCE));
    List<QpEndpoint> peers =
        options.server().isPresent()
            ? exchange.withServer(options.server().get(), options.tcpPort(), own)
            : exchange.withClient(options.tcpPort(), own, queues::connect);
    peers.stream().limit(own.size()).forEach(one -> printAddress("remote address: ", ", ", one));
    if (options.server().isPresent()) {
      queues.connect(peers);
    }
  }

  private Gid ownGid(Context context) {
    if (options.gidIndex().isEmpty()) {
      return Gid.NONE;
    }
    int index = options.gidIndex().getAsInt();
    return StepFailedException.make(
        variant.cannotReadGid(index), () -> context.queryGid(options.port(), index));
  }

  private void printAddress(String whose, String beforeGid, QpEndpoint one) {
    out.println(
        "  %sLID 0x%04x, QPN 0x%06x, PSN 0x%06x%sGID %s"
            .formatted(
                whose, one.lid(), one.qpNumber(), one.psn(), beforeGid, gidText.apply(one.gid())));
  }

  private void exchange(Queues queues) throws InterruptedException {
    Completions batch = new Completions(variant.shares() ? 2 * MOST_QUEUE_PAIRS : 2);
    while (received < options.iterations() || sent < options.iterations()) {
      int count = queues.await(batch);
      for (int i = 0; i < count; i++) {
        completed(queues, batch, i, count);
      }
    }
  }

  private void completed(Queues queues, Completions batch, int index, int count) {
    int id = (int) batch.wrId(index);
    if (!batch.isSuccess(index)) {
      String line =
          "Failed status %s (%d) for wr_id %d"
              .formatted(batch.status(index).text(), batch.status(index).code(), id);
      throw new StepFailedException(
          variant == Variant.RC
              ? line + System.lineSeparator() + "parse WC failed %d".formatted(count)
              : line);
    }
    if (id == Lane.RECEIVE) {
      queues.received();
      received++;
    } else {
      sent++;
    }
    Lane lane = queues.lane(batch.qpNumber(index));
    lane.completed(id);
    if (sent < options.iterations() && lane.isIdle()) {
      lane.send();
    }
  }

  /** Single precision for the time, as the originals have it. */
  private void printTimes(long nanos) {
    float micros = Math.max(1, nanos / 1000);
    long bytes = 2L * options.size() * options.iterations();
    int count = options.iterations();
    String seconds = fixed(micros / 1_000_000.0);
    out.println(
        "%d bytes in %s seconds = %s Mbit/sec"
            .formatted(bytes, seconds, fixed(bytes * 8.0 / micros)));
    out.println(
        "%d iters in %s seconds = %s usec/iter".formatted(count, seconds, fixed(micros / count)));
  }

  /** As printf's {@code %.2f}, which rounds the exact value. */
  private static String fixed(double value) {
    return new BigDecimal(value).setScale(2, RoundingMode.HALF_EVEN).toPlainString();
  }

  /** The first byte of each page is 0. */
  private static void mark(MemorySlice message) {
    for (long at = 0; at < message.length(); at += PAGE_BYTES) {
      message.segment().set(ValueLayout.JAVA_BYTE, at, (byte) 0);
    }
  }

  private void check(MemorySlice message) {
    for (long at = 0; at < message.length(); at += PAGE_BYTES) {
      if (message.segment().get(ValueLayout.JAVA_BYTE, at) != 0) {
        out.println("invalid data in page " + at / PAGE_BYTES);
      }
    }
  }
}

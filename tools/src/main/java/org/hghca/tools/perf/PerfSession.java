package org.hghca.tools.perf;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.hghca.verbs.Gid;
import org.hghca.verbs.Mtu;

/** One run of a program of perftest, from the conversation to the last row. Not thread-safe. */
public final class PerfSession {
  private static final int LARGEST_POWER = 23;

  private final Parameters asked;
  private final Device device;
  private final PrintWriter out;
  private final PrintWriter err;
  private final Consumer<Figure> figures;
  private final Watcher watcher;
  private final List<Course> courses = new ArrayList<>();
  private final boolean full;
  private final boolean silent;
  private final Limits limits;
  private final PerfDocument document = new PerfDocument();
  private boolean withinLimits = true;

  /**
   * A run on a device.
   *
   * @param out gets header and rows
   * @param err gets warnings
   * @param figures gets each row
   * @param watcher is told of each measurement of this side
   */
  public PerfSession(
      Parameters parameters,
      Device device,
      PrintWriter out,
      PrintWriter err,
      Consumer<Figure> figures,
      Watcher watcher) {
    this.asked = parameters;
    this.device = device;
    this.out = out;
    this.err = err;
    this.figures = figures;
    this.watcher = watcher;
    silent = parameters.report().silent();
    full = parameters.report().only().isEmpty();
    limits = parameters.report().limits();
  }

  /**
   * Runs it. An interrupt ends the measurement, whose figures so far are printed.
   *
   * @param server its host; empty to be the server
   * @param port of the TCP connection
   * @return whether it came to its end
   * @throws PerfException when it cannot begin, or fails
   * @throws org.hghca.tools.peer.PeerException when the peer does
   */
  public boolean run(Optional<String> server, int port) throws InterruptedException {
    if (asked.test().verb() == Verb.ATOMIC && !device.context().queryDevice().atomics()) {
      throw new PerfException(
          "%s needs atomics, which %s has not".formatted(asked.test().program(), device.name()));
    }
    if (server.isEmpty()) {
      print("");
      print("************************************");
      print("* Waiting for client to connect... *");
      print("************************************");
    }
    try (Medium medium = open(server, port)) {
      Conversation conversation = new Conversation(medium, server.isPresent());
      try (Resources resources = agree(conversation)) {
        if (!asked.route().meeting().connects()) {
          resources.makePairs();
          return measure(conversation, resources);
        }
        try (CmPairs pairs = CmPairs.of(resources, server, port)) {
          conversation.meetUnconnected();
          pairs.connect();
          conversation.meetUnconnected();
          boolean whole = measure(conversation, resources);
          if (whole) {
            pairs.disconnect();
          }
          return whole;
        }
      }
    }
  }

  /**
   * The same with the other side in this process.
   *
   * @param client whether this side is the client
   */
  boolean run(Medium medium, boolean client) throws InterruptedException {
    Conversation conversation = new Conversation(medium, client);
    try (Resources resources = agree(conversation)) {
      resources.makePairs();
      return measure(conversation, resources);
    }
  }

  /** What both sides have in common decides what this side needs. */
  private Resources agree(Conversation conversation) throws InterruptedException {
    PerfVersion peer = conversation.exchangeVersions();
    if (peer.ours()) {
      Agreement own = Agreement.of(asked);
      own.check(conversation.exchange(own));
    }
    Conversation.Layout layout = conversation.exchangeLayouts();
    Mtu mtu = conversation.exchangeMtus(device.mtu());
    return new Resources(asked.within(mtu.bytes()), device, mtu, layout);
  }

  private Medium open(Optional<String> server, int port) throws InterruptedException {
    Duration soon = Conversation.SOON;
    if (asked.route().meeting().talks()) {
      return server.isPresent()
          ? CmMedium.connect(device, server.get(), port)
          : CmMedium.accept(device, port);
    }
    return server.isPresent()
        ? TcpMedium.connect(server.get(), port, soon)
        : TcpMedium.accept(port, soon);
  }

  /** From the header on, when the queue pairs are made. */
  private boolean measure(Conversation conversation, Resources resources)
      throws InterruptedException {
    Mtu mtu = resources.mtu();
    Parameters parameters = resources.parameters();
    boolean client = conversation.isClient();
    Header.of(parameters, resources, client, mtu).forEach(this::print);
    document.info(parameters, resources, client, mtu);
    return new Exchange(conversation, parameters, resources).run();
  }

  private void print(String line) {
    if (full) {
      show(line);
    }
  }

  private void show(String line) {
    if (!silent) {
      out.println(line);
      out.flush();
    }
  }

  /** What was measured so far. */
  public PerfDocument document() {
    return document;
  }

  /** The rates over the time of what was measured by time, except of endless runs. */
  public List<Course> courses() {
    return courses;
  }

  /** Whether all results reached the limits. */
  public boolean isWithinLimits() {
    return withinLimits;
  }

  private void record(Figure figure) {
    figures.accept(figure);
    document.add(figure);
    for (String what : limits.missedBy(figure)) {
      withinLimits = false;
      err.println("%s: %s".formatted(asked.test().program(), what));
    }
  }

  /** What happens between the header and the end. */
  private final class Exchange {
    private final Conversation conversation;
    private final Parameters parameters;
    private final Resources resources;
    private final boolean client;
    private final PerfTest test;
    private final boolean gigabits;
    private boolean interrupted;

    Exchange(Conversation conversation, Parameters parameters, Resources resources) {
      this.conversation = conversation;
      this.parameters = parameters;
      this.resources = resources;
      client = conversation.isClient();
      test = parameters.test();
      gigabits = parameters.report().gigabits();
    }

    boolean run() throws InterruptedException {
      boolean send = test.verb() == Verb.SEND;
      if (!test.isBandwidth() && !send) {
        meet();
      }
      List<PeerAddress> peers = exchangeAddresses();
      if (!parameters.route().meeting().connects()) {
        check(peers.getFirst());
      }
      resources.connect(peers);
      if (send) {
        meet();
      }
      for (PeerAddress own : resources.addresses()) {
        Header.of("local", own, test.verb()).forEach(PerfSession.this::print);
      }
      for (PeerAddress peer : exchangeAddresses()) {
        Header.of("remote", peer, test.verb()).forEach(PerfSession.this::print);
      }
      if (!send) {
        meet();
      }
      if (test.isBandwidth()) {
        measureBandwidth();
      } else {
        measureLatency();
      }
      return !interrupted;
    }

    private List<PeerAddress> exchangeAddresses() throws InterruptedException {
      List<PeerAddress> peers = new ArrayList<>();
      for (PeerAddress own : resources.addresses()) {
        peers.add(conversation.exchange(own));
      }
      return peers;
    }

    /** Neither side goes on before the other is here. */
    private void meet() throws InterruptedException {
      PeerAddress _ = conversation.exchange(resources.addresses().getFirst());
    }

    private void check(PeerAddress peer) {
      Gid own = device.gid();
      Gid other = peer.gid().orElseThrow();
      if (own.ipv4().isPresent() != other.ipv4().isPresent()) {
        throw new PerfException(
            "Found Incompatibility issue with GID types: %s here, %s there; choose others by -x"
                .formatted(own, other));
      }
    }

    private List<Long> sizes() {
      if (!parameters.amount().all() || test.verb() == Verb.ATOMIC) {
        return List.of(parameters.amount().size());
      }
      long largest = resources.parameters().largest();
      List<Long> sizes = new ArrayList<>();
      for (int power = 1; power <= LARGEST_POWER && 1L << power <= largest; power++) {
        sizes.add(1L << power);
      }
      return sizes;
    }

    private void measureBandwidth() throws InterruptedException {
      print(Columns.LINE);
      print(Columns.bandwidth(gigabits));
      if (test.verb() == Verb.SEND) {
        measureSends();
      } else if (!client && !parameters.isBidirectional()) {
        meet();
        BandwidthReport peer = conversation.exchange(new BandwidthReport(0, 0, 0, 0, 0));
        compare(peer);
        row(peer);
      } else {
        measureRequests();
      }
      if (!interrupted) {
        meet();
      }
      print(Columns.LINE);
    }

    private void measureSends() throws InterruptedException {
      boolean all = parameters.amount().all();
      boolean shared = parameters.isBidirectional() && parameters.amount().span().isEmpty();
      for (long size : sizes()) {
        BandwidthRun run = new BandwidthRun(resources, client, size);
        meet();
        BandwidthReport own = measure(run);
        if (interrupted) {
          row(own);
          return;
        }
        row(shared ? own.plus(conversation.exchange(own)) : own);
        if (all) {
          meet();
        }
      }
    }

    private void measureRequests() throws InterruptedException {
      boolean both = parameters.isBidirectional();
      BandwidthReport own = new BandwidthReport(0, 0, 0, 0, 0);
      for (long size : sizes()) {
        BandwidthRun run = new BandwidthRun(resources, client, size);
        if (both) {
          meet();
        }
        own = measure(run);
        if (interrupted) {
          row(own);
          return;
        }
        if (both && parameters.amount().all() && test.verb() != Verb.ATOMIC) {
          meet();
        }
        row(both ? own.plus(conversation.exchange(own)) : own);
      }
      if (!both) {
        meet();
        BandwidthReport _ = conversation.exchange(own);
      }
    }

    private BandwidthReport measure(BandwidthRun run) {
      watcher.begins(run.progress());
      BandwidthResult result =
          run.run(
              each -> {
                watcher.ends();
                row(each.report(gigabits));
                watcher.begins(run.progress());
              });
      watcher.ends();
      keep(run.course());
      interrupted = Thread.interrupted();
      return result.report(gigabits);
    }

    private void keep(Optional<Course> course) {
      if (parameters.amount().span().filter(span -> !span.endless()).isPresent()) {
        course.ifPresent(courses::add);
      }
    }

    private void row(BandwidthReport report) {
      record(report);
      Optional<Parameters.Only> only = parameters.report().only();
      show(
          only.map(
                  what ->
                      "%f"
                          .formatted(
                              what == Parameters.Only.MESSAGE_RATE
                                  ? report.messageRate()
                                  : report.average()))
              .orElse(Columns.row(report, gigabits)));
    }

    /** A client of perftest tells its size only with its figures. */
    private void compare(BandwidthReport peer) {
      if (peer.size() != parameters.largest() && test.verb() != Verb.ATOMIC) {
        err.println(
            "%s: the client measured messages of %d bytes; this server was started for %d"
                .formatted(test.program(), peer.size(), parameters.largest()));
      }
    }

    private void measureLatency() throws InterruptedException {
      boolean answers = test.verb().isRequest();
      if (answers && !client) {
        meet();
        print(Columns.LINE);
        return;
      }
      boolean timed = parameters.amount().span().isPresent();
      print(Columns.LINE);
      print(timed ? Columns.LATENCY_BY_TIME : Columns.LATENCY);
      for (long size : sizes()) {
        LatencyRun run = new LatencyRun(resources, client, size);
        if (test.verb() == Verb.SEND) {
          meet();
        }
        watcher.begins(run.progress());
        if (timed) {
          DurationLatency result = run.runFor(parameters.amount().span().get());
          watcher.ends();
          keep(run.course());
          row(result);
        } else {
          Optional<LatencyResult> result = run.run();
          watcher.ends();
          result.ifPresent(this::row);
        }
        interrupted = Thread.interrupted();
        if (interrupted) {
          break;
        }
      }
      if (test.verb() == Verb.WRITE) {
        leave();
      } else if (!interrupted) {
        meet();
      }
      print(Columns.LINE);
    }

    /** Where perftest has no exchange at the end; the connection manager ends it by itself. */
    private void leave() throws InterruptedException {
      if (!parameters.route().meeting().connects()) {
        conversation.leave();
      }
    }

    private void row(LatencyResult result) {
      record(result);
      if (!full) {
        show("%f".formatted(result.average()));
        return;
      }
      Parameters.Report report = parameters.report();
      if (report.unsorted()) {
        list(result.samples());
      }
      if (report.sorted()) {
        list(result.sorted());
      }
      if (report.unsorted() || report.sorted()) {
        print(Columns.LINE);
        print(Columns.LATENCY);
      }
      print(Columns.row(result));
    }

    private void list(double[] samples) {
      print("#, usec");
      for (int i = 0; i < samples.length; i++) {
        print("%d, %s".formatted(i + 1, Columns.general(samples[i])));
      }
    }

    private void row(DurationLatency result) {
      record(result);
      show(full ? Columns.row(result) : "%f".formatted(result.average()));
    }
  }
}

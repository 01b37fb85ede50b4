package org.hghca.programs.perf.session;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.PerfException;
import org.hghca.programs.perf.Verb;
import org.hghca.programs.perf.medium.Agreement;
import org.hghca.programs.perf.medium.ClientAmount;
import org.hghca.programs.perf.medium.CmMedium;
import org.hghca.programs.perf.medium.Conversation;
import org.hghca.programs.perf.medium.Device;
import org.hghca.programs.perf.medium.Medium;
import org.hghca.programs.perf.medium.PerfVersion;
import org.hghca.programs.perf.medium.TcpMedium;
import org.hghca.programs.perf.result.Course;
import org.hghca.programs.perf.result.Figure;
import org.hghca.programs.perf.run.Contents;
import org.hghca.programs.perf.run.Resources;
import org.hghca.programs.perf.run.Watcher;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.DeviceQuirk;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;

/** One run of a program of perftest, from the conversation to the last row. Not thread-safe. */
public final class PerfSession {
  private final ClientAmount.Taker taker;
  private final Device device;
  private final Output output;
  private final Watcher watcher;

  /** What is asked for; at a server with the client's amount, once that is known. */
  private Parameters asked;

  /** Why this server cannot take its client's amount. */
  private Optional<PerfException> refusal = Optional.empty();

  /** Whether the peer is of this program, so that its messages have known contents. */
  private boolean ours;

  /** Whether both sides say that they offer memory for the PSN wrap. */
  private boolean offers;

  /**
   * A run on a device.
   *
   * @param taker leaves to a client what the parameters of a server do not name
   * @param out gets header and rows
   * @param err gets warnings
   * @param figures gets each row
   * @param watcher is told of each measurement of this side
   */
  public PerfSession(
      Parameters parameters,
      ClientAmount.Taker taker,
      Device device,
      PrintWriter out,
      PrintWriter err,
      Consumer<Figure> figures,
      Watcher watcher) {
    this.asked = parameters;
    this.taker = taker;
    this.device = device;
    this.watcher = watcher;
    output = new Output(parameters, out, err, figures);
  }

  /**
   * Runs it. An interrupt ends the measurement, whose figures so far are printed.
   *
   * @param server its host; empty to be the server
   * @param port of the TCP connection
   * @return whether it came to its end
   * @throws PerfException when it cannot begin, or fails
   * @throws org.hghca.programs.peer.PeerException when the peer does
   */
  public boolean run(Optional<String> server, int port) throws InterruptedException {
    if (asked.test().verb() == Verb.ATOMIC && !device.context().queryDevice().atomics()) {
      throw new PerfException(
          "%s needs atomics, which %s has not".formatted(asked.test().program(), device.name()));
    }
    if (asked.route().multicast().isPresent()
        && asked.receives(server.isPresent())
        && !device.context().queryDevice().has(DeviceFeature.MULTICAST)) {
      throw new PerfException(
          "-g needs multicast groups, which %s has not".formatted(device.name()));
    }
    if (server.isEmpty()) {
      output.print("");
      output.print("************************************");
      output.print("* Waiting for client to connect... *");
      output.print("************************************");
    }
    try (Medium medium = open(server, port)) {
      Conversation conversation = new Conversation(medium, server.isPresent());
      try (Resources resources = agree(conversation)) {
        if (!asked.route().meeting().connects()) {
          makePairs(conversation, resources);
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
   * The same with a peer that has been found.
   *
   * @param client whether this side is the client
   */
  public boolean run(Medium medium, boolean client) throws InterruptedException {
    Conversation conversation = new Conversation(medium, client);
    try (Resources resources = agree(conversation)) {
      makePairs(conversation, resources);
      return measure(conversation, resources);
    }
  }

  /** What both sides have in common decides what this side needs. */
  private Resources agree(Conversation conversation) throws InterruptedException {
    PerfVersion peer = conversation.exchangeVersions();
    ours = peer.ours();
    if (ours) {
      Agreement other =
          conversation.exchange(
              client -> {
                client.ifPresent(this::leaveTo);
                return agreement();
              });
      if (refusal.isPresent()) {
        throw refusal.get();
      }
      Agreement own = agreement();
      own.check(other);
      offers = own.offersWrapMemory() && other.offersWrapMemory();
    }
    Conversation.Layout layout = conversation.exchangeLayouts();
    Mtu mtu = conversation.exchangeMtus(device.mtu());
    return new Resources(asked.within(mtu.bytes()), device, mtu, layout);
  }

  /** A server takes what its client has; where it cannot, the client finds that they differ. */
  private void leaveTo(Agreement client) {
    if (!agreement().isOfTheProgramOf(client)) {
      return;
    }
    try {
      asked = taker.take(client.amount());
      output.of(asked);
    } catch (PerfException e) {
      refusal = Optional.of(e);
    }
  }

  /** The connection manager exchanges the offers of the queue pairs that it connects. */
  private Agreement agreement() {
    Agreement plain = Agreement.of(asked);
    boolean offering =
        asked.type() == QpType.RC
            && !asked.route().meeting().connects()
            && device.context().queryDevice().has(DeviceQuirk.NO_PSN_WRAP);
    return offering ? plain.withWrapMemory() : plain;
  }

  private void makePairs(Conversation conversation, Resources resources)
      throws InterruptedException {
    resources.makePairs();
    if (offers) {
      for (QueuePair pair : resources.pairs()) {
        conversation.exchange(pair.offerWrapMemory()).ifPresent(pair::takeWrapMemory);
      }
    }
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
    Header.of(parameters, resources, client, mtu).forEach(output::print);
    output.document().info(parameters, resources, client, mtu);
    Contents contents = new Contents(resources, client);
    contents.fill();
    boolean whole = new Exchange(conversation, resources, output, watcher).run();
    if (whole && ours) {
      contents.check();
    }
    return whole;
  }

  /** What is measured. */
  public Parameters parameters() {
    return asked;
  }

  /** What was measured so far. */
  public PerfDocument document() {
    return output.document();
  }

  /** The rates over the time of what was measured by time, except of endless runs. */
  public List<Course> courses() {
    return output.courses();
  }

  /** Whether all results reached the limits. */
  public boolean isWithinLimits() {
    return output.isWithinLimits();
  }
}

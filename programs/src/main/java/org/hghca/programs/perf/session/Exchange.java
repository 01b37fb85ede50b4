package org.hghca.programs.perf.session;

import java.util.ArrayList;
import java.util.List;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.PerfException;
import org.hghca.programs.perf.PerfTest;
import org.hghca.programs.perf.Verb;
import org.hghca.programs.perf.medium.Conversation;
import org.hghca.programs.perf.medium.PeerAddress;
import org.hghca.programs.perf.run.Resources;
import org.hghca.programs.perf.run.Watcher;
import org.hghca.verbs.Gid;

/** What happens between the two sides, from the header to the end. Not thread-safe. */
final class Exchange {
  private static final int LARGEST_POWER = 23;

  private final Conversation conversation;
  private final Resources resources;
  private final Parameters parameters;
  private final Output output;
  private final Watcher watcher;
  private final boolean client;

  Exchange(Conversation conversation, Resources resources, Output output, Watcher watcher) {
    this.conversation = conversation;
    this.resources = resources;
    this.output = output;
    this.watcher = watcher;
    parameters = resources.parameters();
    client = conversation.isClient();
  }

  /**
   * Connects the queue pairs, unless the connection manager has, and measures.
   *
   * @return whether it came to its end; otherwise the thread was interrupted
   */
  boolean run() throws InterruptedException {
    PerfTest test = parameters.test();
    boolean send = test.verb() == Verb.SEND;
    if (!test.isBandwidth() && !send) {
      meet();
    }
    if (parameters.receives(client)) {
      parameters
          .route()
          .multicast()
          .ifPresent(multicast -> resources.join(multicast.of(resources.device().gid(), client)));
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
      Header.of(false, own, parameters, client).forEach(output::print);
    }
    for (PeerAddress peer : exchangeAddresses()) {
      Header.of(true, peer, parameters, client).forEach(output::print);
    }
    if (!send) {
      meet();
    }
    return test.isBandwidth()
        ? new ThroughputTest(this, resources, output, watcher).run()
        : new LatencyTest(this, resources, output, watcher).run();
  }

  private List<PeerAddress> exchangeAddresses() throws InterruptedException {
    List<PeerAddress> peers = new ArrayList<>();
    for (PeerAddress own : resources.addresses()) {
      peers.add(conversation.exchange(own));
    }
    return peers;
  }

  private void check(PeerAddress peer) {
    Gid own = resources.device().gid();
    Gid other = peer.gid().orElseThrow();
    if (own.ipv4().isPresent() != other.ipv4().isPresent()) {
      throw new PerfException(
          "Found Incompatibility issue with GID types: %s here, %s there; choose others by -x"
              .formatted(own, other));
    }
    if (other.isMulticast() && other.equals(resources.addresses().getFirst().gid().orElseThrow())) {
      throw new PerfException(
          "both sides receive in the group %s, and so their own messages: give them different ones by -M"
              .formatted(other));
    }
  }

  /** What the two sides say to each other. */
  Conversation conversation() {
    return conversation;
  }

  /** Neither side goes on before the other is here. */
  void meet() throws InterruptedException {
    PeerAddress _ = conversation.exchange(resources.addresses().getFirst());
  }

  /** The sizes of messages that are measured, in their order. */
  List<Long> sizes() {
    if (!parameters.amount().all()) {
      return List.of(parameters.amount().size());
    }
    long largest = parameters.largest();
    List<Long> sizes = new ArrayList<>();
    for (int power = 1; power <= LARGEST_POWER && 1L << power <= largest; power++) {
      sizes.add(1L << power);
    }
    return sizes;
  }
}

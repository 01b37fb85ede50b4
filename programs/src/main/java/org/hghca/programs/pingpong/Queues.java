package org.hghca.programs.pingpong;

import static org.hghca.programs.pingpong.StepFailedException.make;
import static org.hghca.programs.pingpong.StepFailedException.run;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.hghca.programs.Opened;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.Context;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.MemorySlice;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SharedReceiveQueue;
import org.hghca.verbs.SharedReceiveQueueConfig;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.GiveWay;

/**
 * What a ping-pong has on the device: queue pairs with one completion queue, and memory for one
 * message, which all requests share.
 */
final class Queues implements AutoCloseable {
  private static final int POLLS_BETWEEN_YIELDS = GiveWay.looks(200);

  /** A port has no more; what has been asked for beyond it fails when that GID is read. */
  private static final int LAST_GID_INDEX = 255;

  private final Variant variant;
  private final Options options;
  private final ConnectionOptions connection;
  private final Optional<CompletionChannel> channel;
  private final ProtectionDomain domain;
  private final MemorySlice message;
  private final CompletionQueue completions;
  private final Optional<SharedReceiveQueue> shared;
  private final List<Lane> lanes = new ArrayList<>();
  private final Map<Integer, Lane> byNumber = new HashMap<>();
  private final ReceiveRequest receive = new ReceiveRequest(1).wrId(Lane.RECEIVE);
  private int receives;

  private final Opened opened = new Opened();

  /**
   * Makes everything, with queue pairs in INIT.
   *
   * @throws StepFailedException when the device refuses something
   */
  Queues(Context context, Variant variant, Options options) {
    this.variant = variant;
    this.options = options;
    connection =
        ConnectionOptions.DEFAULT
            .withPort(options.port())
            .withGidIndex(Math.min(options.gidIndex().orElse(0), LAST_GID_INDEX))
            .withPathMtu(options.mtu())
            .withServiceLevel(options.serviceLevel())
            .withHopLimit(variant.hopLimit())
            .withAccess();
    try {
      channel = options.events() ? Optional.of(createChannel(context)) : Optional.empty();
      domain = opened.add(make("Couldn't allocate PD", context::allocateProtectionDomain));
      int header = variant.header();
      long bytes = (long) header + options.size();
      MemoryRegion region =
          opened.add(
              make("Couldn't register MR", () -> domain.allocate(bytes, AccessFlag.LOCAL_WRITE)));
      region.segment().fill(variant.fill());
      receive.into(region);
      message = region.slice(header, options.size());
      completions = opened.add(make("Couldn't create CQ", () -> createQueue(context)));
      shared = variant.shares() ? Optional.of(createShared()) : Optional.empty();
      for (int i = 0; i < options.queuePairs(); i++) {
        addLane(variant.queuePair(i));
      }
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  private CompletionChannel createChannel(Context context) {
    return opened.add(make("Couldn't create completion channel", context::createCompletionChannel));
  }

  private CompletionQueue createQueue(Context context) {
    CompletionQueueConfig config = CompletionQueueConfig.of(options.depth() + options.queuePairs());
    return context.createCompletionQueue(channel.map(config::withChannel).orElse(config));
  }

  private SharedReceiveQueue createShared() {
    SharedReceiveQueueConfig config = SharedReceiveQueueConfig.of(options.depth(), 1);
    return opened.add(make("Couldn't create SRQ", () -> domain.createSharedReceiveQueue(config)));
  }

  private void addLane(String name) {
    QueuePairConfig plain =
        QueuePairConfig.of(variant.type(), completions, completions).sendDepth(1);
    QueuePairConfig config =
        shared.map(plain::sharedReceiveQueue).orElseGet(() -> plain.receiveDepth(options.depth()));
    QueuePair queuePair =
        opened.add(make("Couldn't create " + name, () -> domain.createQueuePair(config)));
    run(
        "Failed to modify %s to INIT".formatted(name),
        () -> queuePair.modify(connection.toInit(variant.type())));
    Lane lane = new Lane(queuePair, variant.type(), name, message);
    lanes.add(lane);
    byNumber.put(queuePair.number(), lane);
  }

  List<Lane> lanes() {
    return lanes;
  }

  Lane lane(int number) {
    return byNumber.get(number);
  }

  /** The memory that messages are received into and sent from. */
  MemorySlice message() {
    return message;
  }

  /** Connects each queue pair with its peer, or creates the address handles of datagrams. */
  void connect(List<QpEndpoint> peers) {
    for (int i = 0; i < lanes.size(); i++) {
      Lane lane = lanes.get(i);
      lane.connect(connection, peers.get(i));
      if (variant.type() == QpType.UD) {
        AddressHandle _ = opened.add(lane.addressDatagrams(domain, connection, peers.get(i)));
      }
    }
  }

  /** Posts receives until as many are outstanding as there should be. */
  void postReceives() {
    while (receives < options.depth()) {
      run(
          "Couldn't post receive (%d)".formatted(receives),
          () ->
              shared.ifPresentOrElse(
                  queue -> queue.postReceive(receive),
                  () -> lanes.getFirst().queuePair().postReceive(receive)));
      receives++;
    }
  }

  /** A receive has completed; others are posted before there are none for a queue pair. */
  void received() {
    receives--;
    if (receives <= lanes.size()) {
      postReceives();
    }
  }

  void arm() {
    if (channel.isPresent()) {
      run("Couldn't request CQ notification", () -> completions.requestNotify(false));
    }
  }

  /** Waits for completions; when the queue is to be slept at, it is armed. */
  int await(Completions batch) throws InterruptedException {
    int polls = 0;
    while (true) {
      int count = make("poll CQ failed -1", () -> completions.poll(batch));
      if (count > 0) {
        return count;
      }
      if (channel.isPresent()) {
        awaitEvent(channel.get());
      } else if (++polls % POLLS_BETWEEN_YIELDS == 0) {
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
        Thread.yield(); // if cores are scarce, the software HCA may need this one
      } else {
        Thread.onSpinWait();
      }
    }
  }

  private void awaitEvent(CompletionChannel sleeping) throws InterruptedException {
    try {
      CompletionQueue _ = sleeping.await();
    } catch (VerbsException e) {
      throw new StepFailedException("Failed to get cq_event", e);
    }
    arm();
  }

  @Override
  public void close() {
    opened.close();
  }
}

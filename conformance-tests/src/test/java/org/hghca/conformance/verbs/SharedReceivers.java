package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Context;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.FeatureSupport;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.SharedReceiveQueue;
import org.hghca.verbs.SharedReceiveQueueConfig;

/**
 * Senders on the left, each connected to a receiver on the right; the receivers share one receive
 * queue and one completion queue. A receive's {@code wr_id} is the index of its part of the right
 * buffer.
 */
final class SharedReceivers implements AutoCloseable {
  /** Makes the driver use no extension of the software HCA. */
  static final String DEALT = "&as=s";

  final Fabric fabric;
  final RcSetup setup;
  final ProtectionDomain leftPd;
  final ProtectionDomain pd;
  final CompletionQueue sent;
  final CompletionChannel channel;
  final CompletionQueue received;
  final CompletionQueue other;
  final SharedReceiveQueue srq;
  final List<QueuePair> senders = new ArrayList<>();
  final List<QueuePair> receivers = new ArrayList<>();
  final MemoryRegion source;
  final MemoryRegion sink;
  final int piece;
  private final SendRequest send = new SendRequest();
  private final ReceiveRequest receive = new ReceiveRequest();

  /** The devices under test, or software HCAs whose shared receives the driver deals. */
  static Fabric dealing() {
    return System.getProperty("hghca.device", "").isEmpty() ? Fabric.inline(DEALT) : Fabric.open();
  }

  /**
   * Whether the driver deals the requests of a device. Only where that is {@link
   * FeatureSupport#SOFTWARE} do its queue pairs keep some of them.
   */
  static boolean areDealt(Context context) {
    return context.queryDevice().features().get(DeviceFeature.SHARED_RECEIVE_QUEUES)
        == FeatureSupport.SOFTWARE;
  }

  SharedReceivers(Fabric fabric, RcSetup setup, int capacity, int count, int piece) {
    this.fabric = fabric;
    this.setup = setup;
    this.piece = piece;
    leftPd = fabric.left().allocateProtectionDomain();
    pd = fabric.right().allocateProtectionDomain();
    sent = fabric.left().createCompletionQueue(setup.depth());
    channel = fabric.right().createCompletionChannel();
    received =
        fabric
            .right()
            .createCompletionQueue(CompletionQueueConfig.of(capacity).withChannel(channel));
    other = fabric.right().createCompletionQueue(setup.depth());
    srq = pd.createSharedReceiveQueue(SharedReceiveQueueConfig.of(capacity, 1));
    source = leftPd.allocate((long) capacity * piece, Side.ALL);
    sink = pd.allocate((capacity + 1L) * piece, Side.ALL);
    for (int i = 0; i < count; i++) {
      senders.add(leftPd.createQueuePair(setup.apply(QueuePairConfig.rc(sent, sent))));
      receivers.add(receiver());
      RcPair.connect(setup, senders.get(i), receivers.get(i));
    }
  }

  QueuePair receiver() {
    return pd.createQueuePair(
        setup.apply(QueuePairConfig.rc(other, received)).sharedReceiveQueue(srq));
  }

  boolean tryPost(long wrId) {
    return srq.tryPostReceive(receive.wrId(wrId).into(sink, wrId * piece, piece));
  }

  void post(int from, int end) {
    for (int i = from; i < end; i++) {
      assertThat(tryPost(i)).as("request %d is taken", i).isTrue();
    }
  }

  void send(int sender, long wrId, long offset, long length) {
    senders.get(sender).postSend(send.wrId(wrId).send().sge(source, offset, length).signaled());
  }

  void send(int sender) {
    send(sender, 0, 0, 8);
  }

  List<Wc> received(int count) {
    return Wc.await(fabric, received, count);
  }

  /** Waits for one or more completions of receives. */
  List<Wc> someReceived() {
    List<Wc> found = new ArrayList<>();
    fabric.await(
        () -> {
          found.addAll(Wc.drain(received));
          return !found.isEmpty();
        },
        () -> "nothing was received");
    return found;
  }

  List<Wc> sent(int count) {
    return Wc.await(fabric, sent, count);
  }

  /** As {@link #events()}, but waits for at least one. */
  List<AsyncEventType> events(int count) {
    List<AsyncEventType> types = new ArrayList<>();
    fabric.await(
        () -> {
          types.addAll(events());
          return types.size() >= count;
        },
        () -> "events: " + types);
    return types;
  }

  /** The pending events of shared receive queues; other events are consumed too. */
  List<AsyncEventType> events() {
    List<AsyncEventType> types = new ArrayList<>();
    for (var next = fabric.right().asyncEvents().poll();
        next.isPresent();
        next = fabric.right().asyncEvents().poll()) {
      AsyncEvent event = next.get();
      if (event.type() == AsyncEventType.SRQ_LIMIT_REACHED
          || event.type() == AsyncEventType.QP_LAST_WQE_REACHED) {
        types.add(event.type());
      }
      event.acknowledge();
    }
    return types;
  }

  @Override
  public void close() {
    senders.forEach(QueuePair::close);
    receivers.forEach(QueuePair::close);
    source.close();
    sink.close();
    srq.close();
    sent.close();
    received.close();
    channel.close();
    other.close();
    leftPd.close();
    pd.close();
    fabric.close();
  }
}

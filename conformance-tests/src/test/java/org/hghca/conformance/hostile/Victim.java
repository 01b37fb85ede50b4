package org.hghca.conformance.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.Context;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.Reregistration;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.SharedReceiveQueue;
import org.hghca.verbs.SharedReceiveQueueConfig;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WcStatus;

/**
 * A program on a faulty device: two reliable queue pairs that are connected to each other, and one
 * of each type that is connected to itself; the reliable one among those has atomics and shares its
 * receives. A channel reports their completions.
 */
final class Victim implements AutoCloseable {
  static final Duration LIMIT = Duration.ofMillis(30);

  /** The number of completions that {@link #sendOthers} produces. */
  static final int OTHERS = 7;

  /** For events of the event thread, which checks at least twice a second. */
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private static final AtomicInteger NAMES = new AtomicInteger();
  private static final int SIZE = 4096;

  /** Bytes of a message to itself, with room for the header of a datagram. */
  private static final int SHORT = 64;

  private static final int HEADER = 40;

  /** Offsets at which the others receive, and of their atomics. */
  private static final int SINK = 2 * SIZE;

  private static final int COUNTER = SINK + 1024;
  private static final int QKEY = 0x11111111;
  private static final AccessFlag[] ACCESS = {
    AccessFlag.LOCAL_WRITE,
    AccessFlag.REMOTE_WRITE,
    AccessFlag.REMOTE_READ,
    AccessFlag.REMOTE_ATOMIC
  };
  private static final ConnectionOptions OPTIONS = ConnectionOptions.DEFAULT.withAccess(ACCESS);

  /** Created objects, newest first. */
  private final ArrayDeque<AutoCloseable> made = new ArrayDeque<>();

  private final String name;
  Context context;
  CompletionQueue queue;
  QueuePair left;
  QueuePair right;
  MemoryRegion buffer;
  CompletionChannel channel;
  CompletionQueue told;
  SharedReceiveQueue shared;
  QueuePair sharer;
  QueuePair unreliable;
  QueuePair datagram;
  private AddressHandle toItself;
  private int sent;

  private Victim(String name) {
    this.name = name;
  }

  /** A name that no device uses yet. */
  static String newName() {
    return "hostile" + NAMES.incrementAndGet();
  }

  private static String locator(String name) {
    return "hostile:%s?mode=inline&mac=02:00:00:00:00:01&ip=10.0.0.1&limit=%s"
        .formatted(name, LIMIT);
  }

  /** Opens a device and creates everything that traffic needs; on failure nothing stays open. */
  static Victim open(String name) {
    Victim victim = new Victim(name);
    try {
      victim.make();
      return victim;
    } catch (RuntimeException e) {
      victim.closeQuietly(e);
      throw e;
    }
  }

  private <T extends AutoCloseable> T made(T object) {
    made.push(object);
    return object;
  }

  private void make() {
    context = made(RdmaDevices.open(locator(name)));
    ProtectionDomain pd = made(context.allocateProtectionDomain());
    queue = made(context.createCompletionQueue(16));
    buffer = made(pd.allocate(3 * SIZE, ACCESS));
    left = made(pd.createQueuePair(attributes()));
    right = made(pd.createQueuePair(attributes()));
    connect(left, right);
    connect(right, left);
    channel = made(context.createCompletionChannel());
    told = made(context.createCompletionQueue(CompletionQueueConfig.of(32).withChannel(channel)));
    shared = made(pd.createSharedReceiveQueue(SharedReceiveQueueConfig.of(16, 1)));
    sharer = made(pd.createQueuePair(small(QpType.RC).sharedReceiveQueue(shared)));
    unreliable = made(pd.createQueuePair(small(QpType.UC)));
    datagram = made(pd.createQueuePair(small(QpType.UD)));
    for (QueuePair qp : List.of(sharer, unreliable, datagram)) {
      connect(qp, qp);
    }
    toItself = made(pd.createAddressHandle(AddressVector.to(context.queryGid(1, 0), 0)));
  }

  private QueuePairConfig attributes() {
    return QueuePairConfig.rc(queue, queue).sendDepth(16).receiveDepth(16);
  }

  private QueuePairConfig small(QpType type) {
    return QueuePairConfig.of(type, told, told).sendDepth(8).receiveDepth(8);
  }

  /** Takes a queue pair from RESET to RTS. */
  void connect(QueuePair qp, QueuePair peer) {
    qp.modify(OPTIONS.toInit(qp.type()));
    qp.modify(
        OPTIONS.toRtr(qp.type(), new QpEndpoint(0, peer.number(), 0, context.queryGid(1, 0))));
    qp.modify(OPTIONS.toRts(qp.type(), 0));
  }

  List<QueuePair> queuePairs() {
    return List.of(left, right, sharer, unreliable, datagram);
  }

  Saboteur device() {
    return HostileProvider.device(name);
  }

  /** One message of each kind; checks that all arrive and are reported. */
  void exchange() {
    exchangeReliably();
    buffer.reregister(Reregistration.to(ACCESS));
    told.requestNotify(false);
    sendOthers();
    assertThat(awaitChannel()).isEqualTo(told);
    Completions completions = new Completions(16);
    int found = 0;
    for (int n = told.poll(completions); n > 0; n = told.poll(completions)) {
      for (int i = 0; i < n; i++) {
        assertThat(completions.status(i)).isEqualTo(WcStatus.SUCCESS);
      }
      found += n;
    }
    assertThat(found).isEqualTo(OTHERS);
    assertThat(buffer.segment().get(ValueLayout.JAVA_LONG, COUNTER)).isEqualTo(sent);
  }

  /** Waits for a completion event, not indefinitely. */
  CompletionQueue awaitChannel() {
    try {
      return channel.await(PATIENCE).orElseThrow(() -> new AssertionError("no completion event"));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Posts {@link #OTHERS} requests, on the queue pairs that are connected to themselves. */
  void sendOthers() {
    SendRequest send = new SendRequest();
    ReceiveRequest receive = new ReceiveRequest();
    shared.postReceive(receive.wrId(10).into(buffer, SINK, SHORT));
    sharer.postSend(send.wrId(11).send().sge(buffer, 0, SHORT).signaled());
    sharer.postSend(
        send.wrId(12)
            .fetchAndAdd(buffer.address() + COUNTER, buffer.rkey(), 1)
            .sge(buffer, COUNTER + 8, 8)
            .signaled());
    sent++;
    unreliable.postReceive(receive.wrId(13).into(buffer, SINK + SHORT, SHORT));
    unreliable.postSend(send.wrId(14).sendWithImmediate(5).sge(buffer, 0, SHORT).signaled());
    datagram.postReceive(receive.wrId(15).into(buffer, SINK + 2 * SHORT, HEADER + SHORT));
    datagram.postSend(
        send.wrId(16)
            .send()
            .to(toItself, datagram.number(), QKEY)
            .sge(buffer, 0, SHORT)
            .signaled()
            .solicited());
  }

  /** Sends a message from one queue pair to the other, and checks that it arrives. */
  private void exchangeReliably() {
    send();
    Completions completions = new Completions(16);
    int found = 0;
    for (int n = queue.poll(completions); n > 0; n = queue.poll(completions)) {
      for (int i = 0; i < n; i++) {
        assertThat(completions.status(i)).isEqualTo(WcStatus.SUCCESS);
      }
      found += n;
    }
    assertThat(found).isEqualTo(2);
    assertThat(buffer.segment().asSlice(SIZE, SIZE).mismatch(buffer.segment().asSlice(0, SIZE)))
        .isEqualTo(-1);
  }

  /** Posts the others if there is room, and polls, whatever the results are. */
  void tryOthers() {
    try {
      sendOthers();
    } catch (BadRequestException e) {
      // a queue is full or in error
    }
    Completions room = new Completions(16);
    while (told.poll(room) > 0) {
      // the results do not matter
    }
  }

  /** Takes every queue pair to RESET and connects it again; discards pending completions. */
  void reset() {
    for (QueuePair qp : queuePairs()) {
      qp.modify(QpAttributes.to(QpState.RESET));
    }
    connect(left, right);
    connect(right, left);
    for (QueuePair qp : List.of(sharer, unreliable, datagram)) {
      connect(qp, qp);
    }
    Completions room = new Completions(16);
    for (CompletionQueue each : List.of(queue, told)) {
      while (each.poll(room) > 0) {
        // from before
      }
    }
    while (channel.poll().isPresent()) {
      // from before
    }
  }

  /** Destroys a queue pair and creates another one. */
  void remake() {
    made.remove(datagram);
    datagram.close();
    datagram = left.protectionDomain().createQueuePair(small(QpType.UD));
    made.push(datagram);
    try {
      connect(datagram, datagram);
    } catch (VerbsException e) {
      if (datagram.state() != QpState.ERR) {
        throw e;
      }
      // A forged event reported that it has failed.
    }
  }

  /** Posts a message from one queue pair to the other. */
  void send() {
    buffer.segment().asSlice(0, SIZE).fill((byte) 'c');
    buffer.segment().asSlice(SIZE, SIZE).fill((byte) 's');
    right.postReceive(new ReceiveRequest().wrId(1).into(buffer, SIZE, SIZE));
    left.postSend(new SendRequest().wrId(2).send().sge(buffer, 0, SIZE).signaled());
  }

  /** Closes everything, newest first; the first failure, if there was one. */
  Optional<VerbsException> closeAll() {
    VerbsException first = null;
    for (AutoCloseable object : made) {
      try {
        object.close();
      } catch (VerbsException e) {
        first = first == null ? e : first;
      } catch (Exception e) {
        throw new AssertionError("close of " + object, e);
      }
    }
    return Optional.ofNullable(first);
  }

  private void closeQuietly(RuntimeException cause) {
    closeAll().ifPresent(cause::addSuppressed);
  }

  @Override
  public void close() {
    closeAll()
        .ifPresent(
            e -> {
              throw e;
            });
  }
}

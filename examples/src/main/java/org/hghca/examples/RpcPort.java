package org.hghca.examples;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.hghca.verbs.AccessFlag.LOCAL_WRITE;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.hghca.cm.RdmaConnection;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.SharedReceiveQueue;
import org.hghca.verbs.SharedReceiveQueueConfig;
import org.hghca.verbs.WcOpcode;

/** The connections of one end of {@link Rpc}, with the receives of all of them. Thread-safe. */
final class RpcPort implements AutoCloseable {

  /** What happens to a message; each in a virtual thread of its own. */
  interface Handler {
    void handle(RpcPort port, QueuePair from, long call, String text) throws InterruptedException;
  }

  /** Of one end. */
  static final int CONNECTIONS = 2;

  /** Requests of a connection that wait for their answers at a time. */
  static final int CREDITS = 8;

  /** A message: the number of the call, the length of the text, the text. */
  private static final long BYTES = 128;

  private static final ValueLayout.OfLong NUMBER = ValueLayout.JAVA_LONG_UNALIGNED;
  private static final long LENGTH = 8;
  private static final long TEXT = 16;

  private final End end;
  private final List<RdmaConnection> connections = new ArrayList<>();
  private final Map<Integer, QueuePair> byNumber = new ConcurrentHashMap<>();
  private final Handler handler;
  private final ProtectionDomain pd;
  private final MemoryRegion memory;
  private final CompletionChannel channel;
  private final CompletionQueue cq;
  private final Optional<SharedReceiveQueue> shared;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  RpcPort(End end, Handler handler) {
    this.end = end;
    this.handler = handler;
    pd = end.context().allocateProtectionDomain();
    memory = pd.allocate(CONNECTIONS * CREDITS * BYTES, LOCAL_WRITE);
    channel = end.context().createCompletionChannel();
    int entries = CONNECTIONS * 3 * CREDITS;
    cq =
        end.context().createCompletionQueue(CompletionQueueConfig.of(entries).withChannel(channel));
    shared =
        end.context().queryDevice().has(DeviceFeature.SHARED_RECEIVE_QUEUES)
            ? Optional.of(
                pd.createSharedReceiveQueue(SharedReceiveQueueConfig.of(CONNECTIONS * CREDITS, 1)))
            : Optional.empty();
    threads.execute(this::dispatch);
  }

  String receives() {
    return shared.isPresent() ? "from one shared receive queue" : "from receives of each client";
  }

  /** Makes a connection; its receives are there before the peer can send. */
  QueuePair add(Connections.Maker maker) throws Exception {
    QueuePairConfig own =
        QueuePairConfig.rc(cq, cq)
            .sendDepth(2 * CREDITS)
            .receiveDepth(CREDITS)
            .maxInline((int) BYTES)
            .signalAll();
    QueuePairConfig config = shared.map(own::sharedReceiveQueue).orElse(own);
    int first = connections.size() * CREDITS;
    RdmaConnection made =
        maker.make(
            Connections.options(end)
                .withQueuePair(pd, config)
                .withPrepare(
                    connection -> {
                      QueuePair qp = connection.queuePair();
                      byNumber.put(qp.number(), qp);
                      for (int slot = first; slot < first + CREDITS; slot++) {
                        postReceive(qp, slot);
                      }
                    }));
    connections.add(made);
    return made.queuePair();
  }

  List<RdmaConnection> connections() {
    return connections;
  }

  private void postReceive(QueuePair qp, long slot) {
    ReceiveRequest request = new ReceiveRequest().wrId(slot).into(memory, slot * BYTES, BYTES);
    shared.ifPresentOrElse(queue -> queue.postReceive(request), () -> qp.postReceive(request));
  }

  void send(QueuePair qp, long call, String text) throws InterruptedException {
    byte[] bytes = text.getBytes(UTF_8);
    MemorySegment message = MemorySegment.ofArray(new byte[(int) TEXT + bytes.length]);
    message.set(NUMBER, 0, call);
    message.set(NUMBER, LENGTH, bytes.length);
    MemorySegment.copy(bytes, 0, message, JAVA_BYTE, TEXT, bytes.length);
    // Inline: copied into the request, so that the message needs no registered memory.
    while (!qp.tryPostSend(new SendRequest().send().inline(message))) {
      // The queue is full until the dispatcher has polled. A sleep, since virtual threads that
      // yield
      // may keep their carrier from it.
      Thread.sleep(Duration.ofNanos(10_000));
    }
  }

  /** Arm, drain, wait: a completion between the last poll and the wait is an event. */
  private void dispatch() {
    Completions completions = new Completions(16);
    while (true) {
      cq.requestNotify(false);
      for (int n = cq.poll(completions); n > 0; n = cq.poll(completions)) {
        for (int i = 0; i < n; i++) {
          if (completions.isSuccess(i) && completions.opcode(i) == WcOpcode.RECV) {
            received(byNumber.get(completions.qpNumber(i)), completions.wrId(i));
          } // what fails has lost its peer; its callers give up after a time
        }
      }
      try {
        channel.await();
      } catch (InterruptedException e) {
        return; // the port closes
      }
    }
  }

  private void received(QueuePair qp, long slot) {
    MemorySegment message = memory.segment().asSlice(slot * BYTES, BYTES);
    long call = message.get(NUMBER, 0);
    // A peer may write anything into its message: a length is checked before it is used.
    long length = Math.clamp(message.get(NUMBER, LENGTH), 0, BYTES - TEXT);
    byte[] bytes = message.asSlice(TEXT, length).toArray(JAVA_BYTE);
    postReceive(qp, slot); // before the answer goes, which is a credit of the peer
    threads.execute(() -> handle(qp, call, new String(bytes, UTF_8)));
  }

  private void handle(QueuePair qp, long call, String text) {
    try {
      handler.handle(this, qp, call, text);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the port closes
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
    threads.close();
    connections.forEach(RdmaConnection::close);
    shared.ifPresent(SharedReceiveQueue::close);
    cq.close();
    channel.close();
    memory.close();
    pd.close();
  }
}

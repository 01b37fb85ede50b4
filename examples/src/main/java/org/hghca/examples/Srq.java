package org.hghca.examples;

import static org.hghca.verbs.AccessFlag.LOCAL_WRITE;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.hghca.cm.RdmaConnection;
import org.hghca.cm.RdmaOptions;
import org.hghca.cm.RdmaServer;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;
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
 * Many clients, one receive queue: the receives are there for whoever sends. The server posts new
 * ones only when the queue reports that it runs low, which is the limit event.
 */
final class Srq implements Example {
  private static final int CLIENTS = 8;
  private static final int MESSAGES = 100;
  private static final int BYTES = 64;

  /** Far fewer receives than messages that the clients may have in flight. */
  private static final int RECEIVES = 64;

  private static final int LIMIT = 16;

  @Override
  public String shows() {
    return "one receive queue for many clients, and its limit event";
  }

  @Override
  public Set<DeviceFeature> needs() {
    return Set.of(DeviceFeature.SHARED_RECEIVE_QUEUES);
  }

  @Override
  public void server(End end) throws Exception {
    List<RdmaConnection> clients = new ArrayList<>();
    try (ProtectionDomain pd = end.context().allocateProtectionDomain();
        MemoryRegion memory = pd.allocate(RECEIVES * BYTES, LOCAL_WRITE);
        // Room for the completion of every receive, and of one send of each client.
        CompletionQueue cq = end.context().createCompletionQueue(RECEIVES + CLIENTS);
        SharedReceiveQueue receives =
            pd.createSharedReceiveQueue(SharedReceiveQueueConfig.of(RECEIVES, 1));
        RdmaServer server = Connections.listen(end)) {
      try {
        for (int slot = 0; slot < RECEIVES; slot++) {
          post(receives, memory, slot);
        }
        // From now on an event tells when fewer are outstanding.
        receives.limit(limit(end));
        RdmaOptions options =
            Connections.options(end)
                .withQueuePair(pd, QueuePairConfig.rc(cq, cq).sharedReceiveQueue(receives));
        for (int i = 0; i < CLIENTS; i++) {
          clients.add(Connections.accept(server, options));
        }
        serve(end, receives, memory, cq);
        for (RdmaConnection client : clients) { // tell it that all has arrived
          client.queuePair().postSend(new SendRequest().send().sge(memory, 0, BYTES).signaled());
          End.await(cq);
        }
      } finally {
        clients.forEach(RdmaConnection::close); // queue pairs before the queue that they share
      }
    }
  }

  private static void serve(
      End end, SharedReceiveQueue receives, MemoryRegion memory, CompletionQueue cq)
      throws Exception {
    List<Integer> free = new ArrayList<>();
    int limit = limit(end);
    boolean low = false;
    int refills = 0;
    for (int received = 0; received < CLIENTS * MESSAGES; ) {
      Optional<Completions> completion = End.poll(cq);
      if (completion.isPresent()) {
        // Which client has sent: the queue pair, completion.get().qpNumber(0).
        free.add((int) completion.get().wrId(0)); // the message has been read
        received++;
      }
      Optional<AsyncEvent> event = end.context().asyncEvents().poll();
      if (event.isPresent()) {
        low |= event.get().type() == AsyncEventType.SRQ_LIMIT_REACHED;
        event.get().acknowledge(); // before that its object cannot be closed
      }
      if (low && free.size() > RECEIVES - limit) { // what came before the event has been read
        receives.limit(limit); // the event comes once; this arms it again
        free.forEach(slot -> post(receives, memory, slot));
        free.clear();
        low = false;
        refills++;
      }
    }
    end.say(
        "%d messages of %d clients by %d receives, posted again at %d limit events"
            .formatted(CLIENTS * MESSAGES, CLIENTS, RECEIVES, refills));
  }

  /** Where the driver deals the receives to the queue pairs, some lie where no message comes. */
  private static int limit(End end) {
    boolean dealt =
        end.context().queryDevice().support(DeviceFeature.SHARED_RECEIVE_QUEUES)
            == FeatureSupport.SOFTWARE;
    return dealt ? RECEIVES : LIMIT;
  }

  private static void post(SharedReceiveQueue receives, MemoryRegion memory, int slot) {
    receives.postReceive(new ReceiveRequest().wrId(slot).into(memory, (long) slot * BYTES, BYTES));
  }

  @Override
  public void client(End end) throws Exception {
    List<RdmaConnection> connections = new ArrayList<>();
    try (ProtectionDomain pd = end.context().allocateProtectionDomain();
        MemoryRegion memory = pd.allocate(2 * BYTES, LOCAL_WRITE);
        CompletionQueue cq = end.context().createCompletionQueue(CLIENTS * (MESSAGES + 1))) {
      try {
        ReceiveRequest last = new ReceiveRequest().into(memory, BYTES, BYTES);
        RdmaOptions options =
            Connections.options(end)
                .withQueuePair(pd, QueuePairConfig.rc(cq, cq).sendDepth(MESSAGES))
                .withPrepare(made -> made.queuePair().postReceive(last));
        for (int i = 0; i < CLIENTS; i++) {
          connections.add(Connections.connect(end, options));
        }
        // All at once: a message that meets no receive is sent again until there is one
        // (rnr_retry 7).
        for (int i = 0; i < MESSAGES; i++) {
          for (RdmaConnection connection : connections) {
            QueuePair qp = connection.queuePair();
            qp.postSend(new SendRequest().send().sge(memory, 0, BYTES).signaled());
          }
        }
        for (int i = 0; i < CLIENTS * (MESSAGES + 1); i++) {
          End.await(cq); // the messages, and the server's
        }
        end.say("all messages have arrived");
      } finally {
        connections.forEach(RdmaConnection::close);
      }
    }
  }
}

package org.hghca.programs.rdmacm;

import java.util.Optional;
import java.util.function.BiFunction;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Completions;
import org.hghca.verbs.GlobalRouteHeader;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;

/**
 * A queue pair of ucmatose, udaddy or mckey: with a completion queue for each direction, and memory
 * for one message, which all requests share. Each datagram carries the number of the queue pair
 * that sends it as its immediate.
 */
final class Node implements AutoCloseable {
  private static final int PORT = 1;

  private final Messages messages;
  private final ProtectionDomain pd;
  private final Arrivals sent;
  private final Arrivals received;
  private final MemoryRegion memory;
  private final QueuePair qp;
  private Optional<Peer> peer = Optional.empty();

  /** Where datagrams go to. */
  private record Peer(AddressHandle handle, int qpNumber, int qkey) {}

  /**
   * Makes the queue pair.
   *
   * @param pd is closed with it
   * @param create makes a queue pair of the protection domain
   */
  Node(
      QpType type,
      ProtectionDomain pd,
      Messages messages,
      BiFunction<ProtectionDomain, QueuePairConfig, QueuePair> create) {
    this.pd = pd;
    this.messages = messages;
    sent = new Arrivals(pd.context(), messages.depth());
    received = new Arrivals(pd.context(), messages.depth());
    int header = type == QpType.UD ? GlobalRouteHeader.LENGTH : 0;
    memory = pd.allocate(header + Math.max(messages.size(), 1), AccessFlag.LOCAL_WRITE);
    qp =
        create.apply(
            pd,
            QueuePairConfig.of(type, sent.queue(), received.queue())
                .sendDepth(messages.depth())
                .receiveDepth(messages.depth())
                .signalAll());
  }

  QueuePair queuePair() {
    return qp;
  }

  void postReceives() {
    for (int i = 0; i < messages.count(); i++) {
      qp.postReceive(new ReceiveRequest().into(memory));
    }
  }

  /** Says where datagrams go to. */
  void peer(AddressVector vector, int qpNumber, int qkey) {
    peer = Optional.of(new Peer(pd.createAddressHandle(vector), qpNumber, qkey));
  }

  void postSends() {
    for (int i = 0; i < messages.count(); i++) {
      SendRequest request = new SendRequest();
      if (peer.isPresent()) {
        Peer to = peer.get();
        request.sendWithImmediate(qp.number()).to(to.handle, to.qpNumber, to.qkey);
      } else {
        request.send();
      }
      qp.postSend(request.sge(memory, 0, messages.size()));
    }
  }

  void awaitSends() throws InterruptedException {
    for (int i = 0; i < messages.count(); i++) {
      succeeded(sent.take());
    }
  }

  void awaitReceives() throws InterruptedException {
    for (int i = 0; i < messages.count(); i++) {
      succeeded(received.take());
    }
  }

  /** The same; datagrams go to the sender of the first one from then on, by this queue key. */
  void awaitReceives(int qkey) throws InterruptedException {
    for (int i = 0; i < messages.count(); i++) {
      Completions completion = succeeded(received.take());
      if (peer.isEmpty()) {
        AddressHandle back = pd.createAddressHandle(completion, 0, memory.segment(), PORT);
        peer = Optional.of(new Peer(back, completion.immediate(0), qkey));
      }
    }
  }

  private static Completions succeeded(Completions completion) {
    if (!completion.isSuccess(0)) {
      throw new FailedException(-1, "completion failed: " + completion.describe(0));
    }
    return completion;
  }

  @Override
  public void close() {
    peer.ifPresent(to -> to.handle.close());
    qp.close();
    memory.close();
    received.close();
    sent.close();
    pd.close();
  }
}

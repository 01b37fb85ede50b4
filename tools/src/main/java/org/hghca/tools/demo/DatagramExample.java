package org.hghca.tools.demo;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.DeviceQuirk;
import org.hghca.verbs.Gid;
import org.hghca.verbs.GlobalRouteHeader;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;

/**
 * Datagrams, and waiting without polling: the client sends a request; the server, which does not
 * know its clients, replies to the sender. Both sleep on a completion channel until a message
 * arrives. If the server's card reports only the sender's queue pair, the client's address is
 * passed separately.
 */
final class DatagramExample {
  private static final String CHECK = "datagrams";
  private static final String QUESTION = "datagram: who is there?";
  private static final String ANSWER = "datagram: it is me";

  private static final int QKEY = 0x1111_1111;
  private static final int MESSAGE_BYTES = 64;
  private static final int RECEIVE_BYTES = GlobalRouteHeader.LENGTH + MESSAGE_BYTES;
  private static final Duration LIMIT = Duration.ofSeconds(5);

  private static final Message<QpEndpoint> ENDPOINT =
      new Message<>("datagrams", QpEndpoint::toText, QpEndpoint::parse);

  private final Sides sides;
  private final Journal journal;

  DatagramExample(Sides sides) {
    this.sides = sides;
    this.journal = sides.journal();
  }

  /**
   * Runs it.
   *
   * @throws CheckFailedException when a check fails
   */
  void run() {
    Part<End> server = sides.server().map(End::new);
    Part<End> client = sides.client().map(End::new);
    QpEndpoint asked = server.share(ENDPOINT, End::endpoint);
    QpEndpoint asking = client.share(ENDPOINT, End::endpoint);
    client.run(end -> end.send(QUESTION, end.handle(asked.gid()), asked.qpNumber()));
    server.run(end -> end.await(QUESTION));
    server.run(end -> end.send(ANSWER, end.backTo(asking.gid()), end.completions.sourceQp(0)));
    client.run(end -> end.await(ANSWER));
    sides.held(CHECK);
  }

  /** A datagram queue pair whose completion queue has a channel, with one receive posted. */
  private final class End {
    private final Side side;
    private final CompletionChannel channel;
    private final CompletionQueue queue;
    private final MemoryRegion memory;
    private final QueuePair qp;
    private final Completions completions = new Completions(1);

    End(Side side) {
      this.side = side;
      channel = side.own(side.context().createCompletionChannel());
      CompletionQueueConfig config = CompletionQueueConfig.of(2).withChannel(channel);
      queue = side.own(side.context().createCompletionQueue(config));
      memory = side.own(side.pd().allocate(RECEIVE_BYTES + MESSAGE_BYTES, AccessFlag.LOCAL_WRITE));
      qp =
          side.own(
              side.pd()
                  .createQueuePair(QueuePairConfig.ud(queue, queue).sendDepth(1).receiveDepth(1)));
      qp.activate(QKEY);
      qp.postReceive(new ReceiveRequest(1).wrId(1).into(memory, 0, RECEIVE_BYTES));
      queue.requestNotify(false);
      journal.step(
          side, "UD QP 0x%06x activated, Receive Request was posted".formatted(qp.number()));
    }

    QpEndpoint endpoint() {
      return side.endpoint(qp, 0);
    }

    AddressHandle handle(Gid gid) {
      AddressVector vector = AddressVector.to(gid, Side.GID_INDEX);
      return side.own(side.pd().createAddressHandle(vector));
    }

    /** The handle for a reply to the received datagram. */
    AddressHandle backTo(Gid known) {
      if (side.has(DeviceQuirk.NO_GRH)) {
        journal.missing(side, DeviceQuirk.NO_GRH, "the answer goes to the client's known address");
        return handle(known);
      }
      return side.own(side.pd().createAddressHandle(completions, 0, memory.segment(), Side.PORT));
    }

    void send(String text, AddressHandle to, int qpn) {
      MemorySegment message = memory.segment().asSlice(RECEIVE_BYTES);
      message.setString(0, text, StandardCharsets.US_ASCII);
      qp.postSend(
          new SendRequest(1).send().to(to, qpn, QKEY).sge(memory, RECEIVE_BYTES, MESSAGE_BYTES));
      journal.step(
          side,
          "'%s' was posted to QP 0x%06x at GID %s".formatted(text, qpn, to.vector().destination()));
    }

    void await(String text) {
      if (!hasEvent() || queue.poll(completions) == 0) {
        throw new CheckFailedException(
            CHECK,
            "the %s had no event within %d seconds".formatted(side.role(), limit().toSeconds()));
      }
      journal.step(side, "woken by an event: %s".formatted(completions.describe(0)));
      String found =
          memory.segment().getString(GlobalRouteHeader.LENGTH, StandardCharsets.US_ASCII);
      if (!completions.isSuccess(0) || !found.equals(text)) {
        throw new CheckFailedException(
            CHECK, "the %s received '%s' instead of '%s'".formatted(side.role(), found, text));
      }
      journal.step(side, "buffer verified: '%s'".formatted(found));
    }

    private Duration limit() {
      return side.time().stretch(LIMIT);
    }

    private boolean hasEvent() {
      try {
        return channel.await(limit()).isPresent();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
    }
  }
}

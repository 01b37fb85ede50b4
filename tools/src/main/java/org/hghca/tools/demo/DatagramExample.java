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
import org.hghca.verbs.GlobalRouteHeader;
import org.hghca.verbs.MemoryRegion;
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

  private final Journal journal;
  private final Side server;
  private final Side client;

  DatagramExample(Journal journal, Side server, Side client) {
    this.journal = journal;
    this.server = server;
    this.client = client;
  }

  /**
   * Runs it.
   *
   * @throws CheckFailedException when a check fails
   */
  void run() {
    try (End asked = new End(server);
        End asking = new End(client);
        AddressHandle toServer =
            client.pd().createAddressHandle(AddressVector.to(server.gid(), Side.GID_INDEX))) {
      asking.send(QUESTION, toServer, asked.qp.number());
      asked.await(QUESTION);
      Completions question = asked.completions;
      try (AddressHandle back = backTo(asked)) {
        asked.send(ANSWER, back, question.sourceQp(0));
        asking.await(ANSWER);
      }
      journal.held(CHECK);
    }
  }

  private AddressHandle backTo(End asked) {
    if (!server.has(DeviceQuirk.NO_GRH)) {
      return server
          .pd()
          .createAddressHandle(asked.completions, 0, asked.memory.segment(), Side.PORT);
    }
    journal.missing(server, DeviceQuirk.NO_GRH, "the answer goes to the client's known address");
    return server.pd().createAddressHandle(AddressVector.to(client.gid(), Side.GID_INDEX));
  }

  /** A datagram queue pair whose completion queue has a channel, with one receive posted. */
  private final class End implements AutoCloseable {
    private final Side side;
    private final CompletionChannel channel;
    private final CompletionQueue queue;
    private final MemoryRegion memory;
    private final QueuePair qp;
    private final Completions completions = new Completions(1);

    End(Side side) {
      this.side = side;
      channel = side.context().createCompletionChannel();
      queue =
          side.context().createCompletionQueue(CompletionQueueConfig.of(2).withChannel(channel));
      memory = side.pd().allocate(RECEIVE_BYTES + MESSAGE_BYTES, AccessFlag.LOCAL_WRITE);
      qp = side.pd().createQueuePair(QueuePairConfig.ud(queue, queue).sendDepth(1).receiveDepth(1));
      qp.activate(QKEY);
      qp.postReceive(new ReceiveRequest(1).wrId(1).into(memory, 0, RECEIVE_BYTES));
      queue.requestNotify(false);
      journal.step(
          side, "UD QP 0x%06x activated, Receive Request was posted".formatted(qp.number()));
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

    @Override
    public void close() {
      qp.close();
      memory.close();
      queue.close();
      channel.close();
    }
  }
}

package org.hghca.tools.card;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.Cqe;
import org.hghca.abi.Eqe;
import org.hghca.abi.EventQueueContext;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.Mpt;
import org.hghca.abi.NextUnit;
import org.hghca.abi.QpcServiceType;
import org.hghca.abi.QueuePairContext;
import org.hghca.tools.card.fields.Fields;
import org.hghca.tools.card.fields.Shown;
import org.hghca.tools.card.ring.CqeSlots;
import org.hghca.tools.card.ring.EqeSlots;
import org.hghca.tools.card.ring.KeyMemory;
import org.hghca.tools.card.ring.ReceiveSlots;
import org.hghca.tools.card.ring.SendSlots;
import org.hghca.tools.card.ring.Slots;
import org.hghca.tools.raw.CardObject;
import org.hghca.tools.raw.SentContexts;

/**
 * {@code dump ring}: the slots of a queue, found by the context that was sent last, and decoded
 * from memory. The card is not accessed.
 */
final class RingDump {
  static final String USAGE = "dump ring qp|cq|eq NUMBER [slot N|FROM-TO]";

  private static final int LONGEST_LOG = 24;

  private final Card card;
  private final KeyMemory keys;

  RingDump(Card card) {
    this.card = card;
    this.keys = new KeyMemory(card.function(), card.profile().orElseThrow());
  }

  /**
   * A queue as its context has it.
   *
   * @param stride bytes of a slot
   */
  private record Queue(int lkey, int pd, long offset, long bytes, int stride) {}

  /** Dumps the ring of a line; the words behind {@code ring}. */
  void run(CardObject object, int number, SlotRange range, Fields reply) {
    if (object == CardObject.MPT || object == CardObject.SRQ) {
      throw new RequestFailedException("dump ring is not for the %s: %s".formatted(object, USAGE));
    }
    reply.put("object", "ring of " + object);
    reply.put("number", number);
    Optional<SentContexts.Sent> sent = card.history().sent().of(object, number);
    Optional<MemorySegment> context = sent.flatMap(SentContexts.Sent::wholeContext);
    if (context.isEmpty()) {
      throw new RequestFailedException(
          "the ring of %s %d is not known: its context was not sent".formatted(object, number));
    }
    if (!sent.get().isInForce()) {
      reply.put("taken_back", sent.get().command().name());
    }
    MemorySegment body = context.get();
    switch (object) {
      case QP -> queuePair(body, number, range, reply);
      case CQ -> {
        reply.put("table", CqeSlots.TABLE);
        ring(
            completions(body),
            range,
            reply,
            ring -> new CqeSlots(ring, card.history().sent(), card.profile().orElseThrow()));
      }
      case EQ -> {
        reply.put("table", EqeSlots.TABLE);
        ring(
            events(body),
            range,
            reply,
            ring ->
                new EqeSlots(
                    ring,
                    card.history().sent(),
                    card.function().doorbells().consumerIndex(number)));
      }
      case MPT, SRQ -> throw new IllegalStateException(object.name()); // refused above
    }
  }

  private void queuePair(MemorySegment body, int number, SlotRange range, Fields reply) {
    reply.put("table", SendSlots.TABLE);
    int pd = QueuePairContext.PD.get(body);
    boolean ud = QueuePairContext.SERVICE_TYPE.get(body) == QpcServiceType.UD;
    OptionalLong doorbell = card.function().doorbells().send(number);
    Queue send =
        new Queue(
            QueuePairContext.SEND_WQE_LKEY.get(body),
            pd,
            QueuePairContext.SEND_RING_OFFSET.getLong(body),
            QueuePairContext.SEND_WQE_LENGTH.getLong(body),
            1 << QueuePairContext.SQ_ENTRY_SIZE.get(body));
    Queue receive =
        new Queue(
            QueuePairContext.RECEIVE_WQE_LKEY.get(body),
            pd,
            QueuePairContext.RECEIVE_RING_OFFSET.getLong(body),
            QueuePairContext.RECEIVE_WQE_LENGTH.getLong(body),
            1 << QueuePairContext.RQ_ENTRY_SIZE.get(body));
    range.checkInside(Math.max(slots(send), slots(receive)));
    reply.put(
        "send",
        ring(
            send,
            range,
            new Fields(),
            ring ->
                new SendSlots(
                    ring, send.stride(), keys, pd, doorbell, completed(body, number), ud)));
    reply.put(
        "receive",
        QueuePairContext.HAS_SRQ.get(body) == 1
            ? "of SRQ %d".formatted(QueuePairContext.SRQN.get(body))
            : ring(
                receive,
                range,
                new Fields(),
                ring -> new ReceiveSlots(ring, receive.stride(), keys, pd)));
  }

  /** What the CQ in memory says of a send queue; wqe of the second RTL is not verified. */
  private OptionalInt completed(MemorySegment body, int qpn) {
    if (card.profile().orElseThrow() == HardwareProfile.R2) {
      return OptionalInt.empty();
    }
    return card.history()
        .sent()
        .of(CardObject.CQ, QueuePairContext.SEND_CQN.get(body))
        .flatMap(SentContexts.Sent::wholeContext)
        .map(this::completions)
        .flatMap(queue -> keys.find(queue.lkey(), queue.pd(), queue.offset(), queue.bytes()).copy())
        .map(
            ring ->
                new CqeSlots(ring, card.history().sent(), card.profile().orElseThrow())
                    .newestSend(qpn))
        .orElse(OptionalInt.empty());
  }

  private static long slots(Queue queue) {
    return queue.bytes() / queue.stride();
  }

  private Queue completions(MemorySegment body) {
    return entries(
        CompletionQueueContext.LKEY.get(body),
        CompletionQueueContext.PD.get(body),
        CompletionQueueContext.START.getLong(body),
        CompletionQueueContext.LOG_SIZE.get(body),
        Cqe.SIZE);
  }

  private Queue events(MemorySegment body) {
    return entries(
        EventQueueContext.LKEY.get(body),
        EventQueueContext.PD.get(body),
        EventQueueContext.START.getLong(body),
        EventQueueContext.LOG_SIZE.get(body),
        Eqe.SIZE);
  }

  private Queue entries(int lkey, int pd, long start, int logSize, int size) {
    if (logSize > LONGEST_LOG) {
      throw new RequestFailedException(
          "logsize of the context is %d, and no ring has 2^%d entries".formatted(logSize, logSize));
    }
    long region = keys.entry(lkey).map(Mpt::start).orElse(0L);
    return new Queue(lkey, pd, start - region, (long) size << logSize, size);
  }

  /** One ring; what the context says is the driver's, the rest is in memory. */
  private Fields ring(
      Queue queue, SlotRange range, Fields reply, Function<MemorySegment, Slots> slots) {
    reply.put(
        "driver",
        new Fields()
            .put("lkey", Shown.hex(queue.lkey() & 0xffff_ffffL, 8))
            .put("pd", queue.pd())
            .put("slots", slots(queue))
            .put("slot_bytes", queue.stride()));
    range.checkInside(slots(queue));
    if (slots(queue) == 0 || queue.stride() < NextUnit.SIZE) {
      return reply.put("memory", "the context names no slots");
    }
    KeyMemory.Piece piece = keys.find(queue.lkey(), queue.pd(), queue.offset(), queue.bytes());
    List<String> problems = new ArrayList<>(piece.problems());
    if (piece.copy().isEmpty()) {
      reply.put("memory", "not known: " + problems.getLast());
    } else {
      Slots ring = slots.apply(piece.copy().get());
      problems.addAll(ring.problems());
      Fields memory = new Fields();
      piece.busAddress().ifPresent(address -> memory.put("bus_address", Shown.hex(address, 1)));
      reply.put("memory", memory.putAll(ring.positions()).put("slots", shown(ring, range)));
    }
    return reply.put("inconsistent", Shown.lines(problems));
  }

  /** Those of the range, or all that hold something. */
  private static Shown shown(Slots ring, SlotRange range) {
    List<Object> json = new ArrayList<>();
    List<String> lines = new ArrayList<>();
    IntStream.range(0, ring.count())
        .filter(slot -> range.isAll() ? !ring.isEmpty(slot) : range.contains(slot))
        .forEach(
            slot -> {
              Fields fields = new Fields().put("slot", slot).putAll(ring.fields(slot));
              List<Fields> parts = ring.parts(slot);
              List<String> problems = ring.problems(slot);
              lines.add(fields.line());
              parts.forEach(part -> lines.add("  " + part.line()));
              problems.forEach(problem -> lines.add("  inconsistent: " + problem));
              if (!parts.isEmpty()) {
                fields.put("units", parts);
              }
              json.add(fields.put("inconsistent", problems).json());
            });
    return new Shown(json, lines.isEmpty() ? List.of("none that hold something") : lines);
  }
}

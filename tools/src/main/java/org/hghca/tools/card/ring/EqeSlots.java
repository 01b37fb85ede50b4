package org.hghca.tools.card.ring;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.hghca.abi.Eqe;
import org.hghca.abi.EventType;
import org.hghca.tools.card.fields.Fields;
import org.hghca.tools.card.fields.Shown;
import org.hghca.tools.raw.CardObject;
import org.hghca.tools.raw.SentContexts;

/** An event queue in memory: a slot is valid, free, or consumed and given to the card again. */
public final class EqeSlots implements Slots {
  /** Where the entry is defined. */
  public static final String TABLE = "EXTENSION (EQE)";

  private final MemorySegment ring;
  private final SentContexts sent;
  private final OptionalInt consumerIndex;

  /**
   * A queue.
   *
   * @param ring its bytes
   * @param sent the contexts of the completion queues
   * @param consumerIndex of its last doorbell; empty before one
   */
  public EqeSlots(MemorySegment ring, SentContexts sent, OptionalInt consumerIndex) {
    this.ring = ring;
    this.sent = sent;
    this.consumerIndex = consumerIndex;
  }

  @Override
  public int count() {
    return (int) (ring.byteSize() / Eqe.SIZE);
  }

  private static long at(int slot) {
    return (long) slot * Eqe.SIZE;
  }

  private boolean isValid(int slot) {
    return Eqe.owner(ring, at(slot)) == Eqe.OWNER_SOFTWARE;
  }

  /** The event before the last dword, which says who owns it. */
  private boolean isBlank(int slot) {
    return ring.asSlice(at(slot), Eqe.OWNER_OFFSET)
            .mismatch(MemorySegment.ofArray(new byte[Eqe.OWNER_OFFSET]))
        < 0;
  }

  @Override
  public boolean isEmpty(int slot) {
    return !isValid(slot) && isBlank(slot);
  }

  @Override
  public Fields fields(int slot) {
    Fields fields =
        new Fields().put("state", isValid(slot) ? "valid" : isBlank(slot) ? "free" : "consumed");
    if (isEmpty(slot)) {
      return fields;
    }
    int type = Eqe.type(ring, at(slot));
    return fields
        .put("type", Shown.named(type, type(type)))
        .put("subtype", Eqe.subtype(ring, at(slot)))
        .put("data", Integer.toUnsignedLong(Eqe.data(ring, at(slot))))
        .put("owner", Shown.hex(Eqe.owner(ring, at(slot)), 2));
  }

  private static String type(int code) {
    return code == Eqe.TYPE_COMPLETION
        ? "COMPLETION"
        : EventType.of(code).map(EventType::name).orElse("unknown");
  }

  @Override
  public List<String> problems(int slot) {
    List<String> problems = new ArrayList<>();
    int owner = Eqe.owner(ring, at(slot));
    if (owner != Eqe.OWNER_SOFTWARE && owner != Eqe.OWNER_HARDWARE) {
      problems.add("owner is %02xh, which neither side writes".formatted(owner));
    }
    if (!isValid(slot)) {
      return problems;
    }
    int type = Eqe.type(ring, at(slot));
    int data = Eqe.data(ring, at(slot));
    if (type == Eqe.TYPE_COMPLETION) {
      boolean known = sent.of(CardObject.CQ, data).filter(SentContexts.Sent::isInForce).isPresent();
      if (!known) {
        problems.add("data names CQ %d, and that is not in force".formatted(data));
      }
    } else if (EventType.of(type).isEmpty()) {
      problems.add("type %02xh is in no table".formatted(type));
    }
    return problems;
  }

  @Override
  public Fields positions() {
    Run valid = Run.of(count(), this::isValid);
    Run written = Run.of(count(), slot -> !isEmpty(slot));
    Fields positions =
        new Fields()
            .put("producer", Run.shown(valid.end().isPresent() ? valid.end() : written.end()))
            .put("consumer", Run.shown(valid.first().isPresent() ? valid.first() : written.end()));
    return positions.put(
        "doorbell",
        consumerIndex.isPresent()
            ? "consumer index %d, slot %d"
                .formatted(consumerIndex.getAsInt(), consumerIndex.getAsInt() % count())
            : "none");
  }

  @Override
  public List<String> problems() {
    return Run.of(count(), this::isValid).problems();
  }
}

package org.hghca.tools.raw;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.ResizeCq;
import org.hghca.abi.SrqContext;

/** What was sent last for each object of a card, and the card has accepted. Thread-safe. */
public final class SentContexts {
  private final Map<Place, Sent> last = new HashMap<>();

  private record Place(CardObject object, int number) {}

  /**
   * The last command for an object.
   *
   * @param command that was accepted
   * @param inbox empty when it has none
   * @param context the last whole context, with what later commands have changed in it; empty
   *     before one
   */
  public record Sent(HcrCommand command, byte[] inbox, byte[] context) {

    /** The last whole context; empty before one was sent. */
    public Optional<MemorySegment> wholeContext() {
      return context.length == 0 ? Optional.empty() : Optional.of(MemorySegment.ofArray(context));
    }

    /** Whether the card has the object: it was given, and not taken back. */
    public boolean isInForce() {
      return switch (command) {
        case HW2SW_CQ, HW2SW_EQ, HW2SW_MPT, HW2SW_SRQ, ERR2RST -> false;
        default -> context.length != 0;
      };
    }
  }

  /** A command that the card has accepted. */
  synchronized void learn(HcrCommand command, CommandRecord given) {
    CardObject.of(command)
        .ifPresent(
            object ->
                last.compute(
                    new Place(object, given.inModifier()),
                    (_, before) ->
                        new Sent(command, given.inbox(), context(object, command, given, before))));
  }

  private static byte[] context(
      CardObject object, HcrCommand command, CommandRecord given, Sent before) {
    byte[] old = before == null ? new byte[0] : before.context;
    byte[] inbox = given.inbox();
    return switch (command) {
      case RESIZE_CQ ->
          changed(
              old,
              context -> {
                ResizeCq resize = ResizeCq.decode(MemorySegment.ofArray(inbox));
                CompletionQueueContext.LOG_SIZE.set(context, resize.logSize());
                CompletionQueueContext.LKEY.set(context, resize.lkey());
              });
      case RESIZE_SRQ -> changed(old, context -> resize(context, MemorySegment.ofArray(inbox)));
      case ARM_SRQ ->
          changed(old, context -> SrqContext.LIMIT.set(context, (int) given.inParam() & 0xffff));
      default -> inbox.length >= object.layout().size() ? inbox : old;
    };
  }

  private static byte[] changed(byte[] context, Consumer<MemorySegment> change) {
    byte[] changed = context.clone();
    if (changed.length != 0) {
      change.accept(MemorySegment.ofArray(changed));
    }
    return changed;
  }

  private static void resize(MemorySegment context, MemorySegment resize) {
    SrqContext.LOG_SIZE.set(context, SrqContext.LOG_SIZE.get(resize));
    SrqContext.LKEY.set(context, SrqContext.LKEY.get(resize));
    SrqContext.COUNT_OFFSET.set(context, SrqContext.COUNT_OFFSET.get(resize));
    SrqContext.RING_OFFSET.setLong(context, SrqContext.RING_OFFSET.getLong(resize));
  }

  /** The card was reset. */
  synchronized void forget() {
    last.clear();
  }

  /** The last command for an object; empty when there was none. */
  public synchronized Optional<Sent> of(CardObject object, int number) {
    return Optional.ofNullable(last.get(new Place(object, number)));
  }

  /** The numbers of the objects of a kind that the card has, in order. */
  public synchronized List<Integer> inForce(CardObject object) {
    return last.entrySet().stream()
        .filter(entry -> entry.getKey().object == object && entry.getValue().isInForce())
        .map(entry -> entry.getKey().number)
        .sorted()
        .toList();
  }
}

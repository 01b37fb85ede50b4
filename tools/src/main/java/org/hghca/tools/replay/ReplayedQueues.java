package org.hghca.tools.replay;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.Cqe;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.HcrCommand;
import org.hghca.tools.card.fields.Fields;
import org.hghca.tools.card.ring.CqeSlots;
import org.hghca.tools.card.ring.KeyMemory;
import org.hghca.tools.raw.CardHistory;
import org.hghca.tools.raw.CardObject;
import org.hghca.tools.raw.MappedMemory;
import org.hghca.tools.raw.SentContexts;
import org.hghca.tools.replay.ReplayedMemory.Place;

/** The CQs of the replay, by what the commands have given to the card. One thread at a time. */
final class ReplayedQueues {
  private final HardwareProfile profile;
  private final CardHistory history;
  private final ReplayedMemory memory;
  private final KeyMemory keys;
  private final Map<Integer, ReplayedQueue> queues = new TreeMap<>();
  private long compared;

  /** Waits until something holds; whether it did in time. */
  interface Wait {
    boolean until(BooleanSupplier condition, Duration limit);
  }

  /**
   * No queues yet.
   *
   * @param history what the recorded card was given
   */
  ReplayedQueues(HardwareProfile profile, CardHistory history, ReplayedMemory memory) {
    this.profile = profile;
    this.history = history;
    this.memory = memory;
    this.keys = new KeyMemory(history, new MappedMemory(), profile);
  }

  /** How many CQEs were compared. */
  long compared() {
    return compared;
  }

  /** The card has accepted a command. */
  Optional<Difference> learn(HcrCommand command, int number) {
    return switch (command) {
      case SW2HW_CQ -> {
        Optional<Difference> end = end(number);
        List<Place> slots = slots(number);
        if (!slots.isEmpty()) {
          queues.put(number, new ReplayedQueue(number, slots));
        }
        yield end;
      }
      case HW2SW_CQ -> end(number);
      case RESIZE_CQ ->
          throw new UnplayableException(
              "RESIZE_CQ of CQ 0x%x cannot be played: record a run that leaves it out"
                  .formatted(number));
      default -> Optional.empty();
    };
  }

  private List<Place> slots(int number) {
    CompletionQueueContext queue =
        history
            .sent()
            .of(CardObject.CQ, number)
            .flatMap(SentContexts.Sent::wholeContext)
            .map(CompletionQueueContext::decode)
            .orElseThrow();
    List<Place> slots = new ArrayList<>();
    for (long slot = 0; slot < 1L << queue.logSize(); slot++) {
      OptionalLong iova = keys.address(queue.lkey(), queue.start() + slot * Cqe.SIZE);
      Optional<Place> place = iova.isPresent() ? memory.at(iova.getAsLong()) : Optional.empty();
      if (place.isEmpty()) {
        return List.of(); // the card cannot complete into it
      }
      slots.add(place.get());
    }
    return slots;
  }

  private Optional<Difference> end(int number) {
    ReplayedQueue queue = queues.remove(number);
    return queue == null ? Optional.empty() : end(queue);
  }

  private Optional<Difference> end(ReplayedQueue queue) {
    if (queue.hasNext()) {
      return Optional.of(new Difference(queue.name(), "none", fields(queue.here()).line()));
    }
    queue.close();
    return Optional.empty();
  }

  /** All queues end. */
  Optional<Difference> endAll() {
    Optional<Difference> difference = Optional.empty();
    for (ReplayedQueue queue : queues.values()) {
      difference = difference.or(() -> end(queue));
    }
    queues.clear();
    return difference;
  }

  /** The recorded program has consumed a CQE. */
  void take(int number) {
    Optional.ofNullable(queues.get(number)).ifPresent(ReplayedQueue::take);
  }

  /**
   * Waits for the CQEs that the recorded card has written so far, and compares each.
   *
   * @param limit of each wait
   */
  Optional<Difference> compare(Wait wait, Duration limit) {
    for (ReplayedQueue queue : queues.values()) {
      queue.look();
      while (queue.expects()) {
        if (!wait.until(queue::hasNext, limit)) {
          return Optional.of(
              new Difference(
                  queue.name(),
                  fields(queue.recorded()).line(),
                  "none within %.1f s; what a peer on the wire has sent does not come again"
                      .formatted(limit.toMillis() / 1000.0)));
        }
        if (!Arrays.equals(queue.recorded(), queue.here())) {
          return Optional.of(
              Difference.of(
                  queue.name(),
                  fields(queue.recorded()),
                  fields(queue.here()),
                  queue.recorded(),
                  queue.here()));
        }
        queue.next();
        compared++;
      }
    }
    return Optional.empty();
  }

  private Fields fields(byte[] entry) {
    return new CqeSlots(MemorySegment.ofArray(entry), history.sent(), profile).fields(0);
  }
}

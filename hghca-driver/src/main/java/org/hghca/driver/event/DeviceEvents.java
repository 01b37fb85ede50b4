package org.hghca.driver.event;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.hghca.abi.DeviceExtension;
import org.hghca.abi.EventType;
import org.hghca.driver.card.Card;
import org.hghca.driver.card.Limits;
import org.hghca.driver.memory.QueueMemory;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.provider.NumberAllocator;
import org.hghca.provider.Undo;
import org.hghca.uar.UarPage;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.DriverParameter;
import org.hghca.vfio.Interrupts;
import org.hghca.vfio.Locator;
import org.hghca.vfio.VfioException;

/**
 * The event queues of a device: one for asynchronous events and one for each completion vector,
 * with an interrupt vector each, and the thread that reads them. Without event queues, because the
 * card has none or the locator says {@code events=poll}, completion queues are polled instead.
 *
 * <p>EXTENSION: the document has the commands of event queues, but neither the format of an entry
 * ({@link org.hghca.abi.Eqe}) nor the doorbells that arm one ({@link
 * org.hghca.abi.Doorbell#EQ_ARM}). Both are this project's, and no {@link DeviceExtension}
 * announces them: the driver uses them on every card whose profile has event queues. On a card that
 * has other ones {@code events=poll} avoids the stores.
 */
public final class DeviceEvents implements AutoCloseable {
  private static final ConditionLog LOG = ConditionLog.of(DeviceEvents.class);
  private static final int ASYNC_ENTRIES = 1024;
  private static final int COMPLETION_ENTRIES = 4096;
  private static final int LEAST_ENTRIES = 64;
  private static final int MOST_ENTRIES = 1 << 16;
  private static final int MOST_VECTORS = 4;

  private final Card card;
  private final List<EventQueue> queues = new ArrayList<>();
  private final EventThread thread;
  private final Undo undo = new Undo();

  /**
   * Makes the event queues and starts the thread.
   *
   * @param memory the memory of the queues
   * @param targets the objects of events
   * @param tick as of {@link EventThread}
   */
  public DeviceEvents(
      Card card,
      QueueMemory memory,
      NumberAllocator pdNumbers,
      EventTargets targets,
      Runnable tick) {
    this.card = card;
    try {
      Interrupts interrupts = card.function().interrupts();
      UarPage uar = null;
      if (usesEventQueues(card)) {
        uar = card.uars().allocate();
        undo.add(uar::close);
        makeQueues(memory, pdNumbers, interrupts.vectors());
      }
      this.thread = new EventThread(card, List.copyOf(queues), uar, interrupts, targets, tick);
      thread.start();
      undo.add(thread::stop);
    } catch (RuntimeException | InternalError e) {
      undo.close();
      throw e;
    }
  }

  private static boolean usesEventQueues(Card card) {
    String events = card.function().locator().parameter(DriverParameter.EVENTS.key()).orElse("eq");
    return switch (events) {
      case "eq" -> card.limits().profile().eventQueues();
      case "poll" -> false;
      default ->
          throw new VerbsException(
              Errno.EINVAL,
              "%s: events=%s is unknown; known are eq, poll"
                  .formatted(card.function().locator(), events));
    };
  }

  /** Entries of an event queue of completions. */
  private static int entries(Card card) {
    Locator locator = card.function().locator();
    String key = DriverParameter.EVENT_ENTRIES.key();
    String text = locator.parameter(key).orElse(Integer.toString(COMPLETION_ENTRIES));
    try {
      int entries = Integer.parseInt(text);
      if (entries >= LEAST_ENTRIES && entries <= MOST_ENTRIES && Integer.bitCount(entries) == 1) {
        return entries;
      }
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw new VerbsException(
        Errno.EINVAL,
        "%s: %s=%s must be a power of two from %d to %d"
            .formatted(locator, key, text, LEAST_ENTRIES, MOST_ENTRIES));
  }

  private void makeQueues(QueueMemory memory, NumberAllocator pdNumbers, int vectors) {
    int first = card.limits().device().reservedEqs();
    int possible = card.limits().device().maxEqs() - first;
    int completion = Math.max(1, Math.min(MOST_VECTORS, Math.min(vectors, possible) - 1));
    int completionEntries = entries(card);
    int pd = pdNumbers.allocate();
    undo.add(() -> pdNumbers.free(pd));
    for (int k = 0; k <= completion; k++) {
      int entries = k == 0 ? ASYNC_ENTRIES : completionEntries;
      int vector = interrupt(k, vectors);
      EventQueue queue = new EventQueue(card, memory, first + k, entries, vector, pd);
      undo.add(queue::close);
      queues.add(queue);
    }
    int asynchronous = queues.getFirst().number();
    card.commands().mapEq(asynchronous, false, events());
    undo.add(() -> unmap(asynchronous));
  }

  /** The interrupt vector of an event queue. */
  private static int interrupt(int queue, int vectors) {
    return Math.max(0, Math.min(queue, vectors - 1));
  }

  /** Completion events that the card did not report. */
  public long missed() {
    return thread.missed();
  }

  /** How often each interrupt vector has fired; empty where none is used. */
  public long[] interrupts() {
    return hasEventQueues() ? card.function().interrupts().counts() : new long[0];
  }

  /**
   * The interrupt vector of a completion vector; empty where none is used.
   *
   * @throws VerbsException EINVAL when there is no such completion vector
   */
  public OptionalInt interruptOf(int vector) {
    int eqn = completionEqn(vector);
    int vectors = card.function().interrupts().vectors();
    return eqn == 0 || vectors == 0
        ? OptionalInt.empty()
        : OptionalInt.of(interrupt(vector + 1, vectors));
  }

  /** The events that the card supports. */
  private long events() {
    Limits limits = card.limits();
    return EventType.ASYNC_MASK
        | (limits.has(DeviceExtension.SHARED_RECEIVE_QUEUES) ? EventType.SRQ_MASK : 0)
        | (limits.has(DeviceExtension.ALTERNATE_PATHS) ? EventType.PATH_MASK : 0);
  }

  private void unmap(int eqn) {
    try {
      card.commands().mapEq(eqn, true, events());
    } catch (RuntimeException e) {
      LOG.warn(About.device(card.function().locator()), "events stay mapped: {}", e.getMessage());
    }
  }

  /** Whether the card reports events itself, and marks solicited receives. */
  public boolean hasEventQueues() {
    return !queues.isEmpty();
  }

  public int completionVectors() {
    return Math.max(1, queues.size() - 1);
  }

  /**
   * The event queue of a completion vector; 0 where there is none.
   *
   * @throws VerbsException EINVAL when there is no such vector
   */
  public int completionEqn(int vector) {
    if (vector < 0 || vector >= completionVectors()) {
      throw new VerbsException(
          Errno.EINVAL,
          "completion vector %d: the device has %d".formatted(vector, completionVectors()));
    }
    return hasEventQueues() ? queues.get(vector + 1).number() : 0;
  }

  /** A completion queue was armed; on return the card knows it. Without locks. */
  public void requested(WatchedQueue queue) {
    thread.requested(queue);
  }

  /**
   * Delivers all events that the card has written so far. After a command that changes an object,
   * events that are delivered later are not older than the change.
   */
  public void deliverAll() {
    try {
      thread.deliverAll();
    } catch (InternalError | VfioException e) {
      throw new VerbsException(Errno.EIO, card.faulted(e));
    }
  }

  /** Stops the thread, then takes the queues back from the card. */
  @Override
  public void close() {
    undo.close();
  }
}

package org.hghca.driver.completion;

import org.hghca.abi.Doorbell;
import org.hghca.driver.event.WatchedQueue;
import org.hghca.uar.UarPage;

/**
 * Decides when a completion channel is notified of completions: once per arming. Under the
 * completion queue's lock, except for {@link #isArmedForAll}.
 *
 * <p>EXTENSION: the doorbell that arms the card, {@link Doorbell#CQ_ARM}, as {@link
 * org.hghca.driver.event.DeviceEvents} says of event queues.
 */
public final class CompletionNotifier {
  private static final int SOLICITED = 1;
  private static final int ALL = 2;

  private final int number;
  private final CompletionRing ring;
  private final CompletionParser parser;
  private final FlushingQueuePairs flushing;
  private final UarPage uar;

  /** Whether the card raises events. */
  private final boolean cardTells;

  /** What it is armed for: a sum of {@link #SOLICITED} and {@link #ALL}. */
  private int armed;

  /** The position of the first completion to report. */
  private int armedFrom;

  /**
   * Reports the completions of a queue.
   *
   * @param number of the queue
   * @param uar through which the card is armed
   * @param cardTells whether the card raises events, and reports which receives are solicited
   */
  public CompletionNotifier(
      int number,
      CompletionParser parser,
      FlushingQueuePairs flushing,
      UarPage uar,
      boolean cardTells) {
    this.number = number;
    this.ring = parser.ring;
    this.parser = parser;
    this.flushing = flushing;
    this.uar = uar;
    this.cardTells = cardTells;
  }

  public void arm(boolean solicitedOnly) {
    if (armed == 0) {
      armedFrom = ring.end();
      parser.forgetPolled();
    }
    armed |= solicitedOnly ? SOLICITED : ALL;
    armCard();
  }

  private void armCard() {
    if (cardTells) {
      uar.armCompletionQueue(Doorbell.armCompletionQueue(number, armed == SOLICITED));
    }
  }

  /** Whether it reports unsolicited completions, too; a glance without the lock. */
  public boolean isArmedForAll() {
    return (armed & ALL) != 0;
  }

  /** Checks for completions to report that the driver has generated. */
  public WatchedQueue.Look lookAtFlushed() {
    if (armed != 0 && hasPollable()) {
      armed = 0;
      return WatchedQueue.Look.TELL;
    }
    return WatchedQueue.Look.NOTHING;
  }

  /**
   * Checks for completions to report. Silent ones, of successful unsignaled sends, are removed, and
   * the card is armed again if there were no others.
   *
   * @param event whether the card has raised an event, so that it must be armed again in any case
   */
  public WatchedQueue.Look look(boolean event) {
    if (armed == 0) {
      return WatchedQueue.Look.NOT_ARMED;
    }
    if (hasCome()) {
      if (hasPollable() || parser.polledTo() - armedFrom > 0) {
        armed = 0;
        return WatchedQueue.Look.TELL;
      }
      armedFrom = ring.index();
    } else if (!event) {
      return WatchedQueue.Look.NOTHING;
    }
    armCard();
    return WatchedQueue.Look.ARMED_AGAIN;
  }

  /** Whether a completion may have arrived since it was armed, polled or not. */
  private boolean hasCome() {
    int ahead = armedFrom - ring.index();
    return flushing.isReady() || ahead < 0 || ahead < ring.slots() && !ring.isEmpty(armedFrom);
  }

  /** Whether a completion can be polled. */
  public boolean hasPollable() {
    return parser.hasPollable() || flushing.isReady();
  }
}

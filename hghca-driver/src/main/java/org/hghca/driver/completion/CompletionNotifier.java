package org.hghca.driver.completion;

import java.util.Optional;
import org.hghca.abi.Doorbell;
import org.hghca.driver.event.WatchedQueue;
import org.hghca.provider.Resource;
import org.hghca.provider.event.EventChannel;
import org.hghca.uar.UarPage;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/**
 * Notifies a completion channel of completions, once per arming. Under the completion queue's lock,
 * except for {@link #notifyChannel}, {@link #check} and {@link #isArmedForAll}.
 */
public final class CompletionNotifier<Q extends Resource & CompletionQueue> {
  private static final int SOLICITED = 1;
  private static final int ALL = 2;

  private final Q queue;
  private final int number;
  private final CompletionRing ring;
  private final CompletionParser parser;
  private final FlushingQueuePairs flushing;
  private final UarPage uar;

  /** Whether the card raises events. */
  private final boolean cardTells;

  /** Empty for a queue that is only polled. */
  private final Optional<EventChannel> channel;

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
   * @param channel empty for a queue that is only polled
   */
  public CompletionNotifier(
      Q queue,
      int number,
      CompletionParser parser,
      FlushingQueuePairs flushing,
      UarPage uar,
      boolean cardTells,
      Optional<EventChannel> channel) {
    this.queue = queue;
    this.number = number;
    this.ring = parser.ring;
    this.parser = parser;
    this.flushing = flushing;
    this.uar = uar;
    this.cardTells = cardTells;
    this.channel = channel;
  }

  public Optional<CompletionChannel> channel() {
    return channel.map(CompletionChannel.class::cast);
  }

  /**
   * Whether it can be armed.
   *
   * @throws VerbsException EINVAL without a channel, EOPNOTSUPP when solicited receives are not
   *     reported
   */
  public void check(boolean solicitedOnly) {
    if (channel.isEmpty()) {
      throw new VerbsException(
          Errno.EINVAL, "%s has no completion channel".formatted(queue.describe()));
    }
    if (solicitedOnly && !cardTells) {
      throw new VerbsException(
          Errno.EOPNOTSUPP,
          "%s has no event queues: nothing reports which receives are solicited"
              .formatted(queue.context().device().name()));
    }
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

  /** A completion has arrived, with or without an event of the card. */
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

  /** Notifies the channel. Without a lock. */
  public void notifyChannel() {
    channel.orElseThrow().give(queue);
  }

  /** The queue is closed. */
  public void close() {
    channel.ifPresent(c -> c.forget(queue));
  }
}

package org.hghca.driver;

import org.hghca.abi.QpcState;
import org.hghca.mailbox.CommandInterface;
import org.hghca.vfio.TimeScale;

/**
 * What the first RTL says of the sequence numbers of a queue pair, and since when it says the same.
 * Under the queue pair's monitor, but for {@link #ask}.
 */
final class PsnWatch {
  private static final int PSN_MASK = 0xff_ffff;

  /** How long sequence numbers rest before nothing is taken to be in the air. */
  private static final long REST_NANOS = 1_000_000;

  /** Looks that may find sequence numbers moving before that is no reason to wait any more. */
  private static final int LOOKS_FOR_REST = 100;

  private final ProgrammedContext context;
  private final BudgetedSendRing sends;
  private final CommandInterface commands;
  private final TimeScale time;
  private final int number;

  /** The sequence number of the first send. */
  private int firstSend;

  /** What the card said last, and since when; null for not asked. */
  private LivePsns last;

  private long since;

  /**
   * A queue pair that was not asked for.
   *
   * @param time the card's
   */
  PsnWatch(
      int number,
      ProgrammedContext context,
      BudgetedSendRing sends,
      CommandInterface commands,
      TimeScale time) {
    this.number = number;
    this.context = context;
    this.sends = sends;
    this.commands = commands;
    this.time = time;
  }

  /** Sends begin, with a sequence number. */
  void begin(int psn) {
    firstSend = psn;
  }

  void forget() {
    last = null;
  }

  /** What the card says now. Under any lock. */
  LivePsns ask() {
    return LivePsns.read(commands, time, number, context.last(), sends.hasRung());
  }

  /** What the card says when it says the same twice: MODIFY_QP takes back what moves meanwhile. */
  LivePsns atRest() {
    LivePsns now = ask();
    LivePsns before;
    int looks = 0;
    do {
      before = now;
      now = ask();
    } while (!now.equals(before) && ++looks < LOOKS_FOR_REST);
    return now;
  }

  /**
   * Asks the card; returns whether it has said the same for a while.
   *
   * @param now nanoseconds of a clock of the card's time
   */
  boolean rests(long now) {
    LivePsns live = ask();
    if (!live.equals(last)) {
      last = live;
      since = now;
    }
    return now - since >= REST_NANOS;
  }

  /** Whether the card was in ERR when {@link #rests} asked last. */
  boolean wasInError() {
    return last.state() == QpcState.ERR;
  }

  /** Whether all packets of what was rung had left when {@link #rests} asked last. */
  boolean hadSentAll() {
    return last.nextSend() == (int) (firstSend + sends.packets() & PSN_MASK);
  }

  /**
   * Whether the card, not in ERR, had sent all and had seen all acknowledged when {@link #rests}
   * asked last.
   */
  boolean wasAllAcknowledged() {
    return last != null && !wasInError() && last.oldestUnacked() == last.nextSend() && hadSentAll();
  }
}

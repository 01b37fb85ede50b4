package org.hghca.driver.rtl.recovery;

import org.hghca.abi.QpcState;
import org.hghca.driver.rtl.ring.QuotaSendRing;
import org.hghca.driver.state.ProgrammedContext;
import org.hghca.mailbox.CommandInterface;
import org.hghca.vfio.TimeScale;

/**
 * The sequence numbers of a queue pair that the first RTL reports, and since when they are
 * unchanged. Under the queue pair's monitor, except for {@link #ask}.
 */
final class PsnWatch {
  private static final int PSN_MASK = 0xff_ffff;

  /** How long sequence numbers must be unchanged before the queue pair is regarded as idle. */
  private static final long REST_NANOS = 1_000_000;

  /** Number of checks with changing sequence numbers after which the wait ends. */
  private static final int LOOKS_FOR_REST = 100;

  private final ProgrammedContext context;
  private final QuotaSendRing sends;
  private final CommandInterface commands;
  private final TimeScale time;
  private final int number;

  /** The sequence number of the first send. */
  private int firstSend;

  /** The card's last report, and its time; null if it was not queried. */
  private LivePsns last;

  private long since;

  /**
   * A queue pair before the first query.
   *
   * @param time the card's time scale
   */
  PsnWatch(
      int number,
      ProgrammedContext context,
      QuotaSendRing sends,
      CommandInterface commands,
      TimeScale time) {
    this.number = number;
    this.context = context;
    this.sends = sends;
    this.commands = commands;
    this.time = time;
  }

  /** Sends start, with a sequence number. */
  void begin(int psn) {
    firstSend = psn;
  }

  void forget() {
    last = null;
  }

  /** The card's current report. Under any lock. */
  LivePsns ask() {
    return LivePsns.read(commands, time, number, context.last(), sends.hasRung());
  }

  /**
   * The card's report once two queries agree: MODIFY_QP would revert changes that happen meanwhile.
   */
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
   * Queries the card; returns whether its report has been unchanged for a while.
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

  /** Whether the card was in ERR when {@link #rests} last queried. */
  boolean wasInError() {
    return last.state() == QpcState.ERR;
  }

  /** Whether all packets of rung requests had left when {@link #rests} last queried. */
  boolean hadSentAll() {
    return last.nextSend() == (int) (firstSend + sends.packets() & PSN_MASK);
  }

  /**
   * Whether the card, not in ERR, had sent all requests and received all acknowledgements when
   * {@link #rests} last queried.
   */
  boolean wasAllAcknowledged() {
    return last != null && !wasInError() && last.oldestUnacked() == last.nextSend() && hadSentAll();
  }
}

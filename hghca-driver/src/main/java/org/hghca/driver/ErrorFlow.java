package org.hghca.driver;

import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.VerbsException;

/**
 * How a queue pair goes through its states, meets errors and ends. On a card by the document the
 * card does it, {@link HardwareErrorFlow}; on one that neither times out nor flushes the driver
 * does much of it in the card's stead, {@link SoftwareErrorFlow}. Which of the two is chosen when
 * the queue pair is made.
 *
 * <p>Called under the queue pair's monitor unless said otherwise, or in {@link ErrorReports}.
 */
sealed interface ErrorFlow extends ErrorReports permits HardwareErrorFlow, SoftwareErrorFlow {

  /** Itself, for what exists on a card that needs it only. */
  default SoftwareErrorFlow software() {
    throw new IllegalStateException("this card times out and flushes by itself");
  }

  /** The queue pair has just come into ERR. Under any lock. */
  void failed();

  // ---- states

  /** The peer learns the sequence number that sends will begin with. Under no lock. */
  void announced(int psn);

  /**
   * Takes the queue pair to a state other than RESET and ERR, or gives it other attributes.
   *
   * @throws VerbsException EINVAL, EOPNOTSUPP for attributes that this device does not take
   */
  void advance(QpState from, QpState to, QpAttributes attributes);

  /** Takes the queue pair to RESET or ERR. */
  void stop(QpState from, QpState to, QpAttributes attributes);

  /** The attributes of a queue pair that is not in RESET, as they are now. */
  QpAttributes query();

  /** The slot where the receive ring of the next life begins, or of this one. */
  int firstReceive();

  /** The rings hold nothing any more. */
  void reset();

  /**
   * Ends what is outstanding, before the card gets the command to forget a closed queue pair.
   *
   * @param last the state that it was in
   * @throws VerbsException EIO when it does not end, so that the card may still reach its memory
   */
  void end(QpState last);

  /** Gives the number back, which the card knows no more, as far as it can be used again. */
  void freeNumber();
}

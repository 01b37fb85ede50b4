package org.hghca.driver.transition;

import org.hghca.driver.completion.ErrorReports;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.VerbsException;

/**
 * The state transitions, error handling and end of a queue pair, which modify_qp, query_qp and
 * destroy_qp ask for: {@link StateFlowByCard} where the card times out, flushes and answers
 * QUERY_QP. The device's card family selects it when the queue pair is created.
 *
 * <p>Called under the queue pair's monitor unless said otherwise, or in {@link ErrorReports}.
 */
public interface StateFlow extends ErrorReports {

  /** The queue pair has just entered ERR. Under any lock. */
  void failed();

  // ---- states

  /**
   * The peer is given the first sequence number of sends, before the queue pair gets it with RTS.
   * Without a lock.
   */
  void announced(int psn);

  /**
   * Takes the queue pair to a state other than RESET and ERR, or gives it other attributes.
   *
   * @throws VerbsException EINVAL, EOPNOTSUPP for attributes or states that this device does not
   *     support
   */
  void advance(QpState from, QpState to, QpAttributes attributes);

  /** Takes the queue pair to RESET or ERR. */
  void stop(QpState from, QpState to, QpAttributes attributes);

  /** The current attributes of a queue pair that is not in RESET. */
  QpAttributes query();

  /** The rings are empty. */
  void reset();

  /**
   * Ends outstanding requests, before the card gets the command to release a closed queue pair.
   *
   * @param last its previous state
   * @throws VerbsException EIO when they do not end, so that the card may still access their memory
   */
  void end(QpState last);

  /** Frees the number, which the card has released, if it can be reused. */
  void freeNumber();
}

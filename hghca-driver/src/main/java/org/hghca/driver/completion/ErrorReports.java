package org.hghca.driver.completion;

import org.hghca.verbs.WcStatus;

/**
 * Receives the errors of a queue pair from its completions. Called under a completion queue's lock:
 * it must not take the receive lock, whose holders take that one.
 */
public interface ErrorReports {

  /** The requests that the driver completes itself. */
  DriverFlush flush();

  /** The card has reported an error. */
  void reported(boolean send, WcStatus status);
}

package org.hghca.verbs;

import java.util.Locale;

/** What a context counts. Later versions may count more. */
public enum Counter {
  /** Send requests that were posted. */
  SENDS_POSTED,

  /** Receive requests that were posted, to shared queues too. */
  RECEIVES_POSTED,

  /** Stores that told the device of send requests. */
  DOORBELLS,

  /** Completions that were polled, including unsignaled ones. */
  COMPLETIONS,

  /** Completions with a status other than SUCCESS and WR_FLUSH_ERR. */
  FAILURES,

  /** Completions with WR_FLUSH_ERR. */
  FLUSHED,

  /** Requests that ended because the peer did not answer, RETRY_EXC_ERR. */
  RETRIES_EXCEEDED,

  /** Requests that ended because the peer had no receive, RNR_RETRY_EXC_ERR. */
  RNR_RETRIES_EXCEEDED,

  /** Requests that the peer refused: REM_INV_REQ_ERR, REM_ACCESS_ERR, REM_OP_ERR. */
  NAKS,

  /** Events delivered to completion channels. */
  COMPLETION_EVENTS,

  /**
   * Completion events that the device did not report with an event and an interrupt, although a
   * queue was armed for them: the driver's own look, twice a second, found them. A device that
   * works has none. Of all contexts.
   */
  MISSED_EVENTS,

  /** Asynchronous events that were raised. */
  ASYNC_EVENTS,

  /** Commands given to the device, by all contexts. */
  COMMANDS,

  /** Refused accesses of the device to memory, of all contexts. */
  DMA_FAULTS;

  /** In small letters, as tools print it: {@code sends_posted}. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}

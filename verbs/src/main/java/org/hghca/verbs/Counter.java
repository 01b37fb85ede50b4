package org.hghca.verbs;

import java.util.Locale;

/**
 * What a context counts, from its opening on, or, where {@link #isGauge} says so, has at the
 * moment. Later versions may count more. The unit of a name that ends with {@code bytes} is the
 * byte; all others are numbers of what they name.
 */
public enum Counter {
  /** Send requests that were posted. */
  SENDS_POSTED("Send requests that were posted"),

  /** Receive requests that were posted, to shared queues too. */
  RECEIVES_POSTED("Receive requests that were posted"),

  /** Stores that told the device of send requests. */
  DOORBELLS("Stores that told the device of send requests"),

  /** Completions that were polled, including unsignaled ones. */
  COMPLETIONS("Completions that were polled"),

  /** Completions with a status other than SUCCESS and WR_FLUSH_ERR. */
  FAILURES("Completions with an error other than a flush"),

  /** Completions with WR_FLUSH_ERR. */
  FLUSHED("Completions of flushed requests"),

  /** Requests that ended because the peer did not answer, RETRY_EXC_ERR. */
  RETRIES_EXCEEDED("Requests that ended because the peer did not answer"),

  /** Requests that ended because the peer had no receive, RNR_RETRY_EXC_ERR. */
  RNR_RETRIES_EXCEEDED("Requests that ended because the peer had no receive"),

  /** Requests that the peer refused: REM_INV_REQ_ERR, REM_ACCESS_ERR, REM_OP_ERR. */
  NAKS("Requests that the peer refused"),

  /** Events delivered to completion channels. */
  COMPLETION_EVENTS("Events delivered to completion channels"),

  /**
   * Completion events that the device did not report with an event and an interrupt, although a
   * queue was armed for them: the driver's own look, twice a second, found them. A device that
   * works has none. Of all contexts.
   */
  MISSED_EVENTS("Completion events that the device did not report; of all contexts of the device"),

  /** Asynchronous events that were raised. */
  ASYNC_EVENTS("Asynchronous events that were raised"),

  /** Commands given to the device, by all contexts. */
  COMMANDS("Commands given to the device; of all contexts of the device"),

  /** Refused accesses of the device to memory, of all contexts. */
  DMA_FAULTS("Refused accesses of the device to memory; of all contexts of the device"),

  /**
   * Bytes of the data of SENDs and RDMA WRITEs that were given to the device, whatever became of
   * them; without those that were posted in ERR, which it does not see.
   */
  SENT_BYTES("Bytes of the sends and RDMA WRITEs that were given to the device"),

  /** Bytes that RDMA READs and atomics asked for that were given to the device. */
  READ_BYTES("Bytes of the RDMA READs and atomics that were given to the device"),

  /**
   * Bytes of received messages whose completions were polled: as {@link Completions#byteLength}, so
   * with 40 bytes of a datagram's GRH, and with what an RDMA WRITE with immediate has written. No
   * driver sees other RDMA WRITEs of a peer, nor its READs.
   */
  RECEIVED_BYTES("Bytes of the messages whose receive completions were polled"),

  /** How often a queue pair of type RC or UC was connected: has come from INIT to RTR. */
  CONNECTIONS_MADE("Times that a queue pair was connected"),

  /** Queue pairs of type RC or UC that are connected: in RTR, RTS, SQD or SQE. */
  CONNECTIONS("Queue pairs that are connected", true),

  /** Open queue pairs, of all types. */
  QUEUE_PAIRS("Open queue pairs", true),

  /** Open memory regions. */
  MEMORY_REGIONS("Open memory regions", true),

  /** Bytes of the open memory regions; memory of several of them counts several times. */
  REGISTERED_BYTES("Bytes of the open memory regions", true),

  /**
   * Bytes that are mapped for the device, by whole pages: those of memory regions, and of the
   * driver's rings, tables and buffers. Of a card they are pinned. Of all contexts.
   */
  PINNED_BYTES("Bytes that are mapped for the device; of all contexts of the device", true);

  private final String description;
  private final boolean gauge;

  Counter(String description) {
    this(description, false);
  }

  Counter(String description, boolean gauge) {
    this.description = description;
    this.gauge = gauge;
  }

  /** In small letters, as tools print it: {@code sends_posted}. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** In one line, for people. */
  public String description() {
    return description;
  }

  /** Whether it tells what there is at the moment, and so may become less. */
  public boolean isGauge() {
    return gauge;
  }
}

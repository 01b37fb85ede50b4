package org.hghca.verbs;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;

/**
 * What a context has done since it was opened, and what it has open, as its driver sees it; read
 * without stopping it, so the numbers need not belong to one moment. {@link Counter} states what
 * each number counts. Immutable.
 */
public final class Counters {
  private final Map<Counter, Long> values;

  private Counters(Map<Counter, Long> values) {
    this.values = values;
  }

  /** For providers: what is not among the values is 0. */
  public static Counters of(Map<Counter, Long> values) {
    Map<Counter, Long> all = new EnumMap<>(Counter.class);
    for (Counter counter : Counter.values()) {
      all.put(counter, values.getOrDefault(counter, 0L));
    }
    return new Counters(Collections.unmodifiableMap(all));
  }

  /** All counters, in the order of {@link Counter}. */
  public Map<Counter, Long> asMap() {
    return values;
  }

  /** One counter. */
  public long get(Counter counter) {
    return values.get(counter);
  }

  /** {@link Counter#SENDS_POSTED}. */
  public long sendsPosted() {
    return get(Counter.SENDS_POSTED);
  }

  /** {@link Counter#RECEIVES_POSTED}. */
  public long receivesPosted() {
    return get(Counter.RECEIVES_POSTED);
  }

  /** {@link Counter#DOORBELLS}. */
  public long doorbells() {
    return get(Counter.DOORBELLS);
  }

  /** {@link Counter#COMPLETIONS}. */
  public long completions() {
    return get(Counter.COMPLETIONS);
  }

  /** {@link Counter#FAILURES}. */
  public long failures() {
    return get(Counter.FAILURES);
  }

  /** {@link Counter#FLUSHED}. */
  public long flushed() {
    return get(Counter.FLUSHED);
  }

  /** {@link Counter#RETRIES_EXCEEDED}. */
  public long retriesExceeded() {
    return get(Counter.RETRIES_EXCEEDED);
  }

  /** {@link Counter#RNR_RETRIES_EXCEEDED}. */
  public long rnrRetriesExceeded() {
    return get(Counter.RNR_RETRIES_EXCEEDED);
  }

  /** {@link Counter#NAKS}. */
  public long naks() {
    return get(Counter.NAKS);
  }

  /** {@link Counter#COMPLETION_EVENTS}. */
  public long completionEvents() {
    return get(Counter.COMPLETION_EVENTS);
  }

  /** {@link Counter#MISSED_EVENTS}. */
  public long missedEvents() {
    return get(Counter.MISSED_EVENTS);
  }

  /** {@link Counter#ASYNC_EVENTS}. */
  public long asyncEvents() {
    return get(Counter.ASYNC_EVENTS);
  }

  /** {@link Counter#COMMANDS}. */
  public long commands() {
    return get(Counter.COMMANDS);
  }

  /** {@link Counter#DMA_FAULTS}. */
  public long dmaFaults() {
    return get(Counter.DMA_FAULTS);
  }

  /** {@link Counter#SENT_BYTES}. */
  public long sentBytes() {
    return get(Counter.SENT_BYTES);
  }

  /** {@link Counter#READ_BYTES}. */
  public long readBytes() {
    return get(Counter.READ_BYTES);
  }

  /** {@link Counter#RECEIVED_BYTES}. */
  public long receivedBytes() {
    return get(Counter.RECEIVED_BYTES);
  }

  /** {@link Counter#CONNECTIONS_MADE}. */
  public long connectionsMade() {
    return get(Counter.CONNECTIONS_MADE);
  }

  /** {@link Counter#CONNECTIONS}. */
  public long connections() {
    return get(Counter.CONNECTIONS);
  }

  /** {@link Counter#QUEUE_PAIRS}. */
  public long queuePairs() {
    return get(Counter.QUEUE_PAIRS);
  }

  /** {@link Counter#MEMORY_REGIONS}. */
  public long memoryRegions() {
    return get(Counter.MEMORY_REGIONS);
  }

  /** {@link Counter#REGISTERED_BYTES}. */
  public long registeredBytes() {
    return get(Counter.REGISTERED_BYTES);
  }

  /** {@link Counter#PINNED_BYTES}. */
  public long pinnedBytes() {
    return get(Counter.PINNED_BYTES);
  }

  /** Every counter that is not 0, for logs. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    values.forEach(
        (counter, value) -> {
          if (value != 0) {
            text.append(text.isEmpty() ? "" : ", ")
                .append(counter.text())
                .append(' ')
                .append(value);
          }
        });
    return text.isEmpty() ? "all counters are 0" : text.toString();
  }
}

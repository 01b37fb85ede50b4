package org.hghca.provider.counters;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.hghca.verbs.Counter;
import org.hghca.verbs.Counters;
import org.hghca.verbs.WcStatus;

/**
 * The counters of a context: the sum of the counts of its open objects, where counting costs only
 * an addition, and of its closed objects. Thread-safe; objects are read without stopping them.
 */
public final class ContextCounters {
  private final Set<Counted> counted = new HashSet<>();
  private long sends;
  private long receives;
  private long doorbells;
  private long completions;
  private final long[] failures = new long[WcStatus.values().length];
  private long events;

  /** An object that counts. */
  public interface Counted {

    /** Adds its counts since its creation. */
    void addTo(ContextCounters counters);
  }

  public synchronized void add(Counted object) {
    counted.add(object);
  }

  /** An object is closed: its counts are kept. */
  public synchronized void remove(Counted object) {
    if (counted.remove(object)) {
      object.addTo(this);
    }
  }

  /** The counts of a work queue. */
  public synchronized void add(long sendsPosted, long receivesPosted, long doorbellsRung) {
    sends += sendsPosted;
    receives += receivesPosted;
    doorbells += doorbellsRung;
  }

  /**
   * The counts of a completion queue.
   *
   * @param byStatus number of completions per status, except SUCCESS
   */
  public synchronized void add(long taken, long[] byStatus) {
    completions += taken;
    for (int i = 0; i < failures.length; i++) {
      failures[i] += byStatus[i];
    }
  }

  /** The counts of a completion channel. */
  public synchronized void addEvents(long given) {
    events += given;
  }

  private long failures(WcStatus status) {
    return failures[status.code()];
  }

  /**
   * The sum of all.
   *
   * @param missedEvents completion events that the device did not report
   * @param asyncEvents events that were raised
   * @param commands commands given to the device
   * @param dmaFaults accesses that were refused
   */
  public synchronized Counters counters(
      long missedEvents, long asyncEvents, long commands, long dmaFaults) {
    ContextCounters sum = new ContextCounters();
    sum.add(sends, receives, doorbells);
    sum.add(completions, failures);
    sum.addEvents(events);
    counted.forEach(object -> object.addTo(sum));
    return sum.toCounters(missedEvents, asyncEvents, commands, dmaFaults);
  }

  private synchronized Counters toCounters(
      long missedEvents, long asyncEvents, long commands, long dmaFaults) {
    long failed = 0;
    for (WcStatus status : WcStatus.values()) {
      if (status != WcStatus.SUCCESS && status != WcStatus.WR_FLUSH_ERR) {
        failed += failures(status);
      }
    }
    return Counters.of(
        Map.ofEntries(
            Map.entry(Counter.SENDS_POSTED, sends),
            Map.entry(Counter.RECEIVES_POSTED, receives),
            Map.entry(Counter.DOORBELLS, doorbells),
            Map.entry(Counter.COMPLETIONS, completions),
            Map.entry(Counter.FAILURES, failed),
            Map.entry(Counter.FLUSHED, failures(WcStatus.WR_FLUSH_ERR)),
            Map.entry(Counter.RETRIES_EXCEEDED, failures(WcStatus.RETRY_EXC_ERR)),
            Map.entry(Counter.RNR_RETRIES_EXCEEDED, failures(WcStatus.RNR_RETRY_EXC_ERR)),
            Map.entry(
                Counter.NAKS,
                failures(WcStatus.REM_INV_REQ_ERR)
                    + failures(WcStatus.REM_ACCESS_ERR)
                    + failures(WcStatus.REM_OP_ERR)),
            Map.entry(Counter.COMPLETION_EVENTS, events),
            Map.entry(Counter.MISSED_EVENTS, missedEvents),
            Map.entry(Counter.ASYNC_EVENTS, asyncEvents),
            Map.entry(Counter.COMMANDS, commands),
            Map.entry(Counter.DMA_FAULTS, dmaFaults)));
  }
}

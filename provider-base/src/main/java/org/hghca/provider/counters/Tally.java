package org.hghca.provider.counters;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import org.hghca.verbs.Counter;
import org.hghca.verbs.Counters;
import org.hghca.verbs.WcStatus;

/** Numbers by counter, to which objects add theirs. Not thread-safe. */
public final class Tally {
  private static final Counter[] COUNTERS = Counter.values();
  private static final WcStatus[] STATUSES = WcStatus.values();

  private final long[] values = new long[COUNTERS.length];

  public void add(Counter counter, long value) {
    values[counter.ordinal()] += value;
  }

  /** The requests of a work queue or of several. */
  public void addRequests(long sendsPosted, long receivesPosted, long doorbells) {
    add(Counter.SENDS_POSTED, sendsPosted);
    add(Counter.RECEIVES_POSTED, receivesPosted);
    add(Counter.DOORBELLS, doorbells);
  }

  /** The data of a queue pair's requests. */
  public void addBytes(long sent, long read, long received) {
    add(Counter.SENT_BYTES, sent);
    add(Counter.READ_BYTES, read);
    add(Counter.RECEIVED_BYTES, received);
  }

  /**
   * The counts of a completion queue.
   *
   * @param byStatus number of completions per status, except SUCCESS
   */
  public void addCompletions(long taken, long[] byStatus) {
    add(Counter.COMPLETIONS, taken);
    for (WcStatus status : STATUSES) {
      addFailures(status, byStatus[status.code()]);
    }
  }

  private void addFailures(WcStatus status, long count) {
    switch (status) {
      case SUCCESS -> {
        return;
      }
      case WR_FLUSH_ERR -> {
        add(Counter.FLUSHED, count);
        return;
      }
      case RETRY_EXC_ERR -> add(Counter.RETRIES_EXCEEDED, count);
      case RNR_RETRY_EXC_ERR -> add(Counter.RNR_RETRIES_EXCEEDED, count);
      case REM_INV_REQ_ERR, REM_ACCESS_ERR, REM_OP_ERR -> add(Counter.NAKS, count);
      default -> {}
    }
    add(Counter.FAILURES, count);
  }

  void addAll(Tally other) {
    for (int i = 0; i < values.length; i++) {
      values[i] += other.values[i];
    }
  }

  public long get(Counter counter) {
    return values[counter.ordinal()];
  }

  public void clear() {
    Arrays.fill(values, 0);
  }

  /** What was counted stays; what there is at the moment does not. */
  void clearGauges() {
    for (Counter counter : COUNTERS) {
      if (counter.isGauge()) {
        values[counter.ordinal()] = 0;
      }
    }
  }

  public Counters toCounters() {
    Map<Counter, Long> all = new EnumMap<>(Counter.class);
    for (Counter counter : COUNTERS) {
      all.put(counter, get(counter));
    }
    return Counters.of(all);
  }
}

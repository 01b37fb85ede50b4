package org.hghca.wire.link;

import java.util.EnumMap;
import java.util.Map;
import org.hghca.wire.DropCause;
import org.hghca.wire.DropCounters;

/** Counts for {@link LinkCounters}; each number is written by one thread and read by any. */
final class LinkCounts {
  private static final SendFailure[] FAILURES = SendFailure.values();

  private final long[] notSent = new long[FAILURES.length];
  private final DropCounters dropped = new DropCounters();
  private long sent;
  private long received;

  void sent(int packets) {
    sent += packets;
  }

  void notSent(SendFailure failure) {
    notSent[failure.ordinal()]++;
  }

  void received() {
    received++;
  }

  void received(int packets) {
    received += packets;
  }

  void dropped(DropCause cause) {
    dropped.count(cause);
  }

  LinkCounters snapshot() {
    Map<SendFailure, Long> failures = new EnumMap<>(SendFailure.class);
    for (SendFailure failure : FAILURES) {
      if (notSent[failure.ordinal()] > 0) {
        failures.put(failure, notSent[failure.ordinal()]);
      }
    }
    return new LinkCounters(sent, received, failures, dropped.byCause());
  }
}

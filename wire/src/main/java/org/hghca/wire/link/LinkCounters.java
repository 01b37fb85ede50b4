package org.hghca.wire.link;

import java.util.Map;
import org.hghca.wire.DropCause;

/**
 * The counters of a link since it was opened.
 *
 * @param sent packets given to the system
 * @param received packets read from it
 * @param notSent packets that were not sent, by cause
 * @param dropped received frames that were dropped, by cause
 */
public record LinkCounters(
    long sent, long received, Map<SendFailure, Long> notSent, Map<DropCause, Long> dropped) {

  /** Counters; the maps are copied. */
  public LinkCounters {
    notSent = Map.copyOf(notSent);
    dropped = Map.copyOf(dropped);
  }
}

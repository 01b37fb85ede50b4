package org.hghca.provider.snapshot;

import static org.hghca.provider.snapshot.Metric.counted;

import java.util.List;
import java.util.stream.Stream;
import org.hghca.verbs.Counter;

/** What a row of a snapshot is about, and the metrics of each, in their order in the file. */
public enum Kind {
  /** An opening of a device: all of {@link Counter}. */
  CONTEXT("", Counter.values()),

  QUEUE_PAIR(
      "qp_",
      Counter.SENDS_POSTED,
      Counter.RECEIVES_POSTED,
      Counter.DOORBELLS,
      Counter.SENT_BYTES,
      Counter.READ_BYTES,
      Counter.RECEIVED_BYTES,
      Counter.FAILURES,
      Counter.CONNECTIONS_MADE),

  COMPLETION_QUEUE(
      "cq_",
      Counter.COMPLETIONS,
      Counter.FAILURES,
      Counter.FLUSHED,
      Counter.RETRIES_EXCEEDED,
      Counter.RNR_RETRIES_EXCEEDED,
      Counter.NAKS),

  /** The port of a device in software. */
  PORT(
      "port_",
      List.of(
          counted("packets_sent", "Packets given to the port"),
          counted("packets_received", "Packets taken from the port"),
          counted("packets_dropped", "Packets that the device dropped, for any cause"),
          counted("retries", "Times that a requester began to repeat packets"),
          counted("timeouts", "Times that an acknowledgement did not come in time"),
          counted("naks_sent", "NAKs sent as responder, without those for lack of a receive"),
          counted("naks_received", "NAKs received as requester, all of them"),
          counted("rnr_naks_sent", "NAKs sent as responder for lack of a receive"),
          counted("rnr_naks_received", "NAKs received as requester for lack of a receive"),
          counted("congestion_marks", "Packets that came with a mark of congestion"),
          counted("notifications_sent", "Congestion notifications sent"),
          counted("notifications_received", "Congestion notifications that slowed a queue pair"),
          counted("duplicates", "Repeated requests received"))),

  /** The link of a device in software to other processes. */
  LINK(
      "link_",
      List.of(
          counted("packets_sent", "Packets given to the system"),
          counted("packets_received", "Packets read from the system"),
          counted("packets_not_sent", "Packets that were not sent, for any cause"),
          counted("packets_dropped", "Received frames that were dropped, for any cause")));

  private final String prefix;
  private final List<Counter> counters;
  private final List<Metric> metrics;

  Kind(String prefix, Counter... counters) {
    this.prefix = prefix;
    this.counters = List.of(counters);
    this.metrics = Stream.of(counters).map(Metric::of).toList();
  }

  Kind(String prefix, List<Metric> metrics) {
    this.prefix = prefix;
    this.counters = List.of();
    this.metrics = metrics;
  }

  /** What the names of its metrics begin with outside of a row, such as {@code qp_}. */
  public String prefix() {
    return prefix;
  }

  public List<Metric> metrics() {
    return metrics;
  }

  /** The counters that are its metrics, in their order; none of a port or link. */
  List<Counter> counters() {
    return counters;
  }
}

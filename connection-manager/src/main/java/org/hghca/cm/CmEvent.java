package org.hghca.cm;

import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.hghca.verbs.VerbsException;

/**
 * Something that happened to an identifier: {@code rdma_cm_event}. Each event that was taken from a
 * channel must be acknowledged: {@link CmId#close} waits for it. Thread-safe.
 */
public final class CmEvent implements AutoCloseable {
  private final CmId id;
  private final Report report;
  private final Optional<CmId> listener;
  private final AtomicBoolean acknowledged = new AtomicBoolean();

  private CmEvent(CmId id, Report report, Optional<CmId> listener) {
    this.id = Objects.requireNonNull(id);
    this.report = report;
    this.listener = listener;
  }

  static CmEvent of(CmId id, Report report) {
    return new CmEvent(id, report, Optional.empty());
  }

  /** A request for a new identifier. */
  static CmEvent request(CmId child, CmId listener, ConnectionParameters parameters) {
    Report request = Report.of(CmEventType.CONNECT_REQUEST).with(parameters);
    return new CmEvent(child, request, Optional.of(listener));
  }

  CmEvent with(Report changed) {
    return new CmEvent(id, changed, listener);
  }

  Report report() {
    return report;
  }

  /** The identifier: of {@link CmEventType#CONNECT_REQUEST} a new one. */
  public CmId id() {
    return id;
  }

  /** What happened. */
  public CmEventType type() {
    return report.type();
  }

  /**
   * 0 for success; a negative error number; of {@link CmEventType#REJECTED} the reason of the peer,
   * 8 if there is no listener on the port, 28 if its program refuses; of {@link
   * CmEventType#UNREACHABLE} with datagrams a positive SIDR status.
   */
  public int status() {
    return report.status();
  }

  /** What the status means, and what was tried; empty for success. */
  public String message() {
    return report.message();
  }

  /** The private data of the peer; padded with zeros by some carriers. */
  public byte[] privateData() {
    return report.parameters().privateData();
  }

  /**
   * Of requests, responses and established connections: what the peer asks for, as seen from this
   * end. The responder resources are what this end has to serve, at most, and the initiator depth
   * is what it may have outstanding.
   */
  public ConnectionParameters parameters() {
    return report.parameters();
  }

  /** Of {@link CmEventType#CONNECT_REQUEST}: the identifier that listens. */
  public Optional<CmId> listener() {
    return listener;
  }

  /** Where datagrams go, once that is known. */
  public Optional<DatagramParameters> datagram() {
    return report.datagram();
  }

  /** The identifier that cannot be closed before this event is acknowledged. */
  CmId owner() {
    return listener.orElse(id);
  }

  /** {@code rdma_ack_cm_event}. Acknowledging twice does nothing. */
  public void acknowledge() {
    if (acknowledged.compareAndSet(false, true)) {
      owner().deliveries().remove();
    }
  }

  /** As {@link #acknowledge}. */
  @Override
  public void close() {
    acknowledge();
  }

  /** The failure that this event reports. */
  VerbsException failure() {
    return report.failure();
  }

  @Override
  public String toString() {
    return report.toString();
  }
}

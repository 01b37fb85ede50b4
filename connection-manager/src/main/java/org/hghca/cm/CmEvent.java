package org.hghca.cm;

import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/**
 * Something that happened to an identifier: {@code rdma_cm_event}. Each event that was taken from a
 * channel must be acknowledged: {@link CmId#close} waits for it. Thread-safe.
 */
public final class CmEvent implements AutoCloseable {
  private final CmId id;
  private final CmEventType type;
  private final int status;
  private final String message;
  private final ConnectionParameters parameters;
  private final Optional<CmId> listener;
  private final Optional<DatagramParameters> datagram;
  private final AtomicBoolean acknowledged = new AtomicBoolean();

  private CmEvent(
      CmId id,
      CmEventType type,
      int status,
      String message,
      ConnectionParameters parameters,
      Optional<CmId> listener,
      Optional<DatagramParameters> datagram) {
    this.id = Objects.requireNonNull(id);
    this.type = type;
    this.status = status;
    this.message = message;
    this.parameters = parameters;
    this.listener = listener;
    this.datagram = datagram;
  }

  static CmEvent of(CmId id, CmEventType type) {
    return failure(id, type, 0, "");
  }

  static CmEvent failure(CmId id, CmEventType type, int status, String message) {
    return new CmEvent(
        id,
        type,
        status,
        message,
        ConnectionParameters.DEFAULT,
        Optional.empty(),
        Optional.empty());
  }

  CmEvent with(ConnectionParameters changed) {
    return new CmEvent(id, type, status, message, changed, listener, datagram);
  }

  CmEvent from(CmId listening) {
    return new CmEvent(id, type, status, message, parameters, Optional.of(listening), datagram);
  }

  CmEvent with(DatagramParameters destination) {
    return new CmEvent(id, type, status, message, parameters, listener, Optional.of(destination));
  }

  CmEvent as(CmEventType changed) {
    return new CmEvent(id, changed, status, message, parameters, listener, datagram);
  }

  /** The identifier: of {@link CmEventType#CONNECT_REQUEST} a new one. */
  public CmId id() {
    return id;
  }

  /** What happened. */
  public CmEventType type() {
    return type;
  }

  /**
   * 0 for success; a negative error number; of {@link CmEventType#REJECTED} the reason of the peer,
   * 8 if there is no listener on the port, 28 if its program refuses; of {@link
   * CmEventType#UNREACHABLE} with datagrams a positive SIDR status.
   */
  public int status() {
    return status;
  }

  /** What the status means, and what was tried; empty for success. */
  public String message() {
    return message;
  }

  /** The private data of the peer; padded with zeros by some carriers. */
  public byte[] privateData() {
    return parameters.privateData();
  }

  /**
   * Of requests, responses and established connections: what the peer asks for, as seen from this
   * end. The responder resources are what this end has to serve, at most, and the initiator depth
   * is what it may have outstanding.
   */
  public ConnectionParameters parameters() {
    return parameters;
  }

  /** Of {@link CmEventType#CONNECT_REQUEST}: the identifier that listens. */
  public Optional<CmId> listener() {
    return listener;
  }

  /** Where datagrams go, once that is known. */
  public Optional<DatagramParameters> datagram() {
    return datagram;
  }

  /** The identifier that cannot be closed before this event is acknowledged. */
  CmId owner() {
    return listener.orElse(id);
  }

  /** {@code rdma_ack_cm_event}. Acknowledging twice does nothing. */
  public void acknowledge() {
    if (acknowledged.compareAndSet(false, true)) {
      owner().acknowledged();
    }
  }

  /** As {@link #acknowledge}. */
  @Override
  public void close() {
    acknowledge();
  }

  /** The failure that this event reports: ECONNREFUSED for a refusal, else that of the status. */
  VerbsException failure() {
    Errno errno = type == CmEventType.REJECTED ? Errno.ECONNREFUSED : Errno.EIO;
    for (Errno known : Errno.values()) {
      if (known.number() == -status) {
        errno = known;
      }
    }
    return new VerbsException(errno, "%s: %s".formatted(type.symbol(), message));
  }

  @Override
  public String toString() {
    return message.isEmpty()
        ? type.symbol()
        : "%s, status %d: %s".formatted(type.symbol(), status, message);
  }
}

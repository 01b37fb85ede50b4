package org.hghca.cm;

import java.net.InetSocketAddress;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/**
 * A peer's request for a connection. It is accepted, rejected, or closed, which rejects it.
 * Thread-safe.
 */
public final class RdmaRequest implements AutoCloseable {
  private final CmId id;
  private final ConnectionParameters parameters;
  private boolean answered;

  RdmaRequest(CmEvent event) {
    this.id = event.id();
    this.parameters = event.parameters();
  }

  /** Who asks. */
  public InetSocketAddress remoteAddress() {
    return id.remoteAddress();
  }

  /** What the peer asks for, as seen from this end: {@link CmEvent#parameters}. */
  public ConnectionParameters parameters() {
    return parameters;
  }

  /** The private data with which the peer asks. Some carriers pad it with zeros. */
  public byte[] privateData() {
    return parameters.privateData();
  }

  private synchronized boolean answer() {
    boolean first = !answered;
    answered = true;
    return first;
  }

  /**
   * Accepts, and waits until the peer confirms.
   *
   * @throws VerbsException EINVAL when the request was answered; ECONNREFUSED when the peer has
   *     given up; ETIMEDOUT when it does not confirm in time; EINVAL, ENOMEM as the queue pair
   *     requires
   */
  public RdmaConnection accept(RdmaOptions options) throws InterruptedException {
    requireFirst();
    return RdmaConnection.accept(id, options);
  }

  /** Answers, without waiting until the peer confirms. */
  RdmaConnection answer(RdmaOptions options) throws InterruptedException {
    requireFirst();
    return RdmaConnection.answered(id, options);
  }

  /** Whether the peer has given up, or cannot be reached any more. */
  boolean hasFailed() {
    return id.failure().isPresent();
  }

  /**
   * Refuses, with at most 148 bytes for the peer.
   *
   * @throws VerbsException EINVAL when the request was answered
   */
  public void reject(byte[] privateData) {
    requireFirst();
    try (id) {
      id.reject(privateData);
    }
  }

  private void requireFirst() {
    if (!answer()) {
      throw new VerbsException(
          Errno.EINVAL, "the request of %s is answered".formatted(remoteAddress()));
    }
  }

  /** Refuses, unless it is answered. */
  @Override
  public void close() {
    if (answer()) {
      id.close();
    }
  }

  @Override
  public String toString() {
    return "request of " + remoteAddress();
  }
}

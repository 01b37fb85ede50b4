package org.hghca.verbs;

/**
 * Exchanges endpoints between two sides that connect: over a socket, through a file, within a
 * process.
 *
 * @param <X> the exception that it throws; inferred, unchecked if it throws no checked one
 */
@FunctionalInterface
public interface EndpointExchange<X extends Exception> {

  /**
   * Sends our endpoint to the peer, and receives the peer's.
   *
   * @return the peer
   */
  QpEndpoint exchange(QpEndpoint local) throws X;
}

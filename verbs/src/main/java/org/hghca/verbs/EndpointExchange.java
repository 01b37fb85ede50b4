package org.hghca.verbs;

/**
 * How two sides that connect tell each other who they are: over a socket, through a file, within a
 * process.
 *
 * @param <X> what it throws; inferred, and nothing checked for one that throws nothing checked
 */
@FunctionalInterface
public interface EndpointExchange<X extends Exception> {

  /**
   * Tells the peer our endpoint, and gets the peer's.
   *
   * @return the peer
   */
  QpEndpoint exchange(QpEndpoint local) throws X;
}

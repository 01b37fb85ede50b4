package org.hghca.model.transport;

/** The store of queue pair contexts. */
public interface ContextStore {

  /**
   * Fills in the context of a queue pair.
   *
   * @return whether it could be read
   */
  boolean load(int qpn, ConnectionContext context);

  /** Writes back what the transport changes: state and packet sequence numbers. */
  void store(ConnectionContext context);
}

package org.hghca.model.rtl;

/** The {@link ConnectionState} of each queue pair, created on first use. */
public final class ConnectionStates {
  private static final int NUMBERS = 1 << 13;

  private final Contexts contexts;
  private ConnectionState[] connections = new ConnectionState[NUMBERS];

  public ConnectionStates(Contexts contexts) {
    this.contexts = contexts;
  }

  public ConnectionState of(int qpn) {
    OnChipQp qp = contexts.queuePair(qpn);
    if (connections[qp.qpn] == null) {
      connections[qp.qpn] = new ConnectionState(qp);
    }
    return connections[qp.qpn];
  }

  public void reset() {
    connections = new ConnectionState[NUMBERS];
  }
}

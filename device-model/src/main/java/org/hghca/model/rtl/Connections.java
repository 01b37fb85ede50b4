package org.hghca.model.rtl;

/** The {@link Connection} of each queue pair, made when it is first needed. */
final class Connections {
  private static final int NUMBERS = 1 << 13;

  private final Contexts contexts;
  private Connection[] connections = new Connection[NUMBERS];

  Connections(Contexts contexts) {
    this.contexts = contexts;
  }

  Connection of(int qpn) {
    QueuePair qp = contexts.queuePair(qpn);
    if (connections[qp.qpn] == null) {
      connections[qp.qpn] = new Connection(qp);
    }
    return connections[qp.qpn];
  }

  void reset() {
    connections = new Connection[NUMBERS];
  }
}

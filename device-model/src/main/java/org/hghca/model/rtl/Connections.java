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
    int number = qpn & NUMBERS - 1;
    if (connections[number] == null) {
      connections[number] = new Connection(contexts.queuePair(number));
    }
    return connections[number];
  }

  void reset() {
    connections = new Connection[NUMBERS];
  }
}

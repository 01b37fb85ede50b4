package org.hghca.tools.demo;

import org.hghca.programs.peer.PeerException;

/** How the two sides of a demo wait for each other and exchange values. */
interface Rendezvous {

  /** For a process that runs both sides: there is nothing to wait for and nothing to exchange. */
  Rendezvous WITHIN_ONE_PROCESS =
      new Rendezvous() {
        @Override
        public void barrier(String point) {}

        @Override
        public void send(String name, String value) {}

        @Override
        public String receive(String name) {
          throw new IllegalStateException(
              "both sides are in this process: no message carries " + name);
        }
      };

  /**
   * Waits until the other side reaches the same point.
   *
   * @throws PeerException when it does not
   */
  void barrier(String point);

  /**
   * Sends a value to the other side.
   *
   * @throws PeerException when the other side has left
   */
  void send(String name, String value);

  /**
   * Waits for a value of the other side.
   *
   * @throws PeerException when it sends none, or something else
   */
  String receive(String name);
}

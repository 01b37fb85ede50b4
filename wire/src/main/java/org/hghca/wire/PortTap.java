package org.hghca.wire;

/**
 * What is shown the packets of an {@link EthernetPort}. Packets stay the port's. Called on the
 * thread of the port, which must not wait here.
 */
public interface PortTap {
  /** Looks at nothing. */
  PortTap NONE =
      new PortTap() {
        @Override
        public void sent(Packet packet) {}

        @Override
        public void received(Packet packet) {}
      };

  /** The port sends a packet. */
  void sent(Packet packet);

  /** A packet comes to the port, which may drop it because it is damaged, or for another port. */
  void received(Packet packet);
}

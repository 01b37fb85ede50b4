package org.hghca.wire;

/**
 * Observes the packets of an {@link EthernetPort}, which remain the port's. Called on the thread of
 * the port, which must not wait here.
 */
public interface PortTap {
  /** Ignores all packets. */
  PortTap NONE =
      new PortTap() {
        @Override
        public void sent(Packet packet) {}

        @Override
        public void received(Packet packet) {}
      };

  /** The port sends a packet. */
  void sent(Packet packet);

  /** The port receives a packet, which it may drop because it is damaged, or for another port. */
  void received(Packet packet);
}

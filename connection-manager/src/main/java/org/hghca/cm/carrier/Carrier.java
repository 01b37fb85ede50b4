package org.hghca.cm.carrier;

import java.net.InetSocketAddress;

/** A protocol that sets up the connections of one device. Thread-safe. */
public interface Carrier extends AutoCloseable {

  /**
   * Listens.
   *
   * @param serviceId port space and port
   * @param local one address of the device, or the wildcard address for all of them
   * @return closes the listener: later requests find no listener; handshakes that it began stay
   * @throws org.hghca.verbs.VerbsException EADDRINUSE when another listener has the service ID at
   *     that address, EADDRNOTAVAIL when the address is not there
   */
  Registration listen(long serviceId, InetSocketAddress local, Listener listener);

  /** Asks for a connection. */
  Handshake connect(ConnectRequest request, HandshakeEvents events);

  /**
   * Asks for a UD queue pair.
   *
   * @return gives up the question: no event begins after it is closed
   */
  Registration resolve(ServiceRequest request, ServiceEvents events);

  /** Ends the carrier and all handshakes, without further events. Idempotent. */
  @Override
  void close();
}

package org.hghca.driver.ring;

import org.hghca.provider.Resource;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.VerbsException;

/**
 * An address handle as a send ring uses it: the resolved addresses of a UD unit. A class, not an
 * interface, so that a request for it costs one comparison.
 */
public abstract class Destination extends Resource implements AddressHandle {
  /** The protection domain, which must also be that of the queue pair. */
  final Resource domain;

  final int port;
  final long sourceMac;
  public final long destinationMac;

  /** 0 where datagrams carry no IPv4 addresses. */
  final int sourceIp;

  final int destinationIp;

  /**
   * A destination that uses a protection domain.
   *
   * @throws VerbsException EINVAL when the domain is closed
   */
  public Destination(
      Resource domain,
      int port,
      long sourceMac,
      long destinationMac,
      int sourceIp,
      int destinationIp) {
    super(domain);
    this.domain = domain;
    this.port = port;
    this.sourceMac = sourceMac;
    this.destinationMac = destinationMac;
    this.sourceIp = sourceIp;
    this.destinationIp = destinationIp;
  }
}

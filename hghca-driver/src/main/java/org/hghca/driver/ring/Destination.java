package org.hghca.driver.ring;

import org.hghca.abi.UdUnit;
import org.hghca.provider.Resource;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.Gid;
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

  /** What {@link UdUnit#ipv6Path} and {@link UdUnit#path} give, 0 where neither is needed. */
  final int path;

  /** Flow label, or {@link UdUnit#PORT_BY_NUMBERS}. */
  final int flow;

  final long gidHigh;
  final long gidLow;

  /**
   * A destination that uses a protection domain.
   *
   * @param source the own GID, and {@code destination} that of the peer, of the same family
   * @param path what {@link UdUnit#ipv6Path} and {@link UdUnit#path} give, 0 where neither is
   *     needed
   * @param flow flow label, or {@link UdUnit#PORT_BY_NUMBERS}
   * @throws VerbsException EINVAL when the domain is closed
   */
  public Destination(
      Resource domain,
      int port,
      long sourceMac,
      long destinationMac,
      Gid source,
      Gid destination,
      int path,
      int flow) {
    super(domain);
    this.domain = domain;
    this.port = port;
    this.sourceMac = sourceMac;
    this.destinationMac = destinationMac;
    this.sourceIp = source.ipv4().orElse(0);
    this.destinationIp = destination.ipv4().orElse(0);
    this.path = path;
    this.flow = flow;
    this.gidHigh = destination.subnetPrefix();
    this.gidLow = destination.interfaceId();
  }
}

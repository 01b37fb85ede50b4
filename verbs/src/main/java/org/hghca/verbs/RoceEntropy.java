package org.hghca.verbs;

/**
 * The UDP source port and flow label of a connection, by which a network selects one of several
 * paths, computed from the queue pair numbers: the two proposals of the Linux RDMA mailing list,
 * "RoCE v2.0 UDP Source Port Entropy" and "RoCE v2.0 Entropy - IPv6 Flow Label and UDP Source
 * Port". Both ends of a connection compute the same values.
 *
 * <p>Queue pair numbers are of 24 bits, flow labels of 20; a source port is in 0xC000..0xFFFF.
 */
public enum RoceEntropy {
  /** Source ports only, from the exclusive or of the numbers. There are no flow labels. */
  V1 {
    @Override
    public int flowLabel(int localQpn, int remoteQpn) {
      return 0;
    }

    @Override
    public int serviceFlowLabel(int destinationPort, int sourcePort) {
      return 0;
    }

    @Override
    public int connectionPort(int localQpn, int remoteQpn) {
      return port(localQpn == remoteQpn ? fold(localQpn) : fold(localQpn) ^ fold(remoteQpn));
    }

    // The text for datagrams has AND where it has OR for connections. AND would give no port in the
    // range, so OR is meant.
    @Override
    public int datagramPort(int localQpn, int remoteQpn) {
      return remoteQpn == MULTICAST ? port(fold(localQpn)) : connectionPort(localQpn, remoteQpn);
    }

    @Override
    public int servicePort(int destinationPort, int sourcePort) {
      return port(destinationPort ^ sourcePort);
    }
  },

  /** Flow labels from the product of the numbers, and source ports from those. */
  V2 {
    @Override
    public int flowLabel(int localQpn, int remoteQpn) {
      long hash = (long) (localQpn & QPN_MASK) * (remoteQpn & QPN_MASK);
      hash ^= hash >>> 20;
      hash ^= hash >>> 40;
      return (int) hash & FLOW_LABEL_MASK;
    }

    @Override
    public int serviceFlowLabel(int destinationPort, int sourcePort) {
      int hash = (destinationPort & 0xffff) * (sourcePort & 0xffff);
      hash ^= hash >>> 16;
      hash ^= hash >>> 8;
      return hash & FLOW_LABEL_MASK;
    }

    @Override
    public int connectionPort(int localQpn, int remoteQpn) {
      return portOf(flowLabel(localQpn, remoteQpn));
    }

    @Override
    public int datagramPort(int localQpn, int remoteQpn) {
      return connectionPort(localQpn, remoteQpn);
    }

    @Override
    public int servicePort(int destinationPort, int sourcePort) {
      return portOf(serviceFlowLabel(destinationPort, sourcePort));
    }
  };

  private static final int QPN_MASK = 0xff_ffff;

  /** The queue pair number that stands for all members of a multicast group. */
  private static final int MULTICAST = 0xff_ffff;

  private static final int FLOW_LABEL_MASK = 0xf_ffff;
  private static final int LOWEST_PORT = 0xc000;

  /** The flow label between two queue pairs; 0 where the proposal has none. */
  public abstract int flowLabel(int localQpn, int remoteQpn);

  /**
   * The flow label of a connection that a connection manager made; 0 where the proposal has none.
   *
   * @param destinationPort of the service, 16 bits
   * @param sourcePort of the request, 16 bits
   */
  public abstract int serviceFlowLabel(int destinationPort, int sourcePort);

  /** The UDP source port of a connection: one for the lifetime of the queue pair. */
  public abstract int connectionPort(int localQpn, int remoteQpn);

  /**
   * The UDP source port of a datagram: one for each request. In the first version one to a
   * multicast group, whose queue pair number is 0xffffff, counts the sender alone.
   */
  public abstract int datagramPort(int localQpn, int remoteQpn);

  /**
   * The UDP source port of a connection that a connection manager made, of its messages too.
   *
   * @param destinationPort of the service, 16 bits
   * @param sourcePort of the request, 16 bits
   */
  public abstract int servicePort(int destinationPort, int sourcePort);

  /** The UDP source port of any flow label. */
  public static int portOf(int flowLabel) {
    return port(flowLabel & 0x3fff ^ (flowLabel & 0xf_c000) >>> 14);
  }

  private static int port(int hash) {
    return hash & 0xffff | LOWEST_PORT;
  }

  /** 16 bits of the 24. */
  private static int fold(int qpn) {
    return (qpn ^ qpn >>> 16 & 0xff) & 0xffff;
  }
}

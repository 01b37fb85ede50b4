package org.hghca.model.transport;

/**
 * Flow labels and UDP source ports, by which a network selects one of several paths: the proposals
 * "RoCE v2.0 UDP Source Port Entropy" (the first) and "RoCE v2.0 Entropy - IPv6 Flow Label and UDP
 * Source Port" (the second) of the Linux RDMA mailing list. The same for both directions.
 */
final class FlowEntropy {
  private static final int QPN_MASK = 0xff_ffff;
  private static final int GROUP = 0xff_ffff;
  private static final int LABEL_MASK = 0xf_ffff;
  private static final int LEAST_PORT = 0xc000;

  private FlowEntropy() {}

  /** The second proposal's label of a flow without an explicit one. */
  static int label(int localQpn, int remoteQpn) {
    long hash = (long) (localQpn & QPN_MASK) * (remoteQpn & QPN_MASK);
    hash ^= hash >>> 20;
    hash ^= hash >>> 40;
    return (int) hash & LABEL_MASK;
  }

  /** The second proposal's source port of a label. */
  static int port(int label) {
    return (label & 0x3fff ^ label >>> 14) | LEAST_PORT;
  }

  /** The first proposal's source port. */
  static int firstPort(int localQpn, int remoteQpn) {
    boolean single = localQpn == remoteQpn || remoteQpn == GROUP;
    return (single ? fold(localQpn) : fold(localQpn) ^ fold(remoteQpn)) | LEAST_PORT;
  }

  private static int fold(int qpn) {
    return (qpn ^ qpn >>> 16 & 0xff) & 0xffff;
  }
}

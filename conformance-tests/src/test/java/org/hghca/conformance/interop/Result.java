package org.hghca.conformance.interop;

import org.hghca.verbs.WcStatus;

/**
 * A completion of either end.
 *
 * @param opcode the number of {@code ibv_wc_opcode}; without meaning unless the status is success
 * @param bytes of what was received; without meaning for a request that was sent
 * @param immediate 0 without one
 * @param source the queue pair that sent a datagram
 * @param flags {@code ibv_wc_flags}
 */
record Result(
    WcStatus status, int opcode, long wr, long bytes, int immediate, int source, int flags) {
  static final int RECV = 128;
  static final int RECV_RDMA_WITH_IMM = 129;

  boolean isReceive() {
    return (opcode & RECV) != 0;
  }
}

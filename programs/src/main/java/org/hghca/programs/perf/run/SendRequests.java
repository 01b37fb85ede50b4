package org.hghca.programs.perf.run;

import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.medium.PeerAddress;
import org.hghca.verbs.QpType;
import org.hghca.verbs.SendRequest;

/** Makes the requests of a queue pair, before the measurement begins. */
final class SendRequests {
  private final Resources resources;
  private final int pair;
  private final long size;

  /**
   * Of one queue pair.
   *
   * @param size bytes of a message
   */
  SendRequests(Resources resources, int pair, long size) {
    this.resources = resources;
    this.pair = pair;
    this.size = size;
  }

  /** The request for a place of the memories, without a completion. Its wr_id is the pair. */
  SendRequest at(int place) {
    Buffers buffers = resources.buffers();
    Parameters parameters = resources.parameters();
    PeerAddress peer = resources.peers().get(pair);
    long offset = place * buffers.stride(size);
    SendRequest request = new SendRequest(1).wrId(pair);
    switch (parameters.test().verb()) {
      case SEND -> request.send();
      case WRITE -> request.rdmaWrite(peer.address() + offset, peer.rkey());
      case READ -> request.rdmaRead(peer.address() + offset, peer.rkey());
      case ATOMIC -> {
        switch (parameters.queues().atomic()) {
          case CMP_AND_SWAP -> request.compareAndSwap(peer.address() + offset, peer.rkey(), 0, 0);
          case FETCH_AND_ADD -> request.fetchAndAdd(peer.address() + offset, peer.rkey(), 1);
        }
      }
    }
    request.sge(resources.memory(), buffers.sendOffset(pair) + offset, size);
    if (parameters.type() == QpType.UD) {
      request.to(resources.handle(pair), peer.qpNumber(), resources.qkey());
    }
    return resources.isInline(size) ? request.inline() : request;
  }
}

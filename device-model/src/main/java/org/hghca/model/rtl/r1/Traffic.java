package org.hghca.model.rtl.r1;

import org.hghca.abi.WqeOpcode;
import org.hghca.model.rtl.Message;

/** Requests of reliable connections that are in flight, and their bytes. */
final class Traffic {
  int requests;

  /** Bytes that READs fetch. */
  long reads;

  /** Bytes that SENDs and WRITEs carry. */
  long payload;

  /**
   * Counts a request.
   *
   * @param times 1 to add it, -1 to remove it
   */
  void count(Message message, int times) {
    requests += times;
    if (message.opcode == WqeOpcode.RDMA_READ) {
      reads += times * message.length;
    } else {
      payload += times * message.length;
    }
  }

  long bytes() {
    return reads + payload;
  }

  void copy(Traffic other) {
    requests = other.requests;
    reads = other.reads;
    payload = other.payload;
  }

  void clear() {
    requests = 0;
    reads = 0;
    payload = 0;
  }
}

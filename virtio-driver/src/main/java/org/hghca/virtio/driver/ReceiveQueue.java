package org.hghca.virtio.driver;

import java.lang.foreign.MemorySegment;
import org.hghca.provider.queue.LockRank;
import org.hghca.provider.queue.OwnerCheck;
import org.hghca.provider.queue.SpinLock;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.Errno;
import org.hghca.vfio.PciFunction;
import org.hghca.virtio.Virtqueue;
import org.hghca.virtio.abi.roce.ReceiveRequest;

/** The receives of a queue pair. */
final class ReceiveQueue extends WorkQueue {
  private final int maxSge;
  private long receivedBytes;

  ReceiveQueue(
      PciFunction function,
      Virtqueue queue,
      int depth,
      int maxSge,
      SpinLock lock,
      OwnerCheck owner) {
    super(
        function, queue, depth, slot(ReceiveRequest.piece(maxSge)), LockRank.RECEIVES, lock, owner);
    this.maxSge = maxSge;
  }

  /**
   * Posts a request; the device sees it after {@link #kick}.
   *
   * @param index in the caller's list
   * @return false when the queue is full
   * @throws BadRequestException EINVAL for too many elements
   */
  boolean post(org.hghca.verbs.ReceiveRequest request, int index) {
    int count = request.sgeCount();
    if (count > maxSge) {
      throw new BadRequestException(
          Errno.EINVAL,
          index,
          "%d scatter/gather elements: the receive queue takes %d".formatted(count, maxSge));
    }
    if (!hasRoom()) {
      return false;
    }
    MemorySegment bytes = bytes();
    long at = place();
    ReceiveRequest.WR_ID.setLong(bytes, at, cookie());
    ReceiveRequest.NUM_SGE.set(bytes, at, count);
    for (int i = 0; i < count; i++) {
      Pieces.put(request, i, bytes, at + ReceiveRequest.piece(i));
    }
    submit(ReceiveRequest.piece(count), request.wrId());
    return true;
  }

  /** A message has come; under the lock of the completion queue. */
  void received(int bytes) {
    receivedBytes += Integer.toUnsignedLong(bytes);
  }

  /** Bytes of the messages that have come. */
  long receivedBytes() {
    return receivedBytes;
  }
}

package org.hghca.virtio.driver;

import java.lang.foreign.MemorySegment;
import org.hghca.provider.object.AbstractProtectionDomain;
import org.hghca.provider.queue.LockRank;
import org.hghca.provider.queue.OwnerCheck;
import org.hghca.provider.queue.SpinLock;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePairCapabilities;
import org.hghca.verbs.SendKind;
import org.hghca.verbs.spi.ProviderAccess;
import org.hghca.virtio.Virtqueue;
import org.hghca.virtio.abi.roce.SendRequest;

/** The sends of a queue pair. */
final class SendQueue extends WorkQueue {
  private static final ProviderAccess ACCESS = ProviderAccess.get();

  /** Of {@link ProviderAccess#kind}: the operations have the numbers of the device. */
  private static final int OPCODES = SendKind.FENCED - 1;

  /** The flags of {@link SendKind} are those of the device, shifted. */
  private static final int FLAG_SHIFT = Integer.numberOfTrailingZeros(SendKind.FENCED);

  private final AbstractProtectionDomain pd;
  private final QpType type;
  private final int maxSge;
  private final int maxInline;
  private final long maxMessage;
  private long sentBytes;
  private long readBytes;

  SendQueue(
      RoceDevice device,
      Virtqueue queue,
      AbstractProtectionDomain pd,
      QpType type,
      QueuePairCapabilities capabilities,
      OwnerCheck owner) {
    super(
        device.function(),
        queue,
        capabilities.sendDepth(),
        slot(SendRequest.piece(capabilities.maxSendSge())),
        LockRank.SENDS,
        owner == null ? new SpinLock(LockRank.SENDS) : null,
        owner);
    this.pd = pd;
    this.type = type;
    this.maxSge = capabilities.maxSendSge();
    this.maxInline = capabilities.maxInline();
    long most = device.limits().maxMessage();
    this.maxMessage = most < 0 ? Long.MAX_VALUE : most; // unsigned
  }

  /**
   * Posts a request; the device sees it after {@link #kick}.
   *
   * @param index in the caller's list
   * @return false when the queue is full
   * @throws BadRequestException EINVAL, or EOPNOTSUPP for an operation that the device or the type
   *     lacks
   */
  boolean post(org.hghca.verbs.SendRequest request, int index) {
    int kind = ACCESS.kind(request);
    int opcode = kind & OPCODES;
    check(request, opcode, index);
    boolean inline = (kind & SendKind.INLINE) != 0;
    int count = request.sgeCount();
    if (inline && opcode == SendRequest.RDMA_READ) {
      throw new BadRequestException(Errno.EINVAL, index, "an RDMA READ has no data to be inline");
    }
    if (!inline && count > maxSge) {
      throw new BadRequestException(
          Errno.EINVAL,
          index,
          "%d scatter/gather elements: the send queue takes %d".formatted(count, maxSge));
    }
    if (!hasRoom()) {
      return false;
    }
    MemorySegment bytes = bytes();
    long at = place();
    SendRequest.putHead(bytes, at, cookie(), opcode, kind >>> FLAG_SHIFT, request.immediate());
    if (type == QpType.UD) {
      SendRequest.REMOTE_QPN.set(bytes, at, request.remoteQpn());
      SendRequest.REMOTE_QKEY.set(bytes, at, request.remoteQkey());
      SendRequest.AH.set(bytes, at, ((RoceAddressHandle) request.addressHandle()).number());
    } else {
      SendRequest.REMOTE_ADDRESS.setLong(bytes, at, request.remoteAddress());
      SendRequest.RKEY.set(bytes, at, request.rkey());
    }
    if (inline) {
      int copied = copyInline(request, index, bytes, at);
      SendRequest.NUM_SGE.set(bytes, at, copied);
      submit(SendRequest.SIZE, request.wrId());
      sentBytes += copied;
    } else {
      SendRequest.NUM_SGE.set(bytes, at, count);
      long total = 0;
      for (int i = 0; i < count; i++) {
        Pieces.put(request, i, bytes, at + SendRequest.piece(i));
        total += Integer.toUnsignedLong(request.sgeLength(i));
      }
      if (total > maxMessage) {
        throw new BadRequestException(
            Errno.EINVAL,
            index,
            "%d bytes: the device takes at most %d in a message".formatted(total, maxMessage));
      }
      submit(SendRequest.piece(count), request.wrId());
      if (opcode == SendRequest.RDMA_READ) {
        readBytes += total;
      } else {
        sentBytes += total;
      }
    }
    return true;
  }

  /** Bytes that the requests posted so far send or write. */
  long sentBytes() {
    return sentBytes;
  }

  /** Bytes that the requests posted so far ask the peer for. */
  long readBytes() {
    return readBytes;
  }

  private void check(org.hghca.verbs.SendRequest request, int opcode, int index) {
    boolean exists =
        switch (type) {
          case RC -> opcode <= SendRequest.RDMA_READ;
          case UC -> opcode < SendRequest.RDMA_READ;
          case UD -> opcode == SendRequest.SEND || opcode == SendRequest.SEND_WITH_IMM;
        };
    if (!exists) {
      throw new BadRequestException(
          Errno.EOPNOTSUPP,
          index,
          "%s: %s queue pairs of this device do not have it".formatted(request.opcode(), type));
    }
    if (type == QpType.UD
        && !(request.addressHandle() instanceof RoceAddressHandle handle
            && handle.protectionDomain().equals(pd)
            && !handle.isClosed())) {
      throw new BadRequestException(
          Errno.EINVAL,
          index,
          "a datagram needs an open address handle of %s".formatted(pd.describe()));
    }
  }

  private static long total(org.hghca.verbs.SendRequest request) {
    long total = 0;
    for (int i = 0; i < request.sgeCount(); i++) {
      total += Integer.toUnsignedLong(request.sgeLength(i));
    }
    return total;
  }

  /** Copies the data of a request into it; returns the number of bytes. */
  private int copyInline(
      org.hghca.verbs.SendRequest request, int index, MemorySegment bytes, long at) {
    int copied = 0;
    for (int i = 0; i < request.sgeCount(); i++) {
      long to = at + SendRequest.INLINE_DATA.offset() + copied;
      int length = ACCESS.copyData(request, i, bytes, to, maxInline - copied);
      if (length < 0) {
        throw new BadRequestException(
            Errno.EINVAL,
            index,
            "inline data of element %d: its memory is not known, name its region".formatted(i));
      }
      if (length > maxInline - copied) {
        throw new BadRequestException(
            Errno.EINVAL,
            index,
            "%d bytes inline: the queue pair takes %d; raise maxInline"
                .formatted(total(request), maxInline));
      }
      copied += length;
    }
    return copied;
  }
}

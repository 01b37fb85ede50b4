package org.hghca.vfio.user;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.hghca.linux.LinuxErrno;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaFault;
import org.hghca.vfio.DmaWindow;
import org.hghca.vfio.dma.Iommu;
import org.hghca.vfio.user.UserStructures.DmaTransfer;

/**
 * The memory that a server may request over the socket: exactly the mapped bytes, with or without a
 * descriptor. Thread-safe.
 */
final class MemoryService {
  private static final int DATA = UserMessage.HEADER_BYTES + DmaTransfer.DATA;

  private final Iommu memory = new Iommu();

  /** The offset of memory in its first page, by the address of that page. */
  private final Map<Long, Long> starts = new ConcurrentHashMap<>();

  /**
   * Makes memory accessible to the server.
   *
   * @param page the I/O address of its first page
   * @param offset of the memory in that page
   */
  void open(long page, long offset, MemorySegment segment, DmaAccess access) {
    starts.put(page, page + offset);
    memory.map(new DmaWindow(page + offset, segment, access));
  }

  /** Ends what {@link #open} began; no access is in progress when this returns. */
  void close(long page) {
    memory.unmap(starts.remove(page));
  }

  List<DmaFault> faults() {
    return memory.faults();
  }

  long faultCount() {
    return memory.faultCount();
  }

  /**
   * Executes a command of the server, and makes the reply.
   *
   * @throws org.hghca.vfio.VfioException {@code INVALID} for a malformed command
   */
  void serve(UserMessage command, UserMessage reply) {
    boolean read = UserCommand.DMA_READ.is(command.command());
    if (!read && !UserCommand.DMA_WRITE.is(command.command())) {
      reply.failure(command, LinuxErrno.EOPNOTSUPP.number());
      return;
    }
    if (command.payloadBytes() < DmaTransfer.DATA) {
      throw UserConnection.malformed(
          "%s with a payload of %d bytes"
              .formatted(UserCommand.describe(command.command()), command.payloadBytes()));
    }
    long address = command.getLong(DmaTransfer.ADDRESS);
    long count = command.getLong(DmaTransfer.COUNT);
    if (count < 0
        || count > UserConnection.MAX_TRANSFER
        || !read && command.payloadBytes() != DmaTransfer.DATA + count) {
      reply.failure(command, LinuxErrno.EINVAL.number());
      return;
    }
    reply.reply(command, DmaTransfer.DATA + (read ? (int) count : 0));
    reply.putLong(DmaTransfer.ADDRESS, address);
    reply.putLong(DmaTransfer.COUNT, count);
    boolean done =
        read
            ? memory.read(address, reply.memory(), DATA, count)
            : memory.write(address, command.memory(), DATA, count);
    if (!done) {
      reply.failure(command, LinuxErrno.EFAULT.number());
    }
  }
}

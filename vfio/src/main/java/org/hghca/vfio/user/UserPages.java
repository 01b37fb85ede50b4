package org.hghca.vfio.user;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.dma.DmaBackend;
import org.hghca.vfio.dma.IovaRange;
import org.hghca.vfio.linux.MemoryFile;
import org.hghca.vfio.linux.MemoryFile.FileRange;
import org.hghca.vfio.user.UserStructures.DmaMap;
import org.hghca.vfio.user.UserStructures.DmaUnmap;

/**
 * The I/O page table of a server. For memory with a file, the server gets the descriptor and
 * accesses the pages itself; for other memory it gets the addresses, and requests the bytes.
 */
final class UserPages implements DmaBackend {
  /** The address range of a card with 48 address bits, such as this project's. */
  private static final List<IovaRange> RANGES = List.of(new IovaRange(0, (1L << 48) - 1));

  private final UserConnection connection;
  private final MemoryService service;

  UserPages(UserConnection connection, MemoryService service) {
    this.connection = connection;
    this.service = service;
  }

  @Override
  public List<IovaRange> ranges() {
    return RANGES;
  }

  @Override
  public boolean pinsPages() {
    return false;
  }

  @Override
  public void map(MemorySegment memory, long address, long bytes, long iova, DmaAccess access) {
    Optional<FileRange> file = MemoryFile.of(address, bytes);
    service.open(iova, memory.address() - address, memory, access);
    try {
      connection.call(
          UserCommand.DMA_MAP,
          DmaMap.BYTES,
          message -> {
            message.putInt(DmaMap.ARGSZ, DmaMap.BYTES);
            message.putInt(
                DmaMap.FLAGS, DmaMap.FLAG_READ | (access.writable() ? DmaMap.FLAG_WRITE : 0));
            message.putLong(DmaMap.OFFSET, file.map(FileRange::offset).orElse(0L));
            message.putLong(DmaMap.ADDRESS, iova);
            message.putLong(DmaMap.LENGTH, bytes);
            file.ifPresent(range -> message.attach(range.descriptor()));
          },
          reply -> true);
    } catch (RuntimeException e) {
      service.close(iova);
      throw e;
    } finally {
      file.ifPresent(FileRange::close);
    }
  }

  /**
   * A device that is gone cannot access the memory. If this fails because the server refuses, does
   * not reply or replies wrongly, the device still may.
   */
  @Override
  public void unmap(long iova, long bytes) {
    if (connection.isEnded()) {
      service.close(iova);
      return;
    }
    try {
      connection.call(
          UserCommand.DMA_UNMAP,
          DmaUnmap.BYTES,
          message -> {
            message.putInt(DmaUnmap.ARGSZ, DmaUnmap.BYTES);
            message.putInt(DmaUnmap.FLAGS, 0);
            message.putLong(DmaUnmap.ADDRESS, iova);
            message.putLong(DmaUnmap.LENGTH, bytes);
          },
          reply -> checkUnmapped(reply, iova, bytes));
    } catch (VfioException e) {
      if (!connection.hasHungUp()) {
        throw e;
      }
    } finally {
      service.close(iova);
    }
  }

  /** A server without DMA sends an empty reply. */
  private static boolean checkUnmapped(UserMessage reply, long iova, long bytes) {
    if (reply.payloadBytes() == 0) {
      return true;
    }
    UserConnection.checkReply(reply, DmaUnmap.BYTES);
    if (reply.getLong(DmaUnmap.ADDRESS) != iova || reply.getLong(DmaUnmap.LENGTH) != bytes) {
      throw UserConnection.malformed(
          "0x%x bytes at 0x%x were to be unmapped, and it replies to 0x%x at 0x%x"
              .formatted(
                  bytes, iova, reply.getLong(DmaUnmap.LENGTH), reply.getLong(DmaUnmap.ADDRESS)));
    }
    return true;
  }
}

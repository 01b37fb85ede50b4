package org.hghca.model.virtio;

import java.lang.foreign.MemorySegment;
import org.hghca.model.card.HostMemory;
import org.hghca.model.transport.KeyedMemory;
import org.hghca.model.transport.MemoryAccess;
import org.hghca.model.transport.MemoryStatus;
import org.hghca.vfio.DmaWindow;
import org.hghca.virtio.abi.roce.MrAccess;
import org.hghca.virtio.abi.roce.RegisterUserMr;
import org.hghca.wire.MemoryPieces;

/** The regions as memory by key. Their bounds are exact, to the byte. Used in steps. */
final class RoceMemory implements KeyedMemory {
  private static final long IN_PAGE = RegisterUserMr.PAGE_SIZE - 1;

  private final HostMemory host;
  private final RoceObjects objects;

  RoceMemory(HostMemory host, RoceObjects objects) {
    this.host = host;
    this.objects = objects;
  }

  @Override
  public MemoryStatus check(int key, int pd, long address, long length, MemoryAccess access) {
    RoceRegion region = objects.region(key).orElse(null);
    return region != null && allows(region, key, pd, address, length, access)
        ? MemoryStatus.OK
        : MemoryStatus.DENIED;
  }

  private static boolean allows(
      RoceRegion region, int key, int pd, long address, long length, MemoryAccess access) {
    long offset = address - region.start();
    return region.pdn() == pd
        && permits(region, key, access)
        && length >= 0
        && Long.compareUnsigned(offset, region.length()) <= 0
        && length <= region.length() - offset;
  }

  private static boolean permits(RoceRegion region, int key, MemoryAccess access) {
    return switch (access) {
      case LOCAL_READ -> key == region.lkey();
      case LOCAL_WRITE -> key == region.lkey() && (region.access() & MrAccess.LOCAL_WRITE) != 0;
      case REMOTE_WRITE -> key == region.rkey() && (region.access() & MrAccess.REMOTE_WRITE) != 0;
      case REMOTE_READ -> key == region.rkey() && (region.access() & MrAccess.REMOTE_READ) != 0;
      case REMOTE_ATOMIC -> false;
    };
  }

  @Override
  public MemoryStatus read(
      int key,
      int pd,
      long address,
      MemoryAccess access,
      MemorySegment target,
      long offset,
      int length) {
    return move(key, pd, address, access, target, offset, length, false);
  }

  @Override
  public MemoryStatus write(
      int key,
      int pd,
      long address,
      MemoryAccess access,
      MemorySegment source,
      long offset,
      int length) {
    return move(key, pd, address, access, source, offset, length, true);
  }

  /** Moves bytes page by page, those of pages that follow each other on the bus together. */
  private MemoryStatus move(
      int key,
      int pd,
      long address,
      MemoryAccess access,
      MemorySegment packet,
      long offset,
      int length,
      boolean toHost) {
    RoceRegion region = objects.region(key).orElse(null);
    if (region == null || !allows(region, key, pd, address, length, access)) {
      return MemoryStatus.DENIED;
    }
    long at = (region.start() & IN_PAGE) + (address - region.start());
    for (int done = 0; done < length; ) {
      long from = at + done;
      int piece = together(region.pages(), from, length - done);
      long bus = bus(region.pages(), from);
      boolean moved =
          toHost
              ? host.write(bus, packet, offset + done, piece)
              : host.read(bus, packet, offset + done, piece);
      if (!moved) {
        return MemoryStatus.FAULT;
      }
      done += piece;
    }
    return MemoryStatus.OK;
  }

  /** The bus address of a byte, which counts from the beginning of the first page. */
  private static long bus(long[] pages, long at) {
    return pages[(int) (at / RegisterUserMr.PAGE_SIZE)] + (at & IN_PAGE);
  }

  /** How many bytes from one on, and at most, follow each other on the bus. */
  private static int together(long[] pages, long at, int most) {
    int page = (int) (at / RegisterUserMr.PAGE_SIZE);
    int bytes = (int) (RegisterUserMr.PAGE_SIZE - (at & IN_PAGE));
    while (bytes < most && pages[page + 1] == pages[page] + RegisterUserMr.PAGE_SIZE) {
      bytes += RegisterUserMr.PAGE_SIZE;
      page++;
    }
    return Math.min(bytes, most);
  }

  @Override
  public boolean locate(
      int key, int pd, long address, MemoryAccess access, int length, MemoryPieces into) {
    RoceRegion region = objects.region(key).orElse(null);
    if (region == null || !allows(region, key, pd, address, length, access)) {
      return false;
    }
    boolean toHost = access == MemoryAccess.LOCAL_WRITE || access == MemoryAccess.REMOTE_WRITE;
    long at = (region.start() & IN_PAGE) + (address - region.start());
    for (int done = 0; done < length; ) {
      long from = at + done;
      int piece = together(region.pages(), from, length - done);
      long bus = bus(region.pages(), from);
      DmaWindow window = host.window(bus, piece);
      if (window == null) { // they may be in two mappings that follow each other
        piece = (int) Math.min(piece, RegisterUserMr.PAGE_SIZE - (from & IN_PAGE));
        window = host.window(bus, piece);
      }
      if (window == null || toHost && !window.access().writable()) {
        return false;
      }
      into.add(window.memory(), bus - window.iova(), piece, HostMemory.kind(window));
      done += piece;
    }
    return true;
  }
}

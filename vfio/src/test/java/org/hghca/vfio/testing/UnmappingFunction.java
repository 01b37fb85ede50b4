package org.hghca.vfio.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.ForwardingFunction;
import org.hghca.vfio.ForwardingMapping;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;

/**
 * A function whose DMA memory leaves the process when it is freed, at once and without a cache: an
 * access through its address then ends the JVM.
 */
public final class UnmappingFunction extends ForwardingFunction {
  private final List<Arena> arenas = new ArrayList<>();

  /** The BAR that is memory, -1 for none. */
  private int mappedBar = -1;

  private MmioRegion mapped;

  public UnmappingFunction(PciFunction function) {
    super(function);
  }

  /** Makes a BAR memory that nobody reads, which leaves the process with the close. */
  public void mapBar(int bar, long bytes) {
    Arena arena = Arena.ofShared();
    arenas.add(arena);
    mapped = MmioRegion.mapped(pages(arena, bytes));
    mappedBar = bar;
  }

  @Override
  public MmioRegion region(int bar) {
    return bar == mappedBar ? mapped : super.region(bar);
  }

  @Override
  public synchronized DmaMapping allocate(long bytes) {
    Arena arena = Arena.ofShared();
    arenas.add(arena);
    long size = bytes + DmaMapping.PAGE_SIZE - 1 & -DmaMapping.PAGE_SIZE;
    DmaMapping mapping = super.map(pages(arena, size), DmaAccess.READ_WRITE);
    return new ForwardingMapping(mapping) {
      @Override
      public void close() {
        super.close();
        end(arena);
      }
    };
  }

  private static MemorySegment pages(Arena arena, long bytes) {
    try {
      Path file = Files.createTempFile("ring", "");
      try (FileChannel channel =
          FileChannel.open(
              file,
              StandardOpenOption.READ,
              StandardOpenOption.WRITE,
              StandardOpenOption.DELETE_ON_CLOSE)) {
        return channel.map(MapMode.READ_WRITE, 0, bytes, arena);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private synchronized void end(Arena arena) {
    if (arenas.remove(arena)) {
      arena.close();
    }
  }

  /** Number of allocations in the process. */
  public synchronized int left() {
    return arenas.size();
  }

  @Override
  public void close() {
    super.close();
    for (Arena arena : List.copyOf(arenas)) {
      end(arena);
    }
  }
}

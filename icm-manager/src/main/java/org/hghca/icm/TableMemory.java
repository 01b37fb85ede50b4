package org.hghca.icm;

import java.util.Arrays;
import java.util.Objects;
import java.util.stream.IntStream;
import org.hghca.abi.MapIcm;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.mailbox.CommandException;
import org.hghca.mailbox.DeviceFatalException;
import org.hghca.vfio.DmaMapping;

/**
 * The host memory behind one table, in chunks that are mapped when the first range touches them.
 * Thread-safe.
 */
final class TableMemory {
  private static final ConditionLog LOG = ConditionLog.of(TableMemory.class);

  private final IcmLayout.Region region;
  private final ChunkMapper mapper;
  private final long chunkBytes;
  private final DmaMapping[] backing;
  private final int[] references;
  private long pages;
  private long ranges;
  private boolean closed;

  TableMemory(IcmLayout.Region region, ChunkMapper mapper) {
    this.region = region;
    this.mapper = mapper;
    this.chunkBytes = (long) mapper.chunkPages() * MapIcm.PAGE_SIZE;
    int chunks = Math.toIntExact((region.bytes() + chunkBytes - 1) / chunkBytes);
    this.backing = new DmaMapping[chunks];
    this.references = new int[chunks];
  }

  IcmTable table() {
    return region.table();
  }

  long entries() {
    return region.entries();
  }

  /** Maps every chunk for the lifetime of the table. */
  synchronized void mapWhole() {
    for (int chunk = 0; chunk < backing.length; chunk++) {
      take(chunk);
    }
  }

  /** Takes a range into use, mapping the chunks under it that are not mapped yet. */
  synchronized IcmRange reserve(long firstIndex, long count) {
    Objects.checkFromIndexSize(firstIndex, count, region.entries());
    if (count == 0) {
      throw new IllegalArgumentException("an empty range of %s entries".formatted(table()));
    }
    if (closed) {
      throw new IllegalStateException("the ICM manager is closed");
    }
    int[] chunks = chunks(firstIndex, count);
    int taken = 0;
    try {
      for (; taken < chunks.length; taken++) {
        take(chunks[taken]);
      }
    } catch (RuntimeException e) {
      for (int i = taken - 1; i >= 0; i--) {
        drop(chunks[i]);
      }
      throw e;
    }
    ranges++;
    return new IcmRange(this, firstIndex, count);
  }

  synchronized void release(long firstIndex, long count) {
    if (closed) {
      return;
    }
    ranges--;
    for (int chunk : chunks(firstIndex, count)) {
      drop(chunk);
    }
  }

  private void take(int chunk) {
    if (backing[chunk] == null) {
      backing[chunk] = mapper.map(table(), address(chunk), chunkPages(chunk));
      pages += chunkPages(chunk);
    }
    references[chunk]++;
  }

  private void drop(int chunk) {
    references[chunk]--;
    if (references[chunk] > 0 || !mapper.reclaims()) {
      return;
    }
    try {
      mapper.unmap(table(), address(chunk), chunkPages(chunk));
    } catch (CommandException e) {
      LOG.warn(
          About.device(mapper.device()),
          "a chunk of the {} stays mapped, for the next use of its entries: {}",
          table(),
          e.getMessage());
      return;
    } catch (DeviceFatalException e) {
      LOG.debug(
          About.device(mapper.device()),
          "a chunk of the {} stays mapped: {}",
          table(),
          e.getMessage());
      return;
    }
    backing[chunk].close();
    backing[chunk] = null;
    pages -= chunkPages(chunk);
  }

  synchronized IcmUsage usage() {
    return new IcmUsage(table(), region.entries(), pages, ranges);
  }

  /** Frees all memory. The card must no longer be able to access it. */
  synchronized void close() {
    closed = true;
    for (DmaMapping chunk : backing) {
      if (chunk != null) {
        chunk.close();
      }
    }
    Arrays.fill(backing, null);
    pages = 0;
    ranges = 0;
  }

  /** The chunks under a range; if two strides are possible, those of both. */
  private int[] chunks(long firstIndex, long count) {
    IntStream chunks = chunks(firstIndex, count, region.stride());
    if (region.stride() != region.otherStride()) {
      IntStream others = chunks(firstIndex, count, region.otherStride());
      chunks = IntStream.concat(chunks, others).distinct();
    }
    return chunks.toArray();
  }

  private IntStream chunks(long firstIndex, long count, int stride) {
    long first = firstIndex * stride / chunkBytes;
    long last = ((firstIndex + count) * stride - 1) / chunkBytes;
    return IntStream.rangeClosed((int) first, (int) last);
  }

  private long address(int chunk) {
    return region.base() + chunk * chunkBytes;
  }

  /** Only the last chunk of a table may be shorter than the others. */
  private int chunkPages(int chunk) {
    long bytes = Math.min(chunkBytes, region.bytes() - chunk * chunkBytes);
    return (int) (bytes / MapIcm.PAGE_SIZE);
  }
}

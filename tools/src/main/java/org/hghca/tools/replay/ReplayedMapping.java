package org.hghca.tools.replay;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.OptionalLong;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.PciFunction;

/**
 * Memory of the recorded run: what was in it, and the memory of the other card in its place. The
 * dwords that belong to the card, such as entries of a CQ, are not written here. One thread at a
 * time.
 */
final class ReplayedMapping implements AutoCloseable {
  private static final int UNIT = Integer.BYTES;

  private final List<Piece> pieces;
  private final MemorySegment image;
  private final DmaMapping mapping;
  private final BitSet ofCard = new BitSet();

  private record Piece(long iova, long offset, long bytes) {
    boolean has(long address) {
      return Long.compareUnsigned(address - iova, bytes) < 0;
    }
  }

  private ReplayedMapping(List<Piece> pieces, long bytes, DmaMapping mapping) {
    this.pieces = pieces;
    this.image = Arena.ofAuto().allocate(bytes);
    this.mapping = mapping;
  }

  /** Maps memory of zeros, as a line of the trace says. */
  static ReplayedMapping of(TraceLine line, PciFunction function) {
    long bytes = line.number("bytes");
    List<Piece> pieces = pieces(line);
    if (line.number("allocated") == 1) {
      return new ReplayedMapping(pieces, bytes, function.allocate(bytes));
    }
    long inPage = pieces.getFirst().iova() & DmaMapping.PAGE_SIZE - 1;
    MemorySegment pages = Arena.ofAuto().allocate(inPage + bytes, DmaMapping.PAGE_SIZE);
    DmaAccess access = DmaAccess.valueOf(line.text("access"));
    return new ReplayedMapping(pieces, bytes, function.map(pages.asSlice(inPage, bytes), access));
  }

  private static List<Piece> pieces(TraceLine line) {
    List<Piece> pieces = new ArrayList<>();
    long offset = 0;
    for (String piece : line.text("iova").split(" ")) {
      int plus = piece.indexOf('+');
      long iova = Long.parseUnsignedLong(piece.substring("0x".length(), plus), 16);
      long bytes = Long.parseLong(piece.substring(plus + 1));
      pieces.add(new Piece(iova, offset, bytes));
      offset += bytes;
    }
    return pieces;
  }

  /** Where a bus address of the recorded run is in this memory; empty when it is elsewhere. */
  OptionalLong offset(long iova) {
    for (Piece piece : pieces) {
      if (piece.has(iova)) {
        return OptionalLong.of(piece.offset() + iova - piece.iova());
      }
    }
    return OptionalLong.empty();
  }

  /** The bus address on the other card. */
  long iova(long offset) {
    return mapping.iova(offset);
  }

  /** Whether the other card reaches this memory at a bus address. */
  boolean isAt(long iova) {
    for (long at = 0; at < image.byteSize(); at += DmaMapping.PAGE_SIZE) {
      long page = mapping.iova(at) & -DmaMapping.PAGE_SIZE;
      if (page == (iova & -DmaMapping.PAGE_SIZE)) {
        return true;
      }
    }
    return false;
  }

  /** What was in the memory of the recorded run. */
  MemorySegment image() {
    return image;
  }

  /** The memory of the other card. */
  MemorySegment memory() {
    return mapping.segment();
  }

  /** The recorded memory has changed: so does the other one, but for what belongs to the card. */
  void changed(long offset, byte[] bytes) {
    MemorySegment.copy(bytes, 0, image, ValueLayout.JAVA_BYTE, offset, bytes.length);
    for (int done = 0; done < bytes.length; done += UNIT) {
      if (!ofCard.get((int) ((offset + done) / UNIT))) {
        copy(offset + done, Math.min(UNIT, bytes.length - done));
      }
    }
  }

  /** From here on the card writes a part, and not this program. */
  void own(long offset, long bytes) {
    ofCard.set((int) (offset / UNIT), (int) ((offset + bytes) / UNIT));
  }

  /** The card does not write it any more: it gets what is in the recorded memory. */
  void release(long offset, long bytes) {
    ofCard.clear((int) (offset / UNIT), (int) ((offset + bytes) / UNIT));
    copy(offset, bytes);
  }

  /** The card owns nothing any more. */
  void releaseAll() {
    ofCard.clear();
    copy(0, image.byteSize());
  }

  private void copy(long offset, long bytes) {
    MemorySegment.copy(image, offset, mapping.segment(), offset, bytes);
  }

  @Override
  public void close() {
    mapping.close();
  }
}

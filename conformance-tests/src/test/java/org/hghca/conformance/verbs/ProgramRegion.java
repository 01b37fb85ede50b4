package org.hghca.conformance.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.verbs.Pieces.Piece;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;

/**
 * Memory of a random program: its expected contents, and which parts requests in flight use. No two
 * requests in flight use the same part, so that the final contents do not depend on their order.
 */
final class ProgramRegion {
  static final AccessFlag[] ACCESS =
      TestProfile.has(Feature.ATOMICS)
          ? new AccessFlag[] {
            AccessFlag.LOCAL_WRITE,
            AccessFlag.REMOTE_WRITE,
            AccessFlag.REMOTE_READ,
            AccessFlag.REMOTE_ATOMIC
          }
          : new AccessFlag[] {
            AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ
          };

  private static final int TRIES = 4;

  private final Arena arena = Arena.ofShared();
  private final MemoryRegion region;
  private final MemorySegment expected;
  private final List<Pieces> busy = new ArrayList<>();

  ProgramRegion(ProtectionDomain pd, SplittableRandom random) {
    long size = random.nextLong(1, 1 << random.nextInt(8, 17));
    MemorySegment memory = arena.allocate(size + 4096, 4096).asSlice(random.nextInt(4096), size);
    this.expected = arena.allocate(size);
    this.region = pd.register(memory, ACCESS);
  }

  MemoryRegion region() {
    return region;
  }

  private MemorySegment memory() {
    return region.segment();
  }

  /** Some unused parts, each of at most the given size; marked as in use. */
  Optional<Pieces> take(long most, int count, SplittableRandom random) {
    long least = Math.min(Sizes.least(), region.length());
    long total = random.nextLong(least, Math.min(most, region.length()) + 1);
    return takeExactly(total, count, random);
  }

  /** Some unused parts with the given total size; marked as in use. */
  Optional<Pieces> takeExactly(long total, int count, SplittableRandom random) {
    for (int i = 0; i < TRIES; i++) {
      long offset = random.nextLong(region.length());
      Pieces wanted = Pieces.random(offset, total, count, random);
      Pieces pieces = Landing.legal(region.address(), wanted);
      if (end(pieces) <= region.length() && busy.stream().noneMatch(b -> overlap(b, pieces))) {
        busy.add(pieces);
        return Optional.of(pieces);
      }
    }
    return Optional.empty();
  }

  /** An unused part of 8 bytes at a multiple of 8; marked as in use. */
  Optional<Pieces> takeWord(SplittableRandom random) {
    for (int i = 0; i < TRIES; i++) {
      long offset = random.nextLong(region.length());
      offset += -(region.address() + offset) & Long.BYTES - 1;
      Pieces word = Pieces.one(offset, Long.BYTES);
      if (end(word) <= region.length() && busy.stream().noneMatch(b -> overlap(b, word))) {
        busy.add(word);
        return Optional.of(word);
      }
    }
    return Optional.empty();
  }

  /** The expected number in a part of 8 bytes. */
  long expectedWord(Pieces word) {
    return expected.get(ValueLayout.JAVA_LONG_UNALIGNED, start(word));
  }

  /** Expects the device to leave a number in a part of 8 bytes. */
  void expectWord(Pieces word, long value) {
    expected.set(ValueLayout.JAVA_LONG_UNALIGNED, start(word), value);
  }

  private static long start(Pieces pieces) {
    return pieces.parts().getFirst().offset();
  }

  private static long end(Pieces pieces) {
    Piece last = pieces.parts().getLast();
    return last.offset() + last.length();
  }

  private static boolean overlap(Pieces one, Pieces other) {
    return start(one) <= end(other) && start(other) <= end(one);
  }

  void release(Pieces pieces) {
    busy.remove(pieces);
  }

  boolean isBusy() {
    return !busy.isEmpty();
  }

  /** The program writes new data. */
  void randomize(Pieces pieces, SplittableRandom random) {
    for (Piece piece : pieces.parts()) {
      for (long at = piece.offset(); at < piece.offset() + piece.length(); at++) {
        memory().set(ValueLayout.JAVA_BYTE, at, (byte) random.nextInt());
      }
    }
    expectAnything(pieces);
  }

  /** The content is undefined: the current bytes are accepted. */
  void expectAnything(Pieces pieces) {
    for (Piece piece : pieces.parts()) {
      MemorySegment.copy(memory(), piece.offset(), expected, piece.offset(), piece.length());
    }
  }

  /** Expects the device to move data to this place. */
  void expect(Pieces pieces, ProgramRegion source, Pieces from) {
    byte[] data = new byte[(int) from.total()];
    int at = 0;
    for (Piece piece : from.parts()) {
      int length = (int) piece.length();
      MemorySegment.copy(source.expected, ValueLayout.JAVA_BYTE, piece.offset(), data, at, length);
      at += length;
    }
    at = 0;
    for (Piece piece : pieces.parts()) {
      int length = (int) Math.min(piece.length(), data.length - at);
      MemorySegment.copy(data, at, expected, ValueLayout.JAVA_BYTE, piece.offset(), length);
      at += length;
    }
  }

  /** The first byte that differs from the expected one. */
  Optional<String> difference() {
    long at = memory().mismatch(expected);
    return at < 0
        ? Optional.empty()
        : Optional.of(
            "byte %d of the region with key 0x%x is 0x%02x instead of 0x%02x"
                .formatted(
                    at,
                    region.rkey(),
                    memory().get(ValueLayout.JAVA_BYTE, at),
                    expected.get(ValueLayout.JAVA_BYTE, at)));
  }

  void close() {
    region.close();
    arena.close();
  }
}

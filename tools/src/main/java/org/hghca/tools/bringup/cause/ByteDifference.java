package org.hghca.tools.bringup.cause;

import java.util.Arrays;
import java.util.Optional;
import java.util.function.IntUnaryOperator;

/**
 * How bytes differ from what is expected, in the words of hardware: a bit that is stuck, words that
 * are swapped, data that is shifted, cut off, missing or written outside of its place.
 *
 * <p>The expected bytes may begin and end with a guard: equal bytes that must not change.
 */
public final class ByteDifference {
  private static final int DWORD = Integer.BYTES;
  private static final int FEWEST_FOR_A_STUCK_BIT = 4;
  private static final int LEAST_GUARD = 8;

  private final byte[] expected;
  private final byte[] seen;

  /** The first byte of the message, and the first behind it. */
  private final int start;

  private final int end;
  private final byte blank;

  private ByteDifference(byte[] expected, byte[] seen) {
    this.expected = expected;
    this.seen = seen;
    this.blank = expected.length == 0 ? 0 : expected[0];
    int first = 0;
    while (first < expected.length && expected[first] == blank) {
      first++;
    }
    int last = expected.length;
    while (last > first && expected[last - 1] == blank) {
      last--;
    }
    boolean guarded = first >= LEAST_GUARD && expected.length - last >= LEAST_GUARD;
    this.start = guarded ? first : 0;
    this.end = guarded ? last : expected.length;
  }

  /** What distinguishes the bytes; empty when they are equal, or have another length. */
  public static Optional<String> of(byte[] expected, byte[] seen) {
    if (expected.length != seen.length || Arrays.equals(expected, seen)) {
      return Optional.empty();
    }
    return Optional.of(new ByteDifference(expected, seen).describe());
  }

  private String describe() {
    boolean inside = !Arrays.equals(expected, start, end, seen, start, end);
    boolean before = !Arrays.equals(expected, 0, start, seen, 0, start);
    boolean behind = !Arrays.equals(expected, end, expected.length, seen, end, expected.length);
    String outside =
        before
            ? "bytes before the message were overwritten"
            : behind ? "bytes behind the message were overwritten" : "";
    if (!inside) {
      return outside;
    }
    String how = inside();
    return outside.isEmpty() || how.contains("shifted") ? how : how + ", and " + outside;
  }

  private String inside() {
    if (isAll(0)) {
      return "the message arrived as zeros";
    }
    if (isAll(-1)) {
      return "the message arrived as ones";
    }
    if (start > 0 && isAll(blank)) {
      return "the message is not there: memory is unchanged";
    }
    if (isPermuted(i -> i ^ 3)) {
      return "the bytes of each dword are in the opposite order";
    }
    if (isPermuted(i -> i ^ 2)) {
      return "the halves of each dword are swapped";
    }
    if (isPermuted(i -> i ^ 1)) {
      return "the bytes of each word are swapped";
    }
    if (isPermuted(i -> i ^ 4)) {
      return "the dwords are swapped in pairs";
    }
    String flip = flip();
    if (!flip.isEmpty()) {
      return flip;
    }
    for (int by = 1; by < Long.BYTES; by++) {
      if (isShifted(by) || isShifted(-by)) {
        return "the message is shifted by %d byte%s".formatted(by, by == 1 ? "" : "s");
      }
    }
    return tail();
  }

  private boolean isAll(int value) {
    for (int i = start; i < end; i++) {
      if (seen[i] != (byte) value) {
        return false;
      }
    }
    return true;
  }

  /** Whether all whole groups of 8 bytes are those expected, in another order. */
  private boolean isPermuted(IntUnaryOperator order) {
    int groups = (end - start) / Long.BYTES;
    if (groups == 0) {
      return false;
    }
    for (int i = 0; i < groups * Long.BYTES; i++) {
      if (seen[start + i] != expected[start + order.applyAsInt(i)]) {
        return false;
      }
    }
    return true;
  }

  /** One bit of all, or one bit of each dword. */
  private String flip() {
    int[] ones = new int[DWORD * Byte.SIZE];
    int[] zeros = new int[DWORD * Byte.SIZE];
    int bits = 0;
    for (int i = start; i < end; i++) {
      int differs = (expected[i] ^ seen[i]) & 0xff;
      bits += Integer.bitCount(differs);
      for (int bit = 0; bit < Byte.SIZE; bit++) {
        if ((differs >> bit & 1) != 0) {
          int[] to = (seen[i] >> bit & 1) != 0 ? ones : zeros;
          to[(i - start) % DWORD * Byte.SIZE + bit]++;
        }
      }
    }
    if (bits == 1) {
      return "one bit of the message is flipped";
    }
    for (int bit = 0; bit < ones.length; bit++) {
      if (bits >= FEWEST_FOR_A_STUCK_BIT && (ones[bit] == bits || zeros[bit] == bits)) {
        return "bit %d of each dword is stuck at %d".formatted(bit, ones[bit] == bits ? 1 : 0);
      }
    }
    return "";
  }

  private boolean isShifted(int by) {
    int from = Math.max(start, start - by);
    int to = Math.min(end, end - by);
    if (to - from < Long.BYTES) {
      return false;
    }
    for (int i = from; i < to; i++) {
      if (seen[i + by] != expected[i]) {
        return false;
      }
    }
    return true;
  }

  private String tail() {
    int first = start;
    while (first < end && seen[first] == expected[first]) {
      first++;
    }
    boolean missing = true;
    for (int i = first; i < end; i++) {
      missing &= start == 0 ? seen[i] == 0 : seen[i] == blank;
    }
    if (missing && first > start) {
      return "the last %d bytes of the message are missing".formatted(end - first);
    }
    return "%d of %d bytes of the message are others, from byte %d on"
        .formatted(count(), end - start, first - start);
  }

  private int count() {
    int count = 0;
    for (int i = start; i < end; i++) {
      count += seen[i] == expected[i] ? 0 : 1;
    }
    return count;
  }
}

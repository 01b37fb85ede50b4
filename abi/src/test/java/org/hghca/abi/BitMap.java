package org.hghca.abi;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;

/**
 * A structure's fields by bit position, as a table of the interface document defines them. Bit n of
 * a structure is bit n % 8 of byte n / 8.
 */
final class BitMap {
  /** Offset of the structure in its test memory: 16-byte aligned, with guard bytes around it. */
  static final long AT = 16;

  private static final byte GUARD = (byte) 0xa5;

  private record Field(String name, int[] bits, ToLongFunction<MemorySegment> getter) {}

  private final int size;
  private final List<Field> fields = new ArrayList<>();

  BitMap(int size) {
    this.size = size;
  }

  /** Bits {@code high:low} of the little-endian dword at {@code offset}. */
  static int[] bits(int offset, int high, int low) {
    return IntStream.rangeClosed(offset * 8 + low, offset * 8 + high).toArray();
  }

  static int[] join(int[]... parts) {
    return IntStream.range(0, parts.length).flatMap(i -> IntStream.of(parts[i])).toArray();
  }

  BitMap field(String name, int[] bits, ToLongFunction<MemorySegment> getter) {
    fields.add(new Field(name, bits, getter));
    return this;
  }

  /**
   * Checks that each single bit of the structure appears at its place in its field, and in no other
   * field.
   */
  void assertGettersSeeTheirBitsOnly() {
    for (int bit = 0; bit < size * 8; bit++) {
      MemorySegment memory = Arena.ofAuto().allocate(size + 2 * AT, 16);
      memory.fill((byte) 0);
      memory.set(JAVA_BYTE, AT + bit / 8, (byte) (1 << bit % 8));
      for (Field field : fields) {
        long expected = 0;
        for (int i = 0; i < field.bits.length; i++) {
          if (field.bits[i] == bit) {
            expected = 1L << i;
          }
        }
        assertThat(field.getter.applyAsLong(memory))
            .as("%s with bit %d of the structure set", field.name, bit)
            .isEqualTo(expected);
      }
    }
  }

  /**
   * Writes into memory full of garbage, checks that nothing outside the structure changed, and
   * returns its bytes.
   */
  static String encoded(int size, Consumer<MemorySegment> encoder) {
    MemorySegment memory = Arena.ofAuto().allocate(size + 2 * AT, 16);
    memory.fill(GUARD);
    encoder.accept(memory);
    for (long i = 0; i < AT; i++) {
      assertThat(memory.get(JAVA_BYTE, i)).as("guard byte before").isEqualTo(GUARD);
      assertThat(memory.get(JAVA_BYTE, AT + size + i)).as("guard byte after").isEqualTo(GUARD);
    }
    return hex(memory.asSlice(AT, size));
  }

  /** The bytes of a structure in which exactly the given bits are set. */
  static String only(int size, int... bits) {
    byte[] bytes = new byte[size];
    for (int bit : bits) {
      bytes[bit / 8] |= (byte) (1 << bit % 8);
    }
    return HexFormat.of().formatHex(bytes);
  }

  static String hex(MemorySegment memory) {
    return HexFormat.of().formatHex(memory.toArray(JAVA_BYTE));
  }

  /** Native memory with the given bytes at {@link #AT}, zero elsewhere. */
  static MemorySegment memory(String hex) {
    byte[] bytes = HexFormat.of().parseHex(hex);
    MemorySegment memory = Arena.ofAuto().allocate(bytes.length + 2 * AT, 16);
    MemorySegment.copy(bytes, 0, memory, JAVA_BYTE, AT, bytes.length);
    return memory;
  }
}

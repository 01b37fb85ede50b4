package org.hghca.virtio.abi;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;

/**
 * The bytes of a structure in the middle of other memory: eeh where nothing was written. It lies at
 * an odd address, since structures of a device need no alignment.
 */
public final class Structure {
  /** Where it begins in {@link #memory}. */
  public static final int BASE = 17;

  private final MemorySegment memory;
  private final int size;

  /** A structure of so many bytes. */
  public Structure(int size) {
    this.size = size;
    this.memory = MemorySegment.ofArray(new byte[BASE + size + 16]).fill((byte) 0xee);
  }

  /** The memory around it. */
  public MemorySegment memory() {
    return memory;
  }

  /** Writes a field, and checks that it reads back. */
  public void set(Field field, long value) {
    field.setLong(memory, BASE, value);
    assertThat(field.getLong(memory, BASE)).as(field.name()).isEqualTo(value);
    if (field.width() < 8) {
      assertThat(field.get(memory, BASE)).as(field.name()).isEqualTo((int) value);
    }
  }

  /** Writes ascending bytes, beginning with a value. */
  public void fill(Bytes bytes, int first) {
    MemorySegment place = in(bytes);
    for (int i = 0; i < bytes.length(); i++) {
      place.set(JAVA_BYTE, i, (byte) (first + i));
    }
  }

  /** The place of some bytes. */
  public MemorySegment in(Bytes bytes) {
    return bytes.in(memory, BASE);
  }

  /** All bytes, after a check that those around them are untouched. */
  public String hex() {
    assertThat(hex(0, BASE)).as("before").isEqualTo("ee".repeat(BASE));
    assertThat(hex(BASE + size, 16)).as("behind").isEqualTo("ee".repeat(16));
    return hex(BASE, size);
  }

  private String hex(int offset, int length) {
    return HexFormat.of().formatHex(memory.asSlice(offset, length).toArray(JAVA_BYTE));
  }
}

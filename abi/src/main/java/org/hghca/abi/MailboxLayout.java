package org.hghca.abi;

import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.StringJoiner;

/**
 * The layout of one mailbox body: its fields in the order of the interface document.
 *
 * <p>Bits that belong to no field are reserved: written as zero, ignored when read. Immutable and
 * safe for use by several threads.
 *
 * @param name name of the body, as in {@code QPC}
 * @param source where it is defined, as in {@code table 3-2-40}
 * @param size bytes
 * @param fields the fields; no two share a bit or a name
 */
public record MailboxLayout(String name, String source, int size, List<MailboxField> fields) {
  /**
   * Checks the fields against each other.
   *
   * @throws IllegalArgumentException if two fields share a name or a bit, or one ends beyond the
   *     body
   */
  public MailboxLayout {
    fields = List.copyOf(fields);
    Set<String> names = new HashSet<>();
    int[] taken = new int[size / Integer.BYTES];
    for (MailboxField field : fields) {
      if (!names.add(field.name())) {
        throw new IllegalArgumentException(name + ": two fields are named " + field.name());
      }
      if (field.end() > size) {
        throw new IllegalArgumentException(name + ": " + field + " ends after byte " + size);
      }
      int dword = field.offset() / Integer.BYTES;
      long mask = field.mask();
      boolean free;
      if (field.isWide()) {
        free = claim(taken, dword, (int) (mask >>> 32)) && claim(taken, dword + 1, (int) mask);
      } else {
        free = claim(taken, dword, (int) mask);
      }
      if (!free) {
        throw new IllegalArgumentException(name + ": " + field + " overlaps another field");
      }
    }
  }

  /** A layout of the fields given. */
  public static MailboxLayout of(String name, String source, int size, MailboxField... fields) {
    return new MailboxLayout(name, source, size, List.of(fields));
  }

  private static boolean claim(int[] taken, int dword, int mask) {
    boolean free = (taken[dword] & mask) == 0;
    taken[dword] |= mask;
    return free;
  }

  /** The bits of all fields, dword by dword. */
  int[] fieldBits() {
    int[] bits = new int[size / Integer.BYTES];
    for (MailboxField field : fields) {
      int dword = field.offset() / Integer.BYTES;
      if (field.isWide()) {
        bits[dword] |= (int) (field.mask() >>> Integer.SIZE);
        bits[dword + 1] |= (int) field.mask();
      } else {
        bits[dword] |= (int) field.mask();
      }
    }
    return bits;
  }

  /** Sets the body's bytes to zero. */
  public void clear(MemorySegment mailbox) {
    mailbox.asSlice(0, size).fill((byte) 0);
  }

  /**
   * The fields that are not zero, for the command trace: {@code state=0x3 pd=0x1}; a body of zeros
   * gives an empty string.
   */
  public String describe(MemorySegment mailbox) {
    return describe(mailbox, 0);
  }

  /** As {@link #describe(MemorySegment)}, of a body that begins at byte {@code base}. */
  public String describe(MemorySegment mailbox, long base) {
    StringJoiner text = new StringJoiner(" ");
    for (MailboxField field : fields) {
      long value = field.getLong(mailbox, base);
      if (value != 0) {
        text.add(field.name() + "=0x" + Long.toHexString(value));
      }
    }
    return text.toString();
  }
}

package org.hghca.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.List;

/**
 * One row of a table of the interface document: a field, the position of its bits, and one value
 * with its encoded bytes.
 *
 * @param name as in the document
 * @param field the field's accessor in abi
 * @param offset byte offset, as the document numbers the dwords
 * @param mask bytes at the offset with all bits of the field set: 8 digits, or 16 for two dwords
 * @param bytes bytes at the offset with {@code value} in the field
 * @param value the value
 */
record FieldRow(
    String name, MailboxField field, int offset, String mask, String bytes, long value) {
  /** A row whose value is what the bits of the mask have; those of two dwords keep their place. */
  static FieldRow row(String name, MailboxField field, int offset, String mask, String bytes) {
    int shift = mask.length() == 16 ? 0 : Long.numberOfTrailingZeros(number(mask));
    return new FieldRow(name, field, offset, mask, bytes, number(bytes) >>> shift);
  }

  /** Writes and reads the field alone, among zeros and among ones. */
  void check(int size) {
    MemorySegment zeros = MemorySegment.ofArray(new byte[size]);
    field.setLong(zeros, value);
    assertThat(Mailboxes.hex(zeros)).as("value among zeros").isEqualTo(body(size));
    assertThat(field.getLong(zeros)).isEqualTo(value);

    MemorySegment ones = MemorySegment.ofArray(new byte[size]).fill((byte) -1);
    field.setLong(ones, 0);
    assertThat(Mailboxes.hex(ones))
        .as("zero among ones")
        .isEqualTo(body("ff", size, inverse(mask)));
    assertThat(field.getLong(ones)).isZero();

    field.setLong(ones, value);
    MemorySegment around = ones.asSlice(offset, mask.length() / 2);
    assertThat(number(Mailboxes.hex(around)) & number(mask)).isEqualTo(number(bytes));
    assertThat(field.getLong(ones)).as("value among ones").isEqualTo(value);

    checkLimit(size);
  }

  private void checkLimit(int size) {
    long bits = number(mask);
    long tooLarge = mask.length() == 16 ? ~bits : 1L << Long.bitCount(bits);
    if (tooLarge != 0) {
      MemorySegment untouched = MemorySegment.ofArray(new byte[size]);
      assertThatThrownBy(() -> field.setLong(untouched, tooLarge))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(field.name());
      assertThat(Mailboxes.hex(untouched)).isEqualTo("00".repeat(size));
    }
  }

  /** The rows cover the layout: each field has a row, and the layout has this size. */
  static void checkComplete(MailboxLayout layout, int size, List<FieldRow> rows) {
    assertThat(layout.size()).isEqualTo(size);
    assertThat(layout.fields())
        .containsExactlyInAnyOrderElementsOf(rows.stream().map(FieldRow::field).toList());
  }

  /** The bytes of a body in which only this field is set. */
  String body(int size) {
    return body("00", size, bytes);
  }

  /** The bits that the fields of a body have. */
  static MemorySegment defined(int size, List<FieldRow> rows) {
    byte[] defined = new byte[size];
    for (FieldRow row : rows) {
      byte[] mask = HexFormat.of().parseHex(row.mask);
      for (int i = 0; i < mask.length; i++) {
        defined[row.offset + i] |= mask[i];
      }
    }
    return MemorySegment.ofArray(defined);
  }

  private String body(String background, int size, String literal) {
    return background.repeat(offset)
        + literal
        + background.repeat(size - offset - literal.length() / 2);
  }

  private static String inverse(String digits) {
    return HexFormat.of().toHexDigits(~number(digits), digits.length());
  }

  private static long number(String digits) {
    return Long.parseUnsignedLong(digits, 16);
  }

  @Override
  public String toString() {
    return "%02Xh %s".formatted(offset, name);
  }
}

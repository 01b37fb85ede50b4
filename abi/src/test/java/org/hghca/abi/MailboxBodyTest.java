package org.hghca.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Properties of every mailbox body of fixed size. */
class MailboxBodyTest {
  /**
   * A body.
   *
   * @param defined the bits that the interface document defines (for QPC and PORT_INFO also the
   *     extensions), read off its tables
   * @param recode decodes a mailbox and encodes the result into a used one
   */
  record Body(MailboxLayout layout, String defined, UnaryOperator<MemorySegment> recode) {
    @Override
    public String toString() {
      return layout.name();
    }
  }

  static Stream<Body> bodies() {
    return Stream.of(
        new Body(
            DeviceLimits.LAYOUT,
            "ffffffff 00ff00ff ffffffff ffffffff "
                + "ff00ffff 00ff0000 ffffffff ffffffff "
                + "0fff00ff 00ff0000 00ffffff 00ffffff "
                + "ffffffff ffffffff 00000000 00000000",
            mailbox -> encoded(DeviceLimits.decode(mailbox)::encode, 64)),
        new Body(
            AdapterInfo.LAYOUT,
            "00000000 00000000 00000000 00000000 " + "00000000 00000000 ffffffff ffffffff",
            mailbox -> encoded(AdapterInfo.decode(mailbox)::encode, 32)),
        new Body(
            InitHca.LAYOUT,
            "00000000 00000000 ffffffff ffffffff "
                + "ffffffff ffffffff ffffffff ffffffff "
                + "00000000 00000000 00000000 00000000 "
                + "ffffffff ffffffff ffffffff ffffffff",
            mailbox -> encoded(InitHca.decode(mailbox)::encode, 64)),
        new Body(
            Mpt.LAYOUT,
            "ffffffff ffffffff ffffffff ffffffff "
                + "ffffffff ffffffff ffffffff ffffffff "
                + "ffffffff ffffffff ffffffff ffffffff "
                + "ffffffff ffffffff 00000000 00000000",
            mailbox -> encoded(Mpt.decode(mailbox)::encode, 64)),
        new Body(
            EventQueueContext.LAYOUT,
            "ffffffff ffffffff ffffffff ff000000 "
                + "00000000 000000ff ffffffff ffffffff "
                + "00000000 00000000 ffffffff ffffffff "
                + "00000000 00000000 00000000 00000000",
            mailbox -> encoded(EventQueueContext.decode(mailbox)::encode, 64)),
        new Body(
            CompletionQueueContext.LAYOUT,
            "ffffffff ffffffff ffffffff ffffffff "
                + "ffffffff ffffffff ffffffff 00000000 "
                + "00000000 00000000 00000000 ffffffff "
                + "00000000 00000000 00000000 00000000",
            mailbox -> encoded(CompletionQueueContext.decode(mailbox)::encode, 64)),
        new Body(
            ResizeCq.LAYOUT,
            "ff000000 ffffffff 00000000 00000000 " + "00000000 00000000 00000000 00000000",
            mailbox -> encoded(ResizeCq.decode(mailbox)::encode, 32)),
        new Body(
            PortInfo.LAYOUT,
            "00ffffff 00000000 00000000 00000000 " + "00000000 00000000 00000000 00000000",
            mailbox -> encoded(PortInfo.decode(mailbox)::encode, 32)),
        new Body(
            QueuePairContext.LAYOUT,
            "ffffffff ffffffff f0ff1800 ffffffff "
                + "ffffffff ffffffff ffffffff 0700007f "
                + "ffff0000 f8ffffff ffffffff ffffffff "
                + "ffffffff ffffffff ffffffff ffffffff "
                + "ffffffff ffffffff ffffffff ffffffff "
                + "ffffffff ffffffff 00e0e000 ffffffff "
                + "ffffffff ffffffff 00e70000 ffffffff "
                + "ffffffff ffffffff ffffffff ffffffff "
                + "ffffffff ffffffff ffffffff ffffffff "
                + "ffffffff ffffffff ffffffff ffffffff "
                + "bfffffff ffffffff ffffffff ffffffff "
                + "ffffffff ffffffff ffffffff ffffffff",
            mailbox -> encoded(QueuePairContext.decode(mailbox)::encode, 192)));
  }

  private static MemorySegment encoded(Consumer<MemorySegment> body, int size) {
    MemorySegment mailbox = Mailboxes.used(size + 4);
    body.accept(mailbox);
    assertThat(Mailboxes.hex(mailbox.asSlice(size)))
        .as("bytes after the body")
        .isEqualTo("a5a5a5a5");
    return mailbox.asSlice(0, size);
  }

  @ParameterizedTest
  @MethodSource("bodies")
  void sizeIsThatOfTheTable(Body body) {
    assertThat(Mailboxes.of(body.defined).byteSize()).isEqualTo(body.layout.size());
  }

  @ParameterizedTest
  @MethodSource("bodies")
  void everyBitBelongsToExactlyOneFieldOrIsReserved(Body body) {
    MemorySegment defined = Mailboxes.of(body.defined);
    for (int bit = 0; bit < body.layout.size() * Byte.SIZE; bit++) {
      MemorySegment mailbox = withBit(body.layout.size(), bit);
      boolean reserved = (byteAt(defined, bit / 8) & byteAt(mailbox, bit / 8)) == 0;
      long fields =
          body.layout.fields().stream().filter(field -> field.getLong(mailbox) != 0).count();
      assertThat(fields)
          .as("fields of %s that hold bit %d of byte %02Xh", body, 7 - bit % 8, bit / 8)
          .isEqualTo(reserved ? 0 : 1);
    }
  }

  @ParameterizedTest
  @MethodSource("bodies")
  void everyBitSurvivesDecodeAndEncode(Body body) {
    MemorySegment defined = Mailboxes.of(body.defined);
    for (int bit = 0; bit < body.layout.size() * Byte.SIZE; bit++) {
      MemorySegment mailbox = withBit(body.layout.size(), bit);
      assertThat(Mailboxes.hex(body.recode.apply(mailbox)))
          .isEqualTo(Mailboxes.hex(masked(mailbox, defined)));
    }
  }

  @ParameterizedTest
  @MethodSource("bodies")
  void randomBodySurvivesDecodeAndEncode(Body body) {
    MemorySegment defined = Mailboxes.of(body.defined);
    Random random = new Random(0x48474843);
    for (int round = 0; round < 100; round++) {
      byte[] bytes = new byte[body.layout.size()];
      random.nextBytes(bytes);
      MemorySegment mailbox = MemorySegment.ofArray(bytes);
      assertThat(Mailboxes.hex(body.recode.apply(mailbox)))
          .isEqualTo(Mailboxes.hex(masked(mailbox, defined)));
    }
  }

  @ParameterizedTest
  @MethodSource("bodies")
  void fieldsHoldTheirLargestValueAndNoMore(Body body) {
    for (MailboxField field : body.layout.fields()) {
      MemorySegment mailbox = MemorySegment.ofArray(new byte[body.layout.size()]);
      long largest = field.isWide() ? field.mask() : (1L << field.width()) - 1;
      field.setLong(mailbox, largest);
      assertThat(field.getLong(mailbox)).as(field.toString()).isEqualTo(largest);
      if (largest != -1) {
        assertThatThrownBy(() -> field.setLong(mailbox, largest + 1))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining(field.name());
      }
    }
  }

  @ParameterizedTest
  @MethodSource("bodies")
  void describeNamesEveryFieldOfAFullBody(Body body) {
    MemorySegment mailbox = Mailboxes.used(body.layout.size()).fill((byte) -1);
    assertThat(body.layout.describe(mailbox).split(" "))
        .hasSize(body.layout.fields().size())
        .allMatch(text -> text.matches("[a-z0-9_:\\[\\]]+=0x[0-9a-f]+"));
  }

  private static MemorySegment withBit(int size, int bit) {
    MemorySegment mailbox = MemorySegment.ofArray(new byte[size]);
    mailbox.set(ValueLayout.JAVA_BYTE, bit / 8, (byte) (0x80 >> bit % 8));
    return mailbox;
  }

  private static MemorySegment masked(MemorySegment mailbox, MemorySegment defined) {
    MemorySegment result = MemorySegment.ofArray(new byte[(int) mailbox.byteSize()]);
    for (int i = 0; i < mailbox.byteSize(); i++) {
      result.set(ValueLayout.JAVA_BYTE, i, (byte) (byteAt(mailbox, i) & byteAt(defined, i)));
    }
    return result;
  }

  private static int byteAt(MemorySegment mailbox, int offset) {
    return mailbox.get(ValueLayout.JAVA_BYTE, offset);
  }
}

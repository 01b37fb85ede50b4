package org.hghca.abi;

import static org.assertj.core.api.Assertions.assertThat;

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
  /** A body, and what decodes a mailbox and encodes the result into a used one. */
  record Body(MailboxLayout layout, UnaryOperator<MemorySegment> recode) {
    /** The bits that the table of the body defines. */
    MemorySegment defined() {
      return MailboxTablesTest.tables()
          .filter(table -> table.layout().equals(layout))
          .map(table -> FieldRow.defined(table.size(), table.rows()))
          .findFirst()
          .orElseThrow();
    }

    @Override
    public String toString() {
      return layout.name();
    }
  }

  static Stream<Body> bodies() {
    return Stream.of(
        new Body(DeviceLimits.LAYOUT, it -> encoded(DeviceLimits.decode(it)::encode, 64)),
        new Body(AdapterInfo.LAYOUT, it -> encoded(AdapterInfo.decode(it)::encode, 32)),
        new Body(InitHca.LAYOUT, it -> encoded(InitHca.decode(it)::encode, 64)),
        new Body(Mpt.LAYOUT, it -> encoded(Mpt.decode(it)::encode, 64)),
        new Body(EventQueueContext.LAYOUT, it -> encoded(EventQueueContext.decode(it)::encode, 64)),
        new Body(
            CompletionQueueContext.LAYOUT,
            it -> encoded(CompletionQueueContext.decode(it)::encode, 64)),
        new Body(ResizeCq.LAYOUT, it -> encoded(ResizeCq.decode(it)::encode, 32)),
        new Body(PortInfo.LAYOUT, it -> encoded(PortInfo.decode(it)::encode, 32)),
        new Body(QueuePairContext.LAYOUT, it -> encoded(QueuePairContext.decode(it)::encode, 192)));
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
  void everyBitSurvivesDecodeAndEncode(Body body) {
    MemorySegment defined = body.defined();
    for (int bit = 0; bit < body.layout.size() * Byte.SIZE; bit++) {
      MemorySegment mailbox = withBit(body.layout.size(), bit);
      assertThat(Mailboxes.hex(body.recode.apply(mailbox)))
          .isEqualTo(Mailboxes.hex(masked(mailbox, defined)));
    }
  }

  @ParameterizedTest
  @MethodSource("bodies")
  void randomBodySurvivesDecodeAndEncode(Body body) {
    MemorySegment defined = body.defined();
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

package org.hghca.conformance.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.conformance.abi.FieldRow.row;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.List;
import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.EventQueueContext;
import org.hghca.abi.EventType;
import org.hghca.abi.MapEq;
import org.hghca.abi.ResizeCq;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Interface document, tables 3-2-24 to 3-2-38: event queues and completion queues. */
class EventAndCompletionQueueTablesTest {
  private static final String ALL32 = "ffffffff";
  private static final String ALL64 = "ffffffffffffffff";

  @ParameterizedTest
  @CsvSource({
    "0x02, COMM_EST,            0x00000004",
    "0x03, SQ_DRAINED,          0x00000008",
    "0x04, CQ_ERROR,            0x00000010",
    "0x05, WQ_CATAS_ERROR,      0x00000020",
    "0x10, WQ_INVAL_REQ_ERROR,  0x00010000",
    "0x11, WQ_ACCESS_ERROR,     0x00020000",
    "0x08, LOCAL_CATAS_ERROR,   0x00000100",
    "0x09, PORT_CHANGE,         0x00000200",
  })
  void eventsHaveTheCodesAndMaskBitsOfTable3225(String code, EventType type, String mask) {
    assertThat(type.code()).isEqualTo(Integer.decode(code));
    assertThat(type.mask()).isEqualTo(Long.decode(mask));
    assertThat(type.symbol()).isEqualTo("HGHCA_EVENT_TYPE_" + type.name());
    assertThat(EventType.of(Integer.decode(code))).contains(type);
    assertThat(EventType.inMask(Long.decode(mask))).containsExactly(type);
  }

  @Test
  void asyncMaskHoldsTheEightEventsOfTheTable() {
    assertThat(EventType.inMask(EventType.ASYNC_MASK)).hasSize(8);
    assertThat(EventType.ASYNC_MASK).isEqualTo(0x0003_033cL);
    assertThat(EventType.maskOf(EnumSet.of(EventType.CQ_ERROR, EventType.WQ_ACCESS_ERROR)))
        .isEqualTo(0x0002_0010L);
    assertThat(EventType.inMask(0xffff_ffff_ffe0_fc41L)).isEmpty();
    assertThat(EventType.of(0)).isEmpty();
    assertThat(EventType.of(0x0a)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "false, 0x00000001, 0x00000001",
    "true,  0x00000001, 0x80000001",
    "false, 0x0000001f, 0x0000001f",
    "true,  0x7fffffff, 0xffffffff",
    "true,  0x00000000, 0x80000000",
  })
  void mapEqInModifierHasTheUnmapFlagOnTop(boolean unmap, String eqn, String inModifier) {
    int expected = Long.decode(inModifier).intValue();

    assertThat(MapEq.inModifier(unmap, Integer.decode(eqn))).isEqualTo(expected);
    assertThat(MapEq.isUnmap(expected)).isEqualTo(unmap);
    assertThat(MapEq.eqn(expected)).isEqualTo(Integer.decode(eqn));
  }

  @Test
  void eqnThatWouldSetTheUnmapFlagIsRefused() {
    assertThatThrownBy(() -> MapEq.inModifier(false, 0x80000000))
        .isInstanceOf(IllegalArgumentException.class);
  }

  static List<FieldRow> table3227() {
    return List.of(
        row("flags", EventQueueContext.FLAGS, 0x00, ALL32, "01040100", 0x01040100L),
        row("start", EventQueueContext.START, 0x04, ALL64, "0405060708090a0b", 0x0405060708090a0bL),
        row("logsize", EventQueueContext.LOG_SIZE, 0x0c, "ff000000", "0a000000", 0x0a),
        row("intr", EventQueueContext.INTERRUPT, 0x14, "000000ff", "0000003f", 0x3f),
        row("pd", EventQueueContext.PD, 0x18, ALL32, "18191a1b", 0x18191a1bL),
        row("lkey", EventQueueContext.LKEY, 0x1c, ALL32, "9c9d9e9f", 0x9c9d9e9fL),
        row(
            "consumer_index",
            EventQueueContext.CONSUMER_INDEX,
            0x28,
            ALL32,
            "a8a9aaab",
            0xa8a9aaabL),
        row(
            "producer_index",
            EventQueueContext.PRODUCER_INDEX,
            0x2c,
            ALL32,
            "acadaeaf",
            0xacadaeafL));
  }

  @ParameterizedTest
  @MethodSource("table3227")
  void eventQueueFieldIsAtItsPlaceInTable3227(FieldRow row) {
    row.check(64);
  }

  @Test
  void eventQueueContextIsWrittenAndReadAsAWhole() {
    FieldRow.checkComplete(EventQueueContext.LAYOUT, 64, table3227());
    String literal =
        Bytes.hex(
            "01040100 00000001 23456000 08000000",
            "00000000 00000021 00000007 80000019",
            "00000000 00000000 00000003 00000005",
            "00000000 00000000 00000000 00000000");
    EventQueueContext context =
        new EventQueueContext(0x01040100, 0x123456000L, 8, 0x21, 7, 0x80000019, 3, 5);

    MemorySegment inbox = Bytes.filled(72, 0xff);
    context.encode(inbox);

    assertThat(Bytes.hex(inbox)).isEqualTo(literal + "ff".repeat(8));
    assertThat(EventQueueContext.decode(Bytes.of(literal))).isEqualTo(context);
  }

  @Test
  void eventQueueFlagsAreTheBitsOfTable3229() {
    assertThat(EventQueueContext.OWNER_HW).isEqualTo(0x0100_0000);
    assertThat(EventQueueContext.TRANSLATE).isEqualTo(0x0004_0000);
    assertThat(EventQueueContext.ARMED).isEqualTo(0x0000_0100);
  }

  static List<FieldRow> table3232() {
    return List.of(
        row("flags", CompletionQueueContext.FLAGS, 0x00, ALL32, "00040100", 0x00040100L),
        row(
            "start",
            CompletionQueueContext.START,
            0x04,
            ALL64,
            "0405060708090a0b",
            0x0405060708090a0bL),
        row("logsize", CompletionQueueContext.LOG_SIZE, 0x0c, "ff000000", "0d000000", 0x0d),
        row("usrpage", CompletionQueueContext.USR_PAGE, 0x0c, "00ffffff", "000d0e0f", 0x0d0e0f),
        row("comp_eqn", CompletionQueueContext.COMP_EQN, 0x10, ALL32, "10111213", 0x10111213L),
        row("pd", CompletionQueueContext.PD, 0x14, ALL32, "94151617", 0x94151617L),
        row("lkey", CompletionQueueContext.LKEY, 0x18, ALL32, "98191a1b", 0x98191a1bL),
        row("cqn", CompletionQueueContext.CQN, 0x2c, ALL32, "2c2d2e2f", 0x2c2d2e2fL));
  }

  @ParameterizedTest
  @MethodSource("table3232")
  void completionQueueFieldIsAtItsPlaceInTable3232(FieldRow row) {
    row.check(64);
  }

  @Test
  void completionQueueContextIsWrittenAndReadAsAWhole() {
    FieldRow.checkComplete(CompletionQueueContext.LAYOUT, 64, table3232());
    String literal =
        Bytes.hex(
            "00040000 00000001 23456000 0d00abcd",
            "00000002 00000009 80000017 00000000",
            "00000000 00000000 00000000 00000104",
            "00000000 00000000 00000000 00000000");
    CompletionQueueContext context =
        new CompletionQueueContext(
            0x00040000, 0x123456000L, 0x0d, 0x00abcd, 2, 9, 0x80000017, 0x104);

    MemorySegment inbox = Bytes.filled(72, 0xff);
    context.encode(inbox);

    assertThat(Bytes.hex(inbox)).isEqualTo(literal + "ff".repeat(8));
    assertThat(CompletionQueueContext.decode(Bytes.of(literal))).isEqualTo(context);
  }

  @Test
  void completionQueueFlagsAreTheBitsOfTable3234() {
    assertThat(CompletionQueueContext.TRANSLATE).isEqualTo(0x0004_0000);
    assertThat(CompletionQueueContext.ARMED).isEqualTo(0x0000_0100);
  }

  static List<FieldRow> table3237() {
    return List.of(
        row("logsize", ResizeCq.LOG_SIZE, 0x00, "ff000000", "0a000000", 0x0a),
        row("lkey", ResizeCq.LKEY, 0x04, ALL32, "deadbeef", 0xdeadbeefL));
  }

  @ParameterizedTest
  @MethodSource("table3237")
  void resizeFieldIsAtItsPlaceInTable3237(FieldRow row) {
    row.check(32);
  }

  @Test
  void resizeInboxIsWrittenAndReadAsAWhole() {
    FieldRow.checkComplete(ResizeCq.LAYOUT, 32, table3237());
    ResizeCq body = new ResizeCq(0x0a, 0xdeadbeef);
    String literal = Bytes.body(32, "00: 0a000000 deadbeef");

    MemorySegment inbox = Bytes.filled(40, 0xff);
    body.encode(inbox);

    assertThat(Bytes.hex(inbox)).isEqualTo(literal + "ff".repeat(8));
    assertThat(ResizeCq.decode(Bytes.of(literal))).isEqualTo(body);
  }
}

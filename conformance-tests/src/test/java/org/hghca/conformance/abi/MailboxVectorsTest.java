package org.hghca.conformance.abi;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.hghca.abi.AdapterInfo;
import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.DeviceLimits;
import org.hghca.abi.EventQueueContext;
import org.hghca.abi.EventType;
import org.hghca.abi.IcmChunk;
import org.hghca.abi.InitHca;
import org.hghca.abi.MapEq;
import org.hghca.abi.MapIcm;
import org.hghca.abi.Mpt;
import org.hghca.abi.PortInfo;
import org.hghca.abi.ResizeCq;
import org.hghca.abi.WriteMtt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The recorded inboxes and outboxes, read and written field by field. */
class MailboxVectorsTest {
  private static final List<CommandVector> BASIC = CommandVector.load("stage1_ceu_basic.json");
  private static final List<CommandVector> SEQUENCE =
      CommandVector.load("stage1_ceu_sequence.json");
  private static final List<CommandVector> MAPS = CommandVector.load("stage1_v2p_map.json");

  private static CommandVector named(List<CommandVector> vectors, String name) {
    return vectors.stream().filter(v -> v.name().equals(name)).findFirst().orElseThrow();
  }

  @Test
  void deviceLimitsOfTheCard() {
    CommandVector vector = named(BASIC, "QUERY_DEV_LIM");
    DeviceLimits limits =
        new DeviceLimits(
            1,
            0,
            0,
            0,
            0,
            0,
            13,
            13,
            14,
            13,
            5,
            14,
            12,
            0,
            1,
            8,
            256,
            128,
            64,
            64,
            0,
            5,
            0,
            15,
            1,
            12,
            16,
            512,
            16,
            512,
            0x1234567887650000L,
            Set.of());

    assertThat(DeviceLimits.decode(vector.outboxBytes())).isEqualTo(limits);
    MemorySegment outbox = Bytes.filled(96, 0xa5);
    limits.encode(outbox);
    assertThat(Bytes.hex(outbox)).isEqualTo(vector.outbox());
  }

  @Test
  void adapterOfTheCard() {
    CommandVector vector = named(BASIC, "QUERY_ADAPTER");
    AdapterInfo info = new AdapterInfo(0x0123456789abcdefL);

    assertThat(AdapterInfo.decode(vector.outboxBytes())).isEqualTo(info);
    MemorySegment outbox = Bytes.filled(64, 0xa5);
    info.encode(outbox);
    assertThat(Bytes.hex(outbox)).isEqualTo(vector.outbox());
  }

  @Test
  void portInfoOfTheCardIsAConstant() {
    CommandVector vector = named(BASIC, "MAD_IFC opmod1");
    PortInfo info = new PortInfo(1, 2, 3);

    assertThat(PortInfo.decode(vector.outboxBytes())).isEqualTo(info);
    assertThat(info.isConstantAnswer()).isTrue();
    assertThat(new PortInfo(1, 4, 5).isConstantAnswer()).isFalse();
    MemorySegment outbox = Bytes.filled(64, 0xa5);
    info.encode(outbox);
    assertThat(Bytes.hex(outbox)).isEqualTo(vector.outbox());
  }

  static Stream<CommandVector> initHca() {
    return Stream.of(named(SEQUENCE, "INIT_HCA"), named(MAPS, "INIT_HCA"));
  }

  @ParameterizedTest
  @MethodSource("initHca")
  void initHcaInbox(CommandVector vector) {
    InitHca body =
        new InitHca(0x10000000, 14, 0x10400000, 13, 0x10600000, 5, 0x20000000, 14, 0x20400000);

    assertThat(InitHca.decode(vector.inboxBytes())).isEqualTo(body);
    MemorySegment inbox = Bytes.filled(64, 0xff);
    body.encode(inbox);
    assertThat(Bytes.hex(inbox)).isEqualTo(vector.inbox());
  }

  private static IcmChunk chunk(long virtual, long page, int pages) {
    return new IcmChunk(virtual, page, pages);
  }

  static Stream<Arguments> mapIcm() {
    return Stream.of(
        Arguments.of(SEQUENCE.get(2), List.of(chunk(0x10000000, 0x200000, 4))),
        Arguments.of(
            SEQUENCE.get(3),
            List.of(chunk(0x10400000, 0x210000, 2), chunk(0x10600000, 0x220000, 1))),
        Arguments.of(
            SEQUENCE.get(4),
            List.of(
                chunk(0x10004000, 0x230000, 1),
                chunk(0x10005000, 0x240000, 2),
                chunk(0x10007000, 0x250000, 1))),
        Arguments.of(
            SEQUENCE.get(5),
            List.of(chunk(0x20000000, 0x260000, 4), chunk(0x20400000, 0x270000, 4))),
        Arguments.of(MAPS.get(1), List.of(chunk(0x10000000, 0x200000, 4))),
        Arguments.of(MAPS.get(2), List.of(chunk(0x10400000, 0x210000, 2))),
        Arguments.of(MAPS.get(3), List.of(chunk(0x10600000, 0x220000, 1))),
        Arguments.of(MAPS.get(4), List.of(chunk(0x20000000, 0x260000, 4))),
        Arguments.of(MAPS.get(5), List.of(chunk(0x20400000, 0x270000, 4))));
  }

  @ParameterizedTest
  @MethodSource("mapIcm")
  void mapIcmInbox(CommandVector vector, List<IcmChunk> chunks) {
    assertThat(vector.op()).isEqualTo("ffa");
    assertThat(vector.count()).isEqualTo(chunks.size());
    assertThat(MapIcm.decode(vector.inboxBytes(), chunks.size())).isEqualTo(chunks);

    MemorySegment inbox = Bytes.filled(vector.inbox().length() / 2, 0xff);
    MapIcm.encode(inbox, chunks);
    assertThat(Bytes.hex(inbox)).isEqualTo(vector.inbox());
  }

  static Stream<Arguments> writeMtt() {
    return Stream.concat(
        Stream.of(6, 7, 8, 9, 10)
            .map(i -> Arguments.of(SEQUENCE.get(i), start(i - 6), pages(i - 6))),
        Stream.of(6, 7, 8, 9, 10, 11, 12)
            .map(i -> Arguments.of(MAPS.get(i), start(i - 6), pages(i - 6))));
  }

  private static long start(int i) {
    return new long[] {0, 1, 4, 8, 32, 35, 8191}[i];
  }

  private static long[] pages(int i) {
    return new long[][] {
          {0x300000},
          {0x301000, 0x302000, 0x303000},
          {0x304000, 0x305000, 0x306000, 0x307000},
          {0x308000, 0x309000, 0x30a000, 0x30b000, 0x30c000},
          {0x400000, 0x401000, 0x402000, 0x403000, 0x404000, 0x405000, 0x406000, 0x407000},
          {0x410000, 0x411000, 0x412000, 0x413000, 0x414000, 0x415000},
          {0x777000, 0x777000},
        }
        [i];
  }

  @ParameterizedTest
  @MethodSource("writeMtt")
  void writeMttInbox(CommandVector vector, long start, long[] pages) {
    assertThat(vector.op()).isEqualTo("011");
    assertThat(vector.count()).isEqualTo(pages.length);
    MemorySegment recorded = vector.inboxBytes();
    assertThat(WriteMtt.startIndex(recorded)).isEqualTo(start);
    for (int i = 0; i < pages.length; i++) {
      assertThat(WriteMtt.page(recorded, i)).as("entry %d", i).isEqualTo(pages[i]);
    }

    MemorySegment inbox = Bytes.filled(vector.inbox().length() / 2, 0xff);
    WriteMtt.encode(inbox, start, pages);
    assertThat(Bytes.hex(inbox)).isEqualTo(vector.inbox());
  }

  static Stream<Arguments> mpt() {
    return Stream.of(
        Arguments.of(SEQUENCE.get(11), mpt(0x101, 0x0700_0000, 0)),
        Arguments.of(SEQUENCE.get(12), mpt(0x102, 0x0800_0000, 1)),
        Arguments.of(MAPS.get(13), mpt(0x101, 0x0700_0000, 0)),
        Arguments.of(MAPS.get(14), mpt(0x102, 0x0800_0000, 1)),
        Arguments.of(MAPS.get(15), mpt(0x103, 0x0800_0000, 1)));
  }

  private static Mpt mpt(int key, long start, long mttSegment) {
    return new Mpt(0x0f000103, 0x1000, key, 5, start, 0x2000, 0, 0, 0, mttSegment, 0);
  }

  @ParameterizedTest
  @MethodSource("mpt")
  void mptInbox(CommandVector vector, Mpt entry) {
    assertThat(vector.op()).isEqualTo("00d");
    assertThat(Mpt.decode(vector.inboxBytes())).isEqualTo(entry);

    MemorySegment inbox = Bytes.filled(64, 0xff);
    entry.encode(inbox);
    assertThat(Bytes.hex(inbox)).isEqualTo(vector.inbox());
  }

  static Stream<CommandVector> eventQueues() {
    return Stream.of(SEQUENCE.get(13), MAPS.get(16), MAPS.get(17));
  }

  @ParameterizedTest
  @MethodSource("eventQueues")
  void eventQueueInbox(CommandVector vector) {
    assertThat(vector.op()).isEqualTo("013");
    EventQueueContext context =
        new EventQueueContext(
            0x01000000,
            0x0101010101020202L,
            0x01,
            0x05,
            0x01060606,
            0x01070707,
            0x010a0a0a,
            0x010b0b0b);

    assertThat(EventQueueContext.decode(vector.inboxBytes())).isEqualTo(context);
    // the pattern fills reserved bytes too; they are written as zero
    MemorySegment inbox = Bytes.filled(64, 0xff);
    context.encode(inbox);
    assertThat(Bytes.hex(inbox))
        .isEqualTo(
            Bytes.hex(
                "01000000 01010101 01020202 01000000",
                "00000000 00000005 01060606 01070707",
                "00000000 00000000 010a0a0a 010b0b0b",
                "00000000 00000000 00000000 00000000"));
  }

  @Test
  void completionQueueInbox() {
    CommandVector vector = named(SEQUENCE, "SW2HW_CQ");
    CompletionQueueContext context =
        new CompletionQueueContext(
            0x02000000,
            0x0201010102020202L,
            0x02,
            0x030303,
            0x02040404,
            0x02050505,
            0x02060606,
            0x020b0b0b);

    assertThat(CompletionQueueContext.decode(vector.inboxBytes())).isEqualTo(context);
    MemorySegment inbox = Bytes.filled(64, 0xff);
    context.encode(inbox);
    assertThat(Bytes.hex(inbox))
        .isEqualTo(
            Bytes.hex(
                "02000000 02010101 02020202 02030303",
                "02040404 02050505 02060606 00000000",
                "00000000 00000000 00000000 020b0b0b",
                "00000000 00000000 00000000 00000000"));
  }

  @Test
  void resizeInbox() {
    CommandVector vector = named(SEQUENCE, "RESIZE_CQ");
    ResizeCq body = new ResizeCq(10, 0xdeadbeef);

    assertThat(ResizeCq.decode(vector.inboxBytes())).isEqualTo(body);
    MemorySegment inbox = Bytes.filled(32, 0xff);
    body.encode(inbox);
    assertThat(Bytes.hex(inbox)).isEqualTo(vector.inbox());
  }

  @Test
  void mapEqArguments() {
    CommandVector vector = named(SEQUENCE, "MAP_EQ");
    long mask = Vectors.longNumber(vector.inParam());

    assertThat(EventType.inMask(mask & EventType.ASYNC_MASK))
        .isEqualTo(Set.of(EventType.CQ_ERROR, EventType.WQ_CATAS_ERROR, EventType.PORT_CHANGE));
    assertThat(MapEq.inModifier(false, 1)).isEqualTo(vector.count());
    assertThat(MapEq.eqn(vector.count())).isEqualTo(1);
    assertThat(MapEq.isUnmap(vector.count())).isFalse();
  }

  @Test
  void unmapIcmKindIsTheOpModifier() {
    assertThat(named(SEQUENCE, "UNMAP_ICM").opModifier())
        .isEqualTo("%02x".formatted(MapIcm.CONTEXTS));
    assertThat(named(SEQUENCE, "UNMAP_ICM2").opModifier())
        .isEqualTo("%02x".formatted(MapIcm.TRANSLATION));
  }
}

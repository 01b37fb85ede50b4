package org.hghca.tools.card;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.hghca.abi.Bar;
import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.Cqe;
import org.hghca.abi.DataUnit;
import org.hghca.abi.DeviceLimits;
import org.hghca.abi.Doorbell;
import org.hghca.abi.Eqe;
import org.hghca.abi.EventQueueContext;
import org.hghca.abi.EventType;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.MptFlags;
import org.hghca.abi.NextUnit;
import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.hghca.abi.RemoteAddressUnit;
import org.hghca.abi.SrqContext;
import org.hghca.abi.WqeOpcode;
import org.hghca.icm.IcmTable;
import org.hghca.mailbox.CommandInterface;
import org.hghca.tools.raw.RawRegion;
import org.hghca.tools.raw.RawTables;
import org.hghca.tools.raw.TappedFunction;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunctions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code dump} and {@code dump ring} on queues that the test has made and written. */
class RingDumpTest {
  private static final Duration LIMIT = Duration.ofSeconds(5);
  private static final int PD = 3;
  private static final int QPN = 5;
  private static final int CQN = 2;
  private static final int EQN = 1;
  private static final int SRQN = 4;
  private static final int STRIDE = 128;
  private static final int SLOTS = 4;

  private TappedFunction function;
  private CommandInterface commands;
  private RawTables tables;
  private CardSession session;

  private void open(HardwareProfile as) {
    Locator locator = Locator.parse("model:rings?profile=" + as.name());
    function = new TappedFunction(PciFunctions.open(locator));
    function.configuration().enableMemorySpace();
    function.configuration().busMaster(true);
    function.tap().hcrAt(as.hcrBase());
    function.tap().allowWholeBar();
    commands = CommandInterface.open(function, as, as.hcrBase(), LIMIT);
    DeviceLimits limits = commands.queryDeviceLimits();
    tables = new RawTables(function, commands, as, limits);
    commands.initHca(tables.layout());
    for (IcmTable table : IcmTable.values()) {
      tables.map(table, RawTables.usedPages(table));
    }
    CardOptions options = new CardOptions(locator, Optional.of(as), LIMIT, LIMIT.multipliedBy(4));
    session = CardSession.of(new KeptCard(options, function, OptionalInt.of(as.hcrBase())));
  }

  @AfterEach
  void close() {
    session.close();
    function.close();
  }

  private RawRegion region() {
    return tables.register(tables.allocate(4096), PD, MptFlags.LOCAL_WRITE, 0);
  }

  private RawRegion completionQueue() {
    RawRegion ring = region();
    Cqe.fill(ring.segment(), 0, SLOTS);
    commands.sw2hwCq(
        CQN,
        new CompletionQueueContext(
            CompletionQueueContext.TRANSLATE, 0, 2, 0, 0, PD, ring.key(), CQN));
    return ring;
  }

  private QueuePairContext context(RawRegion send, RawRegion receive) {
    return new QueuePairContext()
        .set(QueuePairContext.STATE, QpcState.INIT)
        .set(QueuePairContext.LOCAL_QPN, QPN)
        .set(QueuePairContext.PD, PD)
        .set(QueuePairContext.SQ_ENTRY_SIZE, 7)
        .set(QueuePairContext.RQ_ENTRY_SIZE, 7)
        .set(QueuePairContext.SEND_CQN, CQN)
        .set(QueuePairContext.RECEIVE_CQN, CQN)
        .set(QueuePairContext.SEND_WQE_LKEY, send.key())
        .set(QueuePairContext.SEND_WQE_LENGTH, SLOTS * STRIDE)
        .set(QueuePairContext.RECEIVE_WQE_LKEY, receive.key())
        .set(QueuePairContext.RECEIVE_WQE_LENGTH, SLOTS * STRIDE);
  }

  private void queuePair(RawRegion send, RawRegion receive) {
    commands.modifyQp(HcrCommand.RST2INIT, QPN, context(send, receive));
  }

  private Reply reply(String line) {
    return session.execute(line).orElseThrow();
  }

  private Map<String, Object> dump(String line) {
    Reply reply = reply(line);
    assertThat(reply.error()).isEmpty();
    return reply.json();
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> part(Map<String, Object> of, String name) {
    return (Map<String, Object>) of.get(name);
  }

  @SuppressWarnings("unchecked")
  private static List<Map<String, Object>> slots(Map<String, Object> ring) {
    return (List<Map<String, Object>>) part(ring, "memory").get("slots");
  }

  private static void complete(MemorySegment ring, int slot, int qpn, int wqe, int owner) {
    Cqe.encodeSuccess(
        ring, (long) slot * Cqe.SIZE, qpn, 9, 7, 0, 64, wqe, true, WqeOpcode.SEND, owner);
  }

  @ParameterizedTest
  @ValueSource(strings = {"s", "r1", "r2"})
  void completionsAreFreeValidOrConsumed(String name) {
    HardwareProfile as = HardwareProfile.byName(name);
    open(as);
    RawRegion ring = completionQueue();
    queuePair(region(), region());
    complete(ring.segment(), 0, QPN, 0, as.cqeOwner());
    Cqe.free(ring.segment(), 0);
    complete(ring.segment(), 1, QPN, STRIDE, as.cqeOwner());

    Map<String, Object> dump = dump("dump ring cq 2");
    assertThat(dump).containsEntry("inconsistent", List.of());
    assertThat(dump.get("table").toString()).startsWith("tables 3-3-1 to 3-3-4");
    assertThat(part(dump, "driver")).containsEntry("slots", 4L).containsEntry("slot_bytes", 32);
    assertThat(part(dump, "memory")).containsEntry("producer", 2).containsEntry("consumer", 1);
    assertThat(slots(dump)).extracting("slot").containsExactly(0, 1);
    assertThat(slots(dump)).extracting("state").containsExactly("consumed", "valid");
    assertThat(slots(dump).getLast())
        .containsEntry("my_qpn", QPN)
        .containsEntry("byte_cnt", 64L)
        .containsEntry("is_send", 1)
        .containsEntry("inconsistent", List.of());
    assertThat(slots(dump).getLast().get("opcode")).hasToString("10");
    assertThat(slots(dump("dump ring cq 2 slot 2-3"))).extracting("state").containsOnly("free");
    assertThat(part(part(dump("dump ring qp 5"), "send"), "memory").get("consumer"))
        .isEqualTo(as == HardwareProfile.R2 ? consumerNotKnown() : 2);
  }

  private static Object consumerNotKnown() {
    return "not known: its CQ holds no completion that was not polled";
  }

  @Test
  void inconsistentCompletionsAreMarked() {
    open(HardwareProfile.S);
    RawRegion ring = completionQueue();
    queuePair(region(), region());
    complete(ring.segment(), 0, 6, 0, 0);
    complete(ring.segment(), 2, QPN, SLOTS * STRIDE, 0x80);

    Map<String, Object> dump = dump("dump ring cq 2");
    assertThat(dump.get("inconsistent").toString()).contains("in 2 pieces");
    assertThat(slots(dump).get(0).get("inconsistent"))
        .isEqualTo(List.of("my_qpn is 6, and that QP is not in force"));
    assertThat(slots(dump).get(1).get("inconsistent"))
        .isEqualTo(
            List.of(
                "owner is 80h, which profile s does not write",
                "wqe is 0x200, which is no slot of 128 bytes in a send queue of 512 bytes"));
    assertThat(String.join("\n", reply("dump ring cq 2").lines()))
        .contains("inconsistent: my_qpn is 6, and that QP is not in force");
  }

  @Test
  void failedCompletionHasItsSyndrome() {
    open(HardwareProfile.S);
    RawRegion ring = completionQueue();
    queuePair(region(), region());
    Cqe.encodeError(ring.segment(), 0, QPN, 0, 0x0c, 0x81, true, 0);

    Reply reply = reply("dump ring cq 2");
    assertThat(String.join("\n", reply.lines()))
        .contains("syndrome=12 (", "vendor_err=129", "opcode=255 (INVALID)");
    assertThat(slots(reply.json()).getFirst()).doesNotContainKey("imm_etype_pkey_eec");
  }

  @Test
  void requestsAreDecodedUnitByUnit() {
    open(HardwareProfile.S);
    completionQueue();
    RawRegion send = region();
    RawRegion receive = region();
    RawRegion data = region();
    queuePair(send, receive);
    write(send.segment(), data, 0, STRIDE / 16, WqeOpcode.RDMA_WRITE, 3);
    write(send.segment(), data, STRIDE, 0, 0, 0);
    DataUnit.write(receive.segment(), NextUnit.SIZE, 64, data.key(), data.start());
    NextUnit.writeReceive(receive.segment(), 0, 3);
    function
        .region(Bar.BAR2)
        .writeLong(Doorbell.SEND_QUEUE, Doorbell.sendQueue(QPN, 3, 0, 0, WqeOpcode.RDMA_WRITE));

    Map<String, Object> dump = dump("dump ring qp 5");
    Map<String, Object> requests = part(dump, "send");
    assertThat(requests).containsEntry("inconsistent", List.of());
    assertThat(part(requests, "memory")).containsEntry("producer", 2);
    assertThat(slots(requests)).extracting("slot").containsExactly(0, 1);
    List<?> units = (List<?>) slots(requests).getFirst().get("units");
    assertThat(units).extracting("unit").isEqualTo(List.of("next", "raddr", "data"));
    assertThat(units.get(0).toString()).contains("nds=3", "nop=8", "opcode=8", "size=3", "c=1");
    assertThat(units.get(1).toString()).contains("raddr=12288", "rkey=77");
    assertThat(units.get(2).toString()).contains("byte_cnt=64", "lkey=");
    Map<String, Object> receives = part(dump, "receive");
    assertThat(part(receives, "memory")).containsEntry("producer", 1).containsEntry("consumer", 0);
    assertThat(slots(receives)).hasSize(1);
    assertThat(slots(receives).getFirst()).containsEntry("inconsistent", List.of());
  }

  /** A WRITE of 64 bytes that is linked to the one behind it. */
  private static void write(
      MemorySegment ring, RawRegion data, long slot, int nda, int nop, int nds) {
    RemoteAddressUnit.write(ring, slot + NextUnit.SIZE, 0x3000, 77);
    DataUnit.write(ring, slot + 2 * NextUnit.SIZE, 64, data.key(), data.start());
    NextUnit.write(
        ring,
        slot,
        NextUnit.address(nda, nop),
        NextUnit.size(nds, 0),
        NextUnit.control(WqeOpcode.RDMA_WRITE, 3, NextUnit.MARKER | NextUnit.COMPLETION),
        0);
  }

  @Test
  void inconsistentRequestsAreMarked() {
    open(HardwareProfile.S);
    completionQueue();
    RawRegion send = region();
    RawRegion receive = region();
    RawRegion data = region();
    queuePair(send, receive);
    write(send.segment(), data, 0, STRIDE / 16, WqeOpcode.SEND, 2);
    write(send.segment(), data, STRIDE, 1, WqeOpcode.SEND, 2);
    NextUnit.write(send.segment(), 2 * STRIDE, 0, 0, NextUnit.control(0x1f, 9, 1), 0);
    DataUnit.write(send.segment(), STRIDE + 2 * NextUnit.SIZE, 5000, data.key(), data.start());
    for (int unit = 1; unit < STRIDE / 16; unit++) {
      DataUnit.write(receive.segment(), unit * 16L, 64, 0x77, 0);
    }
    NextUnit.writeReceive(receive.segment(), 0, 8);
    function
        .region(Bar.BAR2)
        .writeLong(Doorbell.SEND_QUEUE, Doorbell.sendQueue(QPN, 2, 0, 0, WqeOpcode.RDMA_WRITE));

    Map<String, Object> dump = dump("dump ring qp 5");
    Map<String, Object> requests = part(dump, "send");
    assertThat(requests.get("inconsistent"))
        .isEqualTo(List.of("size0 of the doorbell is 2, and the WQE in slot 0 has the size 3"));
    assertThat(slots(requests).get(0).get("inconsistent"))
        .isEqualTo(
            List.of(
                "nds is 2, and the WQE in slot 1 has the size 3",
                "nop is SEND, and the WQE in slot 1 is RDMA_WRITE"));
    assertThat(slots(requests).get(1).get("inconsistent").toString())
        .contains("nda is the offset 0x10, which is no slot")
        .contains("has 4096 bytes at 0x0, its user needs 5000");
    assertThat(slots(requests).get(2).get("inconsistent").toString())
        .contains("opcode 1fh is in no table", "size is 144 bytes in a slot of 128");
    assertThat(slots(part(dump, "receive")).getFirst().get("inconsistent").toString())
        .contains("no unit of zeros ends the list", "MPT 119: was not sent");
  }

  @Test
  void eventsAreDecoded() {
    open(HardwareProfile.S);
    completionQueue();
    RawRegion ring = region();
    for (int i = 0; i < SLOTS; i++) {
      Eqe.free(ring.segment(), (long) i * Eqe.SIZE);
    }
    commands.sw2hwEq(
        EQN,
        new EventQueueContext(
            EventQueueContext.OWNER_HW | EventQueueContext.TRANSLATE,
            0,
            2,
            0,
            PD,
            ring.key(),
            0,
            0));
    Eqe.encode(ring.segment(), 0, Eqe.TYPE_COMPLETION, 0, CQN);
    Eqe.free(ring.segment(), 0);
    Eqe.encode(ring.segment(), Eqe.SIZE, EventType.COMM_EST.code(), 0, QPN);
    Eqe.encode(ring.segment(), 2 * Eqe.SIZE, 0x7e, 0, 0);
    function.region(Bar.BAR2).writeInt(Doorbell.EQ_ARM, Doorbell.armEventQueue(EQN, 9));

    Map<String, Object> dump = dump("dump ring eq 1");
    assertThat(dump).containsEntry("table", "EXTENSION (EQE)");
    assertThat(part(dump, "memory"))
        .containsEntry("producer", 3)
        .containsEntry("consumer", 1)
        .containsEntry("doorbell", "consumer index 9, slot 1");
    assertThat(slots(dump)).extracting("state").containsExactly("consumed", "valid", "valid");
    assertThat(slots(dump).get(1)).containsEntry("data", (long) QPN);
    assertThat(slots(dump).get(2).get("inconsistent"))
        .isEqualTo(List.of("type 7eh is in no table"));
  }

  @Test
  void ringWhoseMemoryIsGoneIsNotKnown() {
    open(HardwareProfile.S);
    RawRegion ring = completionQueue();
    commands.hw2swMpt(ring.index());

    Map<String, Object> taken = dump("dump ring cq 2");
    assertThat(taken.get("inconsistent").toString()).contains("was taken back by HW2SW_MPT");
    assertThat(slots(taken)).isEmpty();

    ring.mapping().close();
    Map<String, Object> gone = dump("dump ring cq 2");
    assertThat(gone.get("memory").toString())
        .startsWith("not known: bus address 0x")
        .endsWith("is not memory that is mapped");
  }

  @Test
  void contextThatNamesWhatIsNotThereIsMarked() {
    open(HardwareProfile.S);
    RawRegion send = region();
    RawRegion receive = region();
    QueuePairContext context = context(send, receive);
    context.set(QueuePairContext.LOCAL_QPN, QPN + 1).set(QueuePairContext.PD, PD + 1);
    context.set(QueuePairContext.RECEIVE_WQE_LKEY, receive.key() ^ 1 << 30);
    commands.modifyQp(HcrCommand.RST2INIT, QPN, context);

    assertThat(dump("dump qp 5").get("inconsistent").toString())
        .contains("local_qpn: 6, and the command was for 5")
        .contains("cqn_snd: CQ 2 is not in force", "cqn_rcv: CQ 2 is not in force")
        .contains(
            "snd_wqe_base_l: key 0x%08x".formatted(send.key()), "is of PD 3, its user of PD 4")
        .contains("was sent with the key 0x%08x".formatted(receive.key()));
  }

  @Test
  void takenBackObjectsKeepTheirContext() {
    open(HardwareProfile.S);
    completionQueue();
    assertThat(part(dump("dump cq 2"), "driver")).containsEntry("in_force", true);
    commands.hw2swCq(CQN);

    Map<String, Object> driver = part(dump("dump cq 2"), "driver");
    assertThat(driver).containsEntry("command", "HW2SW_CQ").containsEntry("in_force", false);
    assertThat(driver.get("cqn")).hasToString("2");
    assertThat(dump("dump ring cq 2")).containsEntry("taken_back", "HW2SW_CQ");
  }

  @Test
  void sharedReceiveQueueIsAskedFor() {
    open(HardwareProfile.S);
    RawRegion ring = region();
    commands.sw2hwSrq(SRQN, new SrqContext(0, 2, SRQN, ring.key(), 2048, 7, 0, 0, PD, 0, 0, 0));

    Map<String, Object> dump = dump("dump srq 4");
    assertThat(dump)
        .containsEntry("inconsistent", List.of())
        .containsEntry("table", "EXTENSION (SRQC)");
    assertThat(part(dump, "card").get("lkey")).isEqualTo(part(dump, "driver").get("lkey"));
    commands.resizeSrq(SRQN, new SrqContext(0, 3, SRQN, ring.key(), 2048, 7, 0, 0, PD, 0, 0, 0));
    assertThat(part(dump("dump srq 4"), "driver").get("logsize")).hasToString("3");
  }

  @Test
  void cardOfTheRtlHasNoSharedReceiveQueue() {
    open(HardwareProfile.R1);

    assertThat(dump("dump srq 4").get("card"))
        .isEqualTo("not known: profile r1 has no shared receive queues");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "dump ring cq 2 slot 4 ~ slot 4 is outside: the ring has the slots 0 to 3",
        "dump ring cq 2 slot 0-4 ~ slot 4 is outside",
        "dump ring cq 2 slot 2-1 ~ FROM is beyond TO",
        "dump ring cq 2 slot ~ a slot is missing",
        "dump ring cq 2 slot x ~ a slot is a number",
        "dump ring cq 2 more ~ 'more' is too much: dump ring qp|cq|eq NUMBER",
        "dump ring cq 3 ~ the ring of cq 3 is not known: its context was not sent",
        "dump ring mpt 1 ~ dump ring is not for the mpt",
        "dump ring ~ an object is missing: dump ring",
        "dump cq ~ a number is missing: dump qp|cq|eq|mpt|srq NUMBER; the card has 2",
        "init ~ init would reset the card that bringup has left"
      })
  void badLineIsRefusedInOneLine(String line) {
    open(HardwareProfile.S);
    completionQueue();
    String[] parts = line.split(" ~ ");

    Reply reply = reply(parts[0]);
    assertThat(reply.isOk()).isFalse();
    assertThat(reply.error()).contains(parts[1]).doesNotContain("\n", "internal");
  }
}

package org.hghca.conformance.abi;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.hghca.abi.BthOpcode;
import org.hghca.abi.Cqe;
import org.hghca.abi.DataUnit;
import org.hghca.abi.Doorbell;
import org.hghca.abi.InlineUnit;
import org.hghca.abi.NextUnit;
import org.hghca.abi.RemoteAddressUnit;
import org.hghca.abi.WqeOpcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The recorded RC transfers from QP 2 to QP 3: WQEs, doorbells and CQEs, read and written field by
 * field. The recorded WQEs leave blank what the document leaves blank; dw0 = 1 marks a receive WQE.
 */
class TransferVectorsTest {
  private static final int LOCAL_KEY = 0x20;
  private static final int REMOTE_KEY = 0x21;
  private static final long LOCAL = 0x7f00_0000_0000L;
  private static final long REMOTE = 0x7e00_0000_0000L;

  /** A data unit. */
  record Sge(int byteCount, int lkey, long address) {}

  /**
   * One transfer with its arguments.
   *
   * @param name as recorded
   * @param opcode of the WQE
   * @param units size of the WQE in units of 16 bytes
   * @param immediate imm_data
   * @param remote address in the raddr unit, 0 for none
   * @param inline inline data in hexadecimal, empty for none
   * @param gather data units of the WQE
   * @param scatter data units of the receive WQE, empty for none
   * @param byteCount length of the message
   * @param receiveOpcode opcode in the CQE of the receive, -1 for none
   */
  record Transfer(
      String name,
      int opcode,
      int units,
      int immediate,
      long remote,
      String inline,
      List<Sge> gather,
      List<Sge> scatter,
      int byteCount,
      int receiveOpcode) {
    @Override
    public String toString() {
      return name;
    }
  }

  private static List<Sge> local(int byteCount, long offset) {
    return List.of(new Sge(byteCount, LOCAL_KEY, LOCAL + offset));
  }

  private static List<Sge> remote(int byteCount, long offset) {
    return List.of(new Sge(byteCount, REMOTE_KEY, REMOTE + offset));
  }

  private static Transfer send(
      String name, int units, List<Sge> gather, List<Sge> scatter, int byteCount, int receive) {
    return new Transfer(name, 0x0a, units, 0, 0, "", gather, scatter, byteCount, receive);
  }

  private static Transfer rdma(String name, int opcode, long remote, List<Sge> gather) {
    int byteCount = gather.getFirst().byteCount();
    return new Transfer(name, opcode, 3, 0, remote, "", gather, List.of(), byteCount, -1);
  }

  static List<Transfer> transfers() {
    return List.of(
        send("SEND 64", 2, local(64, 0), remote(4096, 0), 64, 0x04),
        new Transfer(
            "SEND_IMM 100", 0x0b, 2, 0xdeadbeef, 0, "", local(100, 0), remote(4096, 0), 100, 0x05),
        send("SEND 1", 2, local(1, 0), remote(4096, 0), 1, 0x04),
        send("SEND 4096 mtu4096", 2, local(4096, 0), remote(8192, 0), 4096, 0x04),
        send("SEND 6000 mtu1024", 2, local(6000, 0), remote(8192, 0), 6000, 0x02),
        send("SEND 5000 mtu4096 unaligned VA", 2, local(5000, 0x123), remote(8192, 5), 5000, 0x02),
        rdma("RDMA_WRITE 300", 0x08, REMOTE + 0x40, local(300, 0)),
        rdma("RDMA_WRITE 9000 mtu1024 cross pages", 0x08, REMOTE + 0xfe8, local(9000, 0xff0)),
        new Transfer(
            "RDMA_WRITE_IMM 200",
            0x09,
            3,
            0x11223344,
            REMOTE + 0x40,
            "",
            local(200, 0),
            remote(4096, 0),
            200,
            0x0b),
        rdma("RDMA_READ 64", 0x10, REMOTE, local(64, 0)),
        rdma("RDMA_READ 5000 mtu1024", 0x10, REMOTE + 0x100, local(5000, 0x80)),
        new Transfer(
            "SEND inline 12",
            0x0a,
            2,
            0,
            0,
            "030a11181f262d343b424950",
            List.of(),
            remote(4096, 0),
            12,
            0x04),
        new Transfer(
            "SEND inline 28",
            0x0a,
            3,
            0,
            0,
            "030a11181f262d343b424950575e656c737a81888f969da4abb2b9c0",
            List.of(),
            remote(4096, 0),
            28,
            0x04),
        send(
            "SEND 2 SGE 40+30",
            3,
            List.of(new Sge(40, LOCAL_KEY, LOCAL), new Sge(30, LOCAL_KEY, LOCAL + 0x28)),
            remote(4096, 0),
            70,
            0x04),
        send(
            "SEND 200 to RECV 2 SGE 50+300",
            2,
            local(200, 0),
            List.of(new Sge(50, REMOTE_KEY, REMOTE), new Sge(300, REMOTE_KEY, REMOTE + 0x1000)),
            200,
            0x04));
  }

  /** The recording of a transfer: inputs and CQEs by their names. */
  private record Recorded(String sendWqe, String receiveWqe, long doorbell, Map<?, ?> cqes) {}

  private static final Map<String, Recorded> RECORDED = load();

  private static Map<String, Recorded> load() {
    Map<String, Recorded> recorded = new HashMap<>();
    for (Map<?, ?> transfer : Vectors.loadObjects("stage3_rc_data.json")) {
      String send = "";
      String receive = "";
      long doorbell = 0;
      for (Object input : Vectors.list(transfer.get("inputs"))) {
        List<?> parts = Vectors.list(input);
        if (parts.getFirst().equals("sq_wqe slot0")) {
          send = (String) parts.get(1);
          doorbell = Vectors.longNumber(((String) parts.get(2)).substring("doorbell ".length()));
        } else {
          receive = (String) parts.get(1);
        }
      }
      recorded.put(
          Vectors.text(transfer, "name"),
          new Recorded(send, receive, doorbell, (Map<?, ?>) transfer.get("cqes")));
    }
    return recorded;
  }

  static Stream<Transfer> received() {
    return transfers().stream().filter(transfer -> !transfer.scatter().isEmpty());
  }

  @Test
  void everyRecordedTransferIsTested() {
    assertThat(transfers().stream().map(Transfer::name))
        .containsExactlyInAnyOrderElementsOf(RECORDED.keySet());
  }

  @ParameterizedTest
  @MethodSource("transfers")
  void doorbell(Transfer transfer) {
    long recorded = RECORDED.get(transfer.name()).doorbell();

    assertThat(Doorbell.sendQueue(2, transfer.units(), 0, 0, transfer.opcode()))
        .isEqualTo(recorded);
    assertThat(Doorbell.qpn(recorded)).isEqualTo(2);
    assertThat(Doorbell.size16(recorded)).isEqualTo(transfer.units());
    assertThat(Doorbell.headUnits16(recorded)).isZero();
    assertThat(Doorbell.fence(recorded)).isZero();
    assertThat(Doorbell.opcode(recorded)).isEqualTo(transfer.opcode());
  }

  @ParameterizedTest
  @MethodSource("transfers")
  void sendWqeIsWritten(Transfer transfer) {
    MemorySegment wqe = Bytes.zeros(16 * transfer.units());
    NextUnit.write(wqe, 0, NextUnit.address(0, 0), NextUnit.size(0, 0), 0, transfer.immediate());
    long at = NextUnit.SIZE;
    if (transfer.remote() != 0) {
      RemoteAddressUnit.write(wqe, at, transfer.remote(), REMOTE_KEY);
      at += RemoteAddressUnit.SIZE;
    }
    if (!transfer.inline().isEmpty()) {
      InlineUnit.writeHeader(wqe, at, transfer.byteCount());
      MemorySegment data = Bytes.of(transfer.inline());
      wqe.asSlice(at + InlineUnit.HEADER_SIZE, data.byteSize()).copyFrom(data);
      at += 16L * InlineUnit.units(transfer.byteCount());
    }
    at = writeAll(wqe, at, transfer.gather());

    assertThat(at).isEqualTo(16L * transfer.units());
    assertThat(Bytes.hex(wqe)).isEqualTo(RECORDED.get(transfer.name()).sendWqe());
  }

  @ParameterizedTest
  @MethodSource("transfers")
  void sendWqeIsRead(Transfer transfer) {
    MemorySegment wqe = Bytes.of(RECORDED.get(transfer.name()).sendWqe());

    assertThat(NextUnit.nextHeadUnits16(wqe, 0)).isZero();
    assertThat(NextUnit.nextOpcode(wqe, 0)).isZero();
    assertThat(NextUnit.nextSize16(wqe, 0)).isZero();
    assertThat(NextUnit.nextFence(wqe, 0)).isZero();
    assertThat(NextUnit.flags(wqe, 0)).isZero();
    assertThat(NextUnit.size16(wqe, 0)).isZero();
    assertThat(NextUnit.opcode(wqe, 0)).isZero();
    assertThat(NextUnit.immediate(wqe, 0)).isEqualTo(transfer.immediate());
    long at = NextUnit.SIZE;
    if (transfer.remote() != 0) {
      assertThat(RemoteAddressUnit.address(wqe, at)).isEqualTo(transfer.remote());
      assertThat(RemoteAddressUnit.rkey(wqe, at)).isEqualTo(REMOTE_KEY);
      at += RemoteAddressUnit.SIZE;
    }
    if (!transfer.inline().isEmpty()) {
      assertThat(DataUnit.isInline(DataUnit.firstDword(wqe, at))).isTrue();
      assertThat(InlineUnit.length(wqe, at)).isEqualTo(transfer.byteCount());
    }
    readAll(wqe, at, transfer.gather());
  }

  @ParameterizedTest
  @MethodSource("received")
  void receiveWqeIsWritten(Transfer transfer) {
    MemorySegment wqe = Bytes.filled(32 + 16 * transfer.scatter().size(), 0xff);
    NextUnit.write(wqe, 0, NextUnit.address(0, 1), NextUnit.size(0, 0), 0, 0);
    long end = writeAll(wqe, NextUnit.SIZE, transfer.scatter());
    DataUnit.writeTerminator(wqe, end);

    assertThat(Bytes.hex(wqe)).isEqualTo(RECORDED.get(transfer.name()).receiveWqe());
  }

  @ParameterizedTest
  @MethodSource("received")
  void receiveWqeIsRead(Transfer transfer) {
    MemorySegment wqe = Bytes.of(RECORDED.get(transfer.name()).receiveWqe());

    assertThat(NextUnit.isPosted(wqe, 0)).isTrue();
    assertThat(NextUnit.nextOpcode(wqe, 0)).isEqualTo(1);
    assertThat(NextUnit.nextHeadUnits16(wqe, 0)).isZero();
    assertThat(NextUnit.nextSize16(wqe, 0)).isZero();
    long end = readAll(wqe, NextUnit.SIZE, transfer.scatter());
    assertThat(DataUnit.isTerminator(wqe, end)).isTrue();
    assertThat(DataUnit.isTerminator(wqe, NextUnit.SIZE)).isFalse();
  }

  private static long writeAll(MemorySegment wqe, long start, List<Sge> sges) {
    long at = start;
    for (Sge sge : sges) {
      DataUnit.write(wqe, at, sge.byteCount(), sge.lkey(), sge.address());
      at += DataUnit.SIZE;
    }
    return at;
  }

  private static long readAll(MemorySegment wqe, long start, List<Sge> sges) {
    long at = start;
    for (Sge sge : sges) {
      assertThat(DataUnit.isInline(DataUnit.firstDword(wqe, at))).isFalse();
      assertThat(
              new Sge(
                  DataUnit.byteCount(wqe, at), DataUnit.lkey(wqe, at), DataUnit.address(wqe, at)))
          .isEqualTo(sge);
      at += DataUnit.SIZE;
    }
    return at;
  }

  private static String onlyCqe(Transfer transfer, String queue) {
    List<?> cqes = Vectors.list(RECORDED.get(transfer.name()).cqes().get(queue));
    assertThat(cqes).hasSize(1);
    return (String) cqes.getFirst();
  }

  @ParameterizedTest
  @MethodSource("transfers")
  void completionOfTheSend(Transfer transfer) {
    String recorded = onlyCqe(transfer, "scqA_cqn1");

    // rqpn of an RC send is the key of the CQ, as the RTL writes it; rlid is dmac[15:0]
    MemorySegment cqe = Bytes.of(recorded);
    check(cqe, 2, 0x14, transfer.byteCount());
    assertThat(Cqe.isSend(Cqe.lastDword(cqe, 0))).isTrue();
    assertThat(Cqe.opcode(Cqe.lastDword(cqe, 0))).isEqualTo(transfer.opcode());

    MemorySegment written = Bytes.filled(32, 0xff);
    Cqe.encodeSuccess(
        written, 0, 2, 0x14, 0x22, 0, transfer.byteCount(), 0, true, transfer.opcode(), 0);
    assertThat(Bytes.hex(written)).isEqualTo(recorded);
  }

  @ParameterizedTest
  @MethodSource("received")
  void completionOfTheReceive(Transfer transfer) {
    String recorded = onlyCqe(transfer, "rcqB_cqn4");

    MemorySegment cqe = Bytes.of(recorded);
    check(cqe, 3, 2, transfer.byteCount());
    assertThat(Cqe.isSend(Cqe.lastDword(cqe, 0))).isFalse();
    assertThat(Cqe.opcode(Cqe.lastDword(cqe, 0))).isEqualTo(transfer.receiveOpcode());
    assertThat(BthOpcode.hasImmediate(transfer.receiveOpcode()))
        .isEqualTo(
            transfer.opcode() == WqeOpcode.SEND_IMM
                || transfer.opcode() == WqeOpcode.RDMA_WRITE_IMM);

    MemorySegment written = Bytes.filled(32, 0xff);
    Cqe.encodeSuccess(
        written, 0, 3, 2, 0x22, 0, transfer.byteCount(), 0, false, transfer.receiveOpcode(), 0);
    assertThat(Bytes.hex(written)).isEqualTo(recorded);
  }

  private static void check(MemorySegment cqe, int qpn, int remoteQpn, int byteCount) {
    assertThat(Cqe.qpn(cqe, 0)).isEqualTo(qpn);
    assertThat(Cqe.remoteQpn(cqe, 0)).isEqualTo(remoteQpn);
    assertThat(Cqe.remoteLid(cqe, 0)).isEqualTo(0x22);
    assertThat(Cqe.immediate(cqe, 0)).as("never delivered by the RTL").isZero();
    assertThat(Cqe.byteCount(cqe, 0)).isEqualTo(byteCount);
    assertThat(Cqe.wqeOffset(cqe, 0)).isZero();
    assertThat(Cqe.owner(cqe, 0)).isZero();
  }

  @Test
  void transfersWithoutAReceiveLeaveTheOtherQueuesEmpty() {
    for (Transfer transfer : transfers()) {
      Map<?, ?> cqes = RECORDED.get(transfer.name()).cqes();
      assertThat(Vectors.list(cqes.get("rcqA_cqn2"))).isEmpty();
      assertThat(Vectors.list(cqes.get("scqB_cqn3"))).isEmpty();
      assertThat(Vectors.list(cqes.get("rcqB_cqn4"))).hasSize(transfer.scatter().isEmpty() ? 0 : 1);
    }
  }
}

package org.hghca.virtio.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.HexFormat;
import java.util.stream.Stream;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Counter;
import org.hghca.verbs.Errno;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Requests as the device reads them, completions as it writes them. */
class DataPathTest extends ScriptedDeviceFixture {
  private static final int SQ = ScriptedDevice.FIRST_SQ + 4;
  private static final int RQ = ScriptedDevice.FIRST_RQ + 4;

  private final Completions completions = new Completions(8);
  private ProtectionDomain pd;
  private CompletionQueue cq;
  private QueuePair qp;

  @BeforeEach
  void connect() {
    pd = context.allocateProtectionDomain();
    cq = completionQueue();
    qp = connected(pd, cq);
    device.notified.clear();
  }

  @AfterEach
  void closeObjects() {
    qp.close();
    cq.close();
    pd.close();
  }

  private static SendRequest request() {
    return new SendRequest(4).wrId(0x1122334455667788L);
  }

  private void completeSend(byte[] request, int status) {
    device.use(SQ);
    device.complete(0, entry(request, status, 0, 2));
  }

  @Test
  void sendOfTwoElements() {
    qp.postSend(
        request().sendWithImmediate(0x01020304).sge(0x1000, 16, 7).sge(0x2000, 32, 8).signaled());

    byte[] sent = device.take(SQ);
    assertThat(sent).hasSize(576 + 32);
    assertThat(hex(sent, 8, 16)).isEqualTo("03020000" + "01020304");
    assertThat(hex(sent, 16, 48)).isEqualTo("00".repeat(32));
    assertThat(hex(sent, 560, 576)).isEqualTo("02000000" + "00".repeat(12));
    assertThat(hex(sent, 576, 608))
        .isEqualTo(
            "0010000000000000"
                + "10000000"
                + "07000000"
                + "0020000000000000"
                + "20000000"
                + "08000000");
    assertThat(device.notified).containsExactly(SQ);
  }

  @Test
  void rdmaNamesTheMemoryOfThePeer() {
    qp.postSend(request().rdmaRead(0x123456789aL, 0xabcd).sge(0x1000, 16, 7).fence());

    byte[] read = device.take(SQ);
    assertThat(hex(read, 8, 12)).isEqualTo("04010000");
    assertThat(hex(read, 16, 32)).isEqualTo("9a78563412000000" + "cdab0000" + "00000000");
    qp.postSend(request().rdmaWriteWithImmediate(1, 2, 3).solicited());
    assertThat(hex(device.take(SQ), 8, 16)).isEqualTo("01040000" + "00000003");
  }

  @Test
  void inlineDataIsInTheRequest() {
    MemorySegment data = MemorySegment.ofArray(HexFormat.of().parseHex("a1a2a3a4a5"));
    Arena arena = Arena.ofAuto();
    MemorySegment memory = arena.allocate(5).copyFrom(data);
    qp.postSend(request().rdmaWrite(1, 2).inline(memory).inline(memory));

    byte[] sent = device.take(SQ);
    assertThat(sent).hasSize(576);
    assertThat(hex(sent, 8, 10)).isEqualTo("0008");
    assertThat(hex(sent, 48, 60)).isEqualTo("a1a2a3a4a5a1a2a3a4a50000");
    assertThat(hex(sent, 560, 564)).isEqualTo("0a000000");
    assertThatExceptionOfType(BadRequestException.class)
        .isThrownBy(() -> qp.postSend(request().send().inline(arena.allocate(65))))
        .withMessageContaining("64");
    assertThat(device.available(SQ)).isZero();
  }

  @Test
  void receive() {
    qp.postReceive(new ReceiveRequest(2).wrId(9).sge(0x3000, 64, 5));

    byte[] posted = device.take(RQ);
    assertThat(posted).hasSize(24 + 16);
    assertThat(hex(posted, 8, 40))
        .isEqualTo("01000000" + "00".repeat(12) + "0030000000000000" + "40000000" + "05000000");
    device.use(RQ);
    device.complete(0, entry(posted, 0, 4, 2));
    assertThat(cq.poll(completions)).isEqualTo(1);
    assertThat(completions.wrId(0)).isEqualTo(9);
    assertThat(completions.opcode(0)).isEqualTo(WcOpcode.RECV_RDMA_WITH_IMM);
    assertThat(completions.immediate(0)).isEqualTo(0x01020304);
    assertThat(completions.byteLength(0)).isEqualTo(100);
    assertThat(completions.flags(0)).isEqualTo(Completions.WITH_IMM);
    assertThat(completions.qpNumber(0)).isEqualTo(2);
    assertThat(completions.sourceQp(0)).as("of the connection").isEqualTo(119);
  }

  @Test
  void listOfRequestsIsOneKick() {
    SendRequest[] list = {request().send(), request().send(), request().send()};

    assertThat(qp.tryPostSend(list, 0, 3)).isEqualTo(3);
    assertThat(device.notified).containsExactly(SQ);
    assertThat(device.available(SQ)).isEqualTo(3);
    assertThat(context.counters().get(Counter.DOORBELLS)).isEqualTo(1);
  }

  @Test
  void requestsBeforeABadOneAreStarted() {
    SendRequest[] list = {request().send(), request().fetchAndAdd(8, 1, 1).sge(8, 8, 1)};

    assertThatExceptionOfType(BadRequestException.class)
        .isThrownBy(() -> qp.tryPostSend(list, 0, 2))
        .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EOPNOTSUPP))
        .satisfies(e -> assertThat(e.index()).isEqualTo(1));
    assertThat(device.available(SQ)).isEqualTo(1);
    assertThat(device.notified).containsExactly(SQ);
  }

  @Test
  void enqueuedRequestsAreSeenAfterTheFlush() {
    qp.enqueueSend(request().send());
    qp.enqueueSend(request().send());

    assertThat(device.available(SQ)).isZero();
    qp.flushSends();
    assertThat(device.available(SQ)).isEqualTo(2);
    assertThat(device.notified).containsExactly(SQ);
  }

  @Test
  void depthIsThatOfTheQueuePair() {
    for (int i = 0; i < 4; i++) {
      assertThat(qp.tryPostSend(request().wrId(i).send())).isTrue();
    }
    assertThat(qp.tryPostSend(request().send())).isFalse();
    device.take(SQ);
    byte[] second = device.take(SQ);
    device.use(SQ);
    completeSend(second, 0);
    assertThat(qp.tryPostSend(request().send())).isFalse();
    assertThat(cq.poll(completions)).isEqualTo(1);
    assertThat(completions.wrId(0)).isEqualTo(1);
    assertThat(qp.tryPostSend(request().wrId(4).send())).isTrue();
    assertThat(qp.tryPostSend(request().wrId(5).send())).isTrue();
    assertThat(qp.tryPostSend(request().send())).isFalse();
  }

  @Test
  void requestsGoOnForMoreThanAnIndexHolds() {
    SendRequest request = request().send().signaled();
    for (int i = 0; i < 70_000; i++) {
      qp.postSend(request.wrId(i));
      completeSend(device.take(SQ), 0);
      assertThat(cq.poll(completions)).isEqualTo(1);
      assertThat(completions.wrId(0)).isEqualTo(i);
    }
    assertThat(device.available(ScriptedDevice.FIRST_CQ)).isEqualTo(16);
  }

  static Stream<Arguments> statuses() {
    return Stream.of(
        Arguments.of(1, WcStatus.LOC_LEN_ERR),
        Arguments.of(2, WcStatus.LOC_QP_OP_ERR),
        Arguments.of(3, WcStatus.LOC_PROT_ERR),
        Arguments.of(4, WcStatus.WR_FLUSH_ERR),
        Arguments.of(5, WcStatus.BAD_RESP_ERR),
        Arguments.of(6, WcStatus.LOC_ACCESS_ERR),
        Arguments.of(7, WcStatus.REM_INV_REQ_ERR),
        Arguments.of(8, WcStatus.REM_ACCESS_ERR),
        Arguments.of(9, WcStatus.REM_OP_ERR),
        Arguments.of(10, WcStatus.RETRY_EXC_ERR),
        Arguments.of(11, WcStatus.RNR_RETRY_EXC_ERR),
        Arguments.of(12, WcStatus.REM_ABORT_ERR),
        Arguments.of(13, WcStatus.FATAL_ERR),
        Arguments.of(14, WcStatus.RESP_TIMEOUT_ERR),
        Arguments.of(15, WcStatus.GENERAL_ERR),
        Arguments.of(16, WcStatus.GENERAL_ERR));
  }

  @ParameterizedTest
  @MethodSource("statuses")
  void statusIsThatOfTheVerbs(int code, WcStatus status) {
    qp.postSend(request().send());
    completeSend(device.take(SQ), code);

    assertThat(cq.poll(completions)).isEqualTo(1);
    assertThat(completions.status(0)).isEqualTo(status);
    assertThat(completions.vendorError(0)).isEqualTo(0x55);
    assertThat(qp.state()).isEqualTo(status == WcStatus.WR_FLUSH_ERR ? QpState.RTS : QpState.ERR);
  }

  @Test
  void failedReceiveHasItsDirection() {
    qp.postReceive(new ReceiveRequest().wrId(3));
    byte[] posted = device.take(RQ);
    device.use(RQ);
    device.complete(0, entry(posted, 4, 0, 2));

    assertThat(cq.poll(completions)).isEqualTo(1);
    assertThat(completions.opcode(0)).isEqualTo(WcOpcode.RECV);
    assertThat(qp.state()).isEqualTo(QpState.ERR);
    assertThat(qp.tryPostReceive(new ReceiveRequest())).isTrue();
    assertThat(qp.tryPostSend(request().send())).isTrue();
  }

  @Test
  void completionOfNoRequestEndsTheDevice() {
    device.complete(0, entry(new byte[8], 0, 0, 2));

    assertErrno(Errno.EIO, () -> cq.poll(completions)).withMessageContaining("twice");
    assertErrno(Errno.EIO, () -> qp.postSend(request().send()));
  }

  @Test
  void resetDropsRequestsAndCompletions() {
    qp.postSend(request().send());
    qp.postSend(request().send());
    completeSend(device.take(SQ), 0);
    device.take(SQ);
    device.use(SQ); // the device gives back what it had at the reset
    qp.modify(QpAttributes.to(QpState.RESET));

    assertThat(cq.poll(completions)).isZero();
    assertErrno(Errno.EINVAL, () -> qp.postSend(request().send()))
        .withMessageContaining("is in RESET");
    assertThat(device.available(ScriptedDevice.FIRST_CQ)).isEqualTo(16);
    connected(qp);
    for (int i = 0; i < 4; i++) {
      qp.postSend(request().wrId(i).send());
    }
    completeSend(device.take(SQ), 0);
    assertThat(cq.poll(completions)).isEqualTo(1);
    assertThat(completions.wrId(0)).isZero();
  }

  @Test
  void completionsOfOthersStayWhenAQueuePairIsClosed() {
    device.answer(9, data -> ScriptedDevice.number(3));
    QueuePair other = connected(pd, cq);
    other.postSend(request().wrId(1).send());
    qp.postSend(request().wrId(2).send());
    byte[] ofOther = device.take(SQ + 2);
    device.use(SQ + 2);
    device.complete(0, entry(ofOther, 0, 0, 3));
    completeSend(device.take(SQ), 0);
    other.close();

    assertThat(cq.poll(completions)).isEqualTo(1);
    assertThat(completions.wrId(0)).isEqualTo(2);
    assertThat(device.available(ScriptedDevice.FIRST_CQ)).isEqualTo(16);
  }

  @Test
  void completionQueueHasRoomForAllRequests() {
    device.answer(9, data -> ScriptedDevice.number(3));
    QueuePair other = pd.createQueuePair(sized(QueuePairConfig.rc(cq, cq)));

    assertErrno(Errno.ENOMEM, () -> pd.createQueuePair(sized(QueuePairConfig.rc(cq, cq))))
        .withMessageContaining("room for 0 more outstanding requests");
    other.close();
  }

  /**
   * Once the request of a completion is free another thread may post the next one, whose completion
   * needs a buffer: it is there already, and not only at the end of the poll, which fails here.
   */
  @Test
  void bufferOfACompletionGoesBackBeforeItsRequestIsFree() {
    qp.postSend(request().send());
    completeSend(device.take(SQ), 0);
    device.complete(0, entry(new byte[8], 0, 0, 2)); // of a request that is complete already

    assertThat(device.available(ScriptedDevice.FIRST_CQ)).isEqualTo(14);
    assertErrno(Errno.EIO, () -> cq.poll(completions));
    assertThat(device.available(ScriptedDevice.FIRST_CQ)).isEqualTo(15);
  }

  @Test
  void datagramNamesItsHandle() {
    device.answer(9, data -> ScriptedDevice.number(3));
    try (QueuePair ud = pd.createQueuePair(sized(QueuePairConfig.ud(cq, cq)));
        AddressHandle handle = pd.createAddressHandle(AddressVector.to(PEER, 0))) {
      ud.activate(0x1234);
      ud.postSend(request().send().to(handle, 0x99, 0x5678));

      assertThat(hex(device.take(SQ + 2), 16, 28)).isEqualTo("99000000" + "78560000" + "06000000");
      assertErrno(Errno.EINVAL, () -> ud.postSend(request().send()));
      assertErrno(Errno.EOPNOTSUPP, () -> ud.postSend(request().rdmaWrite(1, 2).to(handle, 1, 2)));
      ud.postReceive(new ReceiveRequest());
      byte[] posted = device.take(RQ + 2);
      device.use(RQ + 2);
      device.complete(0, entry(posted, 0, 3, 3));
      assertThat(cq.poll(completions)).isEqualTo(1);
      assertThat(completions.flags(0)).isEqualTo(Completions.GRH | Completions.WITH_IMM);
      assertThat(completions.sourceQp(0)).isEqualTo(0x99);
    }
  }

  @Test
  void notificationIsOneCommandForEachEvent() throws InterruptedException {
    device.answer(2, data -> ScriptedDevice.number(1));
    try (CompletionChannel channel = context.createCompletionChannel();
        CompletionQueue told =
            context.createCompletionQueue(
                CompletionQueueConfig.of(4).withRingEntries(4).withChannel(channel))) {
      told.requestNotify(true);
      told.requestNotify(true);
      told.requestNotify(false);
      told.requestNotify(false);
      assertThat(device.commands(17))
          .containsExactly("01000000" + "01000000", "01000000" + "02000000");
      assertThat(channel.poll()).isEmpty();
      device.complete(1, entry(new byte[8], 0, 0, 2));
      device.interrupt(ScriptedDevice.FIRST_CQ + 1);
      assertThat(channel.await(Duration.ofSeconds(20))).contains(told);
      told.requestNotify(true);
      assertThat(device.commands(17)).hasSize(3);
    }
    assertErrno(Errno.EINVAL, () -> cq.requestNotify(false));
  }
}

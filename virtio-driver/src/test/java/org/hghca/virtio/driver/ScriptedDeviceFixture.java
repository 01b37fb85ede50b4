package org.hghca.virtio.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.assertj.core.api.ThrowableAssertAlternative;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.Locator;
import org.hghca.vfio.inprocess.InProcessFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A context of a {@link ScriptedDevice} at 02:00:00:00:00:0a, 10.0.0.1. */
class ScriptedDeviceFixture {
  private static final String LOCATOR = "scripted:a?ip=10.0.0.1";
  static final Gid PEER = Gid.ofMac(0x0200_0000_000bL);

  final ScriptedDevice device = new ScriptedDevice();
  RoceDevice driven;
  RoceContext context;

  @BeforeEach
  void open() {
    driven = BringUp.of(InProcessFunction.connect(Locator.parse(LOCATOR), device));
    context = new RoceContext(new RdmaDevice("virtio0", LOCATOR, 0), driven, () -> {});
    device.commands.clear();
  }

  @AfterEach
  void closeDevice() {
    driven.close();
    assertThat(device.status).isZero();
  }

  /** Completion queue 0 of 16 entries. */
  CompletionQueue completionQueue() {
    return context.createCompletionQueue(CompletionQueueConfig.of(16).withRingEntries(16));
  }

  /** Queue pair 2, of 4 sends and 4 receives, in RTS. */
  QueuePair connected(ProtectionDomain pd, CompletionQueue cq) {
    return connected(pd.createQueuePair(sized(QueuePairConfig.rc(cq, cq))));
  }

  static QueuePairConfig sized(QueuePairConfig config) {
    return config.sendDepth(4).receiveDepth(4).maxSendSge(2).maxReceiveSge(2).maxInline(64);
  }

  static QueuePair connected(QueuePair qp) {
    qp.modify(QpAttributes.to(QpState.INIT).pkeyIndex(0).port(1).access(AccessFlag.REMOTE_WRITE));
    qp.modify(
        QpAttributes.to(QpState.RTR)
            .addressVector(AddressVector.to(PEER, 0))
            .pathMtu(Mtu.MTU_1024)
            .destinationQpn(0x77)
            .receivePsn(0x222222)
            .minRnrTimer(12)
            .maxDestinationReadAtomic(4));
    qp.modify(
        QpAttributes.to(QpState.RTS)
            .timeout(14)
            .retryCount(7)
            .rnrRetry(6)
            .sendPsn(0x111111)
            .maxReadAtomic(3));
    return qp;
  }

  /** An entry of a completion queue: of the specification's layout. */
  static byte[] entry(byte[] request, int status, int opcode, int qpn) {
    byte[] bytes = new byte[48];
    ByteBuffer entry = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    entry.put(0, request, 0, 8).put(8, (byte) status).put(9, (byte) opcode);
    entry.putInt(12, 0x55).putInt(16, 100).put(20, HexFormat.of().parseHex("01020304"));
    entry.putInt(24, qpn).putInt(28, 0x99).putInt(32, 3);
    return bytes;
  }

  static String hex(byte[] bytes, int from, int to) {
    return HexFormat.of().formatHex(bytes, from, to);
  }

  static ThrowableAssertAlternative<VerbsException> assertErrno(
      Errno errno, ThrowingCallable call) {
    return assertThatExceptionOfType(VerbsException.class)
        .isThrownBy(call)
        .satisfies(e -> assertThat(e.errno()).isEqualTo(errno));
  }
}

package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.conformance.verbs.Failures.assertErrno;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.OnlyOn;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcStatus;
import org.hghca.verbs.WrOpcode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** Several contexts of one device, and contexts that are opened and closed. */
class ContextsTest {
  static final WrOpcode[] OPCODES = MessageSizeTest.OPCODES;

  @Tag("loop")
  @ParameterizedTest
  @FieldSource("OPCODES")
  void queuePairsOfTwoContextsOfADeviceReachEachOther(WrOpcode opcode) {
    try (RcPair pair = new RcSetup().on(Fabric.oneDevice())) {
      assertThat(pair.left.context).isNotSameAs(pair.right.context);
      assertThat(pair.left.qp.number()).isNotEqualTo(pair.right.qp.number());
      Transfer toRight = new Transfer(pair.left, pair.right, 1);
      Transfer toLeft = new Transfer(pair.right, pair.left, 2);
      for (int size : Sizes.some(0, 1, 1024, 5000, 60_000)) {
        toRight.run(opcode, Pieces.one(3, size), Pieces.one(9, size));
        toLeft.run(opcode, Pieces.one(5, size), Pieces.one(1, size));
      }
    }
  }

  @Tag("loop")
  @ParameterizedTest
  @FieldSource("OPCODES")
  void twoQueuePairsOfOneContextReachEachOther(WrOpcode opcode) {
    Transfer.requireImmediates(opcode);
    try (RcPair pair = new RcSetup().unconnected().open();
        QueuePair peer =
            pair.left.pd.createQueuePair(
                QueuePairConfig.rc(pair.left.sendQueue, pair.left.receiveQueue))) {
      RcPair.connect(pair.setup(), pair.left.qp, peer);
      long length = 3000;
      pair.left.memory().asSlice(0, length).fill((byte) 0x33);
      if (Transfer.takesReceive(opcode)) {
        peer.postReceive(pair.left.receive.into(pair.left.buffer, 10_016, length));
      }
      var request =
          switch (opcode) {
            case SEND -> pair.left.send.send();
            case SEND_WITH_IMM -> pair.left.send.sendWithImmediate(5);
            case RDMA_READ ->
                pair.left.send.rdmaRead(pair.left.address(10_016), pair.left.buffer.rkey());
            case RDMA_WRITE ->
                pair.left.send.rdmaWrite(pair.left.address(10_016), pair.left.buffer.rkey());
            default ->
                pair.left.send.rdmaWriteWithImmediate(
                    pair.left.address(10_016), pair.left.buffer.rkey(), 5);
          };
      pair.left.qp.postSend(request.sge(pair.left.buffer, 0, length).signaled());
      Side.assertSuccess(pair.left.sent());
      if (Transfer.takesReceive(opcode)) {
        Side.assertSuccess(pair.left.received());
      }
      byte there = pair.left.memory().get(ValueLayout.JAVA_BYTE, 13_015);
      assertThat(there).isEqualTo((byte) (opcode == WrOpcode.RDMA_READ ? 0 : 0x33));
      byte here = pair.left.memory().get(ValueLayout.JAVA_BYTE, 0);
      assertThat(here).isEqualTo((byte) (opcode == WrOpcode.RDMA_READ ? 0 : 0x33));
    }
  }

  @Tag("loop")
  @Test
  void queuePairReachesItself() {
    try (RcPair pair = new RcSetup().unconnected().open()) {
      QueuePair qp = pair.left.qp;
      qp.connect(own -> own);
      pair.left.postReceive(1, 100, 50);
      pair.left.memory().setString(0, "to myself");
      qp.postSend(pair.left.send.send().sge(pair.left.buffer, 0, 50).signaled());
      Side.assertSuccess(pair.left.sent());
      assertThat(pair.left.received().sourceQp()).isEqualTo(qp.number());
      assertThat(pair.left.memory().getString(100)).isEqualTo("to myself");
    }
  }

  @Tag("loop")
  @Test
  @Needs(Feature.REMOTE_PROTECTION)
  void keysDoNotCrossContexts() {
    try (RcPair pair = new RcSetup().on(Fabric.oneDevice())) {
      // The region belongs to the sender's own context, not to the receiver's.
      pair.left.qp.postSend(
          pair.left
              .send
              .rdmaWrite(pair.left.address(0), pair.left.buffer.rkey())
              .sge(pair.left.buffer, 8, 8)
              .signaled());
      assertThat(pair.left.sent().status()).isEqualTo(Wc.cause(WcStatus.REM_ACCESS_ERR));
    }
    try (RcPair pair = new RcSetup().on(Fabric.oneDevice())) {
      SendRequest foreign = pair.write(0).sge(pair.right.buffer, 8, 8).signaled();
      if (!TestProfile.has(Feature.LOCAL_ERROR_COMPLETIONS)) {
        assertThatThrownBy(() -> pair.left.qp.postSend(foreign))
            .hasMessageContainingAll("element 0", "EINVAL");
        return;
      }
      pair.left.qp.postSend(foreign);
      assertThat(pair.left.sent().status()).isEqualTo(WcStatus.LOC_PROT_ERR);
    }
  }

  @Tag("loop")
  @Test
  void closingOneContextDoesNotAffectTheOthers() {
    try (RcPair pair = new RcSetup().on(Fabric.oneDevice())) {
      Transfer transfer = new Transfer(pair.left, pair.right, 3);
      String locator = pair.left.context.device().locator();
      for (int i = 0; i < 5; i++) {
        try (Context other = RdmaDevices.open(locator);
            ProtectionDomain pd = other.allocateProtectionDomain();
            MemoryRegion region = pd.allocate(5000, Side.ALL)) {
          assertThat(region.rkey()).isNotEqualTo(pair.right.buffer.rkey());
          transfer.run(WrOpcode.SEND, Pieces.one(0, 100), Pieces.one(7, 100));
        }
        transfer.run(WrOpcode.RDMA_READ, Pieces.one(0, 100), Pieces.one(7, 100));
      }
    }
  }

  @Test
  void deviceIsOpenedAndClosedManyTimes() {
    for (int i = 0; i < 30; i++) {
      try (Context context =
              RdmaDevices.open(TestProfile.model("model:again?mode=inline&cable=again"));
          Context second =
              RdmaDevices.open(TestProfile.model("model:again?mode=inline&cable=again"));
          ProtectionDomain pd = context.allocateProtectionDomain();
          MemoryRegion region = pd.allocate(100_000, Side.ALL);
          CompletionQueue queue = second.createCompletionQueue(100)) {
        assertThat(region.rkey()).isNotZero();
        assertThat(queue.entries()).isGreaterThanOrEqualTo(100);
      }
    }
  }

  @Test
  void connectionsWorkAfterManyReopens() {
    for (int i = 0; i < 10; i++) {
      try (RcPair pair = RcPair.open()) {
        new Transfer(pair.left, pair.right, i)
            .run(
                Transfer.possible(WrOpcode.SEND_WITH_IMM, WrOpcode.RDMA_WRITE_WITH_IMM).getFirst(),
                Pieces.one(i, 777),
                Pieces.one(2L * i, 777));
      }
    }
  }

  @OnlyOn(
      value = {"s", "r1", "r2"},
      why = "contexts of a virtio device share its notification registers")
  @Test
  void contextsHaveTheirOwnDoorbellPagesUntilNoneAreLeft() {
    List<Context> contexts = new ArrayList<>();
    try {
      assertErrno(
          Errno.ENOMEM,
          () -> {
            while (contexts.size() < 10_000) {
              contexts.add(RdmaDevices.open(TestProfile.model("model:many?mode=inline")));
            }
          });
      assertThat(contexts).hasSizeGreaterThan(100);
      contexts.removeLast().close();
      contexts.add(RdmaDevices.open(TestProfile.model("model:many?mode=inline")));
    } finally {
      contexts.forEach(Context::close);
    }
  }

  @Test
  void protectionDomainsAreAllocatedUntilNoneAreLeft() {
    try (Fabric fabric = Fabric.inline()) {
      List<ProtectionDomain> domains = new ArrayList<>();
      assertErrno(
          Errno.ENOMEM,
          () -> {
            while (domains.size() < 100_000) {
              domains.add(fabric.left().allocateProtectionDomain());
            }
          },
          "protection domain");
      domains.removeLast().close();
      domains.add(fabric.left().allocateProtectionDomain());
      domains.forEach(ProtectionDomain::close);
    }
  }
}

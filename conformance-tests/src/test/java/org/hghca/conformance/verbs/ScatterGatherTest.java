package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.conformance.verbs.Failures.assertBadRequest;

import java.util.List;
import java.util.SplittableRandom;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.conformance.verbs.Pieces.Piece;
import org.hghca.verbs.Errno;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WrOpcode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages gathered from several buffers and scattered to several others. */
@Tag("rc")
class ScatterGatherTest {
  private static final int[] TOTALS = {1, 17, 255, 4097, 20_000};

  private static int maxSge() {
    try (Fabric fabric = Fabric.open()) {
      return fabric.left().queryDevice().maxSge();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"SEND", "SEND_WITH_IMM", "RDMA_WRITE", "RDMA_WRITE_WITH_IMM", "RDMA_READ"})
  void everyNumberOfElementsUpToTheDeviceLimitArrives(WrOpcode opcode) {
    SplittableRandom random = new SplittableRandom(3);
    int most = maxSge();
    try (RcPair pair = new RcSetup().sges(most).open()) {
      Transfer transfer = new Transfer(pair.left, pair.right, 4);
      boolean scatters = opcode == WrOpcode.SEND || opcode == WrOpcode.SEND_WITH_IMM;
      for (int elements = 1; elements <= most; elements++) {
        for (int total : TOTALS) {
          Pieces local = Pieces.random(33, total, elements, random);
          Pieces remote =
              scatters
                  ? Pieces.random(71, total + 13, most + 1 - elements, random)
                  : Pieces.one(71, total);
          transfer.run(opcode, local, remote);
        }
      }
    }
  }

  @Test
  @Needs({Feature.ZERO_LENGTH, Feature.ANY_DESTINATION})
  void emptyElementsAreAllowedAnywhere() {
    Pieces local =
        new Pieces(List.of(new Piece(5, 0), new Piece(9, 3), new Piece(20, 0), new Piece(30, 4)));
    Pieces remote =
        new Pieces(List.of(new Piece(1, 2), new Piece(7, 0), new Piece(11, 5), new Piece(40, 0)));
    try (RcPair pair = new RcSetup().sges(4).open()) {
      Transfer transfer = new Transfer(pair.left, pair.right, 5);
      transfer.run(WrOpcode.SEND, local, remote);
      transfer.run(WrOpcode.RDMA_WRITE, local, Pieces.one(100, 7));
      transfer.run(WrOpcode.RDMA_READ, local, Pieces.one(100, 7));
    }
  }

  @Test
  void messageMayEndInTheMiddleOfTheReceiversElements() {
    Pieces remote = new Pieces(List.of(new Piece(8, 10), new Piece(50, 10), new Piece(90, 10)));
    try (RcPair pair = new RcSetup().sges(3).open()) {
      Transfer transfer = new Transfer(pair.left, pair.right, 6);
      for (int size = Sizes.least(); size <= 30; size++) {
        transfer.run(WrOpcode.SEND, Pieces.one(3, size), remote);
      }
    }
  }

  @Test
  void elementsMayLieInSeveralRegions() {
    try (RcPair pair = new RcSetup().sges(3).open();
        var extra = pair.left.pd.allocate(100, Side.ALL)) {
      extra.segment().fill((byte) 0x3c);
      pair.left.memory().asSlice(0, 10).fill((byte) 0x77);
      pair.right.postReceive(1, 0, 300);
      pair.left.qp.postSend(
          pair.left
              .send
              .wrId(2)
              .send()
              .sge(pair.left.buffer, 0, 10)
              .sge(extra)
              .sge(pair.left.buffer, 0, 10)
              .signaled());
      Side.assertSuccess(pair.left.sent());
      Wc received = pair.right.received();
      Side.assertSuccess(received);
      assertThat(received.bytes()).isEqualTo(120);
      byte[] data = new byte[120];
      pair.right.memory().asSlice(0, 120).asByteBuffer().get(data);
      for (int i = 0; i < data.length; i++) {
        assertThat(data[i]).isEqualTo((byte) (i < 10 || i >= 110 ? 0x77 : 0x3c));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qpex.QpExTestCase.test_rq_with_larger_sgl_bad_flow",
      says = "max_recv_sge + 1 SGEs are EINVAL, and so are max_send_sge + 1")
  void moreElementsThanTheQueuePairTakesAreRefused(int limit) {
    try (RcPair pair = new RcSetup().sges(limit).open()) {
      SendRequest send = new SendRequest().rdmaWrite(pair.right.address(0), 0);
      ReceiveRequest receive = new ReceiveRequest().empty();
      for (int i = 0; i <= limit; i++) {
        send.sge(pair.left.buffer, i, 1);
        receive.sge(pair.left.buffer, i, 1);
      }
      assertBadRequest(Errno.EINVAL, 0, () -> pair.left.qp.postSend(send), "takes " + limit);
      assertBadRequest(Errno.EINVAL, 0, () -> pair.left.qp.postReceive(receive), "takes " + limit);
      pair.left.assertQuiet();
      new Transfer(pair.left, pair.right, 7).run(WrOpcode.SEND, Pieces.one(0, 9), Pieces.one(0, 9));
    }
  }
}

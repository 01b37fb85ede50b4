package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.hghca.conformance.verbs.Failures.assertBadRequest;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.Errno;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Lists of requests, and queues that are full. */
@Tag("rc")
class RequestListTest {
  private static final int DEPTH = 16;
  private final SplittableRandom random = new SplittableRandom(21);

  private static SendRequest write(RcPair pair, int slot) {
    return new SendRequest()
        .wrId(slot)
        .rdmaWrite(pair.right.address(16L * slot), pair.right.buffer.rkey())
        .sge(pair.left.buffer, 16L * slot, 16)
        .signaled();
  }

  private static SendRequest[] writes(RcPair pair, int count) {
    SendRequest[] requests = new SendRequest[count];
    for (int i = 0; i < count; i++) {
      requests[i] = write(pair, i);
    }
    return requests;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 15, 16})
  void listOfSendsIsExecutedInOrder(int length) {
    try (RcPair pair = new RcSetup().depth(DEPTH).open()) {
      for (int round = 0; round < 5; round++) {
        pair.left.randomize(0, 16L * length, random);
        pair.right.expect(0, pair.left, 0, 16L * length);
        pair.left.qp.postSend(writes(pair, length));
        assertThat(pair.left.sent(length))
            .allSatisfy(Side::assertSuccess)
            .extracting(Wc::wrId)
            .containsExactlyElementsOf(LongStream.range(0, length).boxed().toList());
        pair.right.verifyWritten("a list of " + length);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 15, 16})
  void listOfReceivesIsUsedInOrder(int length) {
    try (RcPair pair = new RcSetup().depth(DEPTH).open()) {
      for (int round = 0; round < 5; round++) {
        ReceiveRequest[] receives = new ReceiveRequest[length];
        for (int i = 0; i < length; i++) {
          receives[i] = new ReceiveRequest().wrId(100 + i).into(pair.right.buffer, 32L * i, 32);
        }
        pair.right.qp.postReceive(receives);
        for (int i = 0; i < length; i++) {
          pair.left.randomize(0, 32, random);
          pair.right.expect(32L * i, pair.left, 0, 32);
          pair.left.qp.postSend(pair.left.send.send().sge(pair.left.buffer, 0, 32).signaled());
          Side.assertSuccess(pair.left.sent());
        }
        assertThat(pair.right.received(length))
            .allSatisfy(Side::assertSuccess)
            .extracting(Wc::wrId)
            .containsExactlyElementsOf(LongStream.range(100, 100 + length).boxed().toList());
        pair.right.verify("receives in a list of " + length);
      }
    }
  }

  /** From, count: invalid ranges for a list of two. */
  @ParameterizedTest
  @CsvSource({"0, -1", "-1, 1", "0, 3", "2, 1", "3, 0", "1, 2147483647", "0, -2147483648"})
  void invalidRangeOfAListIsRefusedAndNothingIsPosted(int from, int count) {
    try (RcPair pair = new RcSetup().depth(DEPTH).open()) {
      SendRequest[] sends = writes(pair, 2);
      ReceiveRequest receive = new ReceiveRequest().into(pair.left.buffer, 0, 8);
      ReceiveRequest[] receives = {receive, receive};
      assertThatThrownBy(() -> pair.left.qp.tryPostSend(sends, from, count))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> pair.left.qp.tryPostReceive(receives, from, count))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThat(pair.left.qp.tryPostSend(sends, 2, 0)).isZero();
      pair.left.assertQuiet();
    }
  }

  @Test
  void listOfDifferentOperationsWithFencesIsExecutedInOrder() {
    try (RcPair pair = new RcSetup().depth(DEPTH).readAtomic(2).open()) {
      Side left = pair.left;
      Side right = pair.right;
      left.randomize(0, 256, random);
      right.randomize(1024, 256, random);
      right.postReceive(1, 4096, 64);
      right.postReceive(2, 8192, 64);
      int rkey = right.buffer.rkey();
      SendRequest[] list = {
        new SendRequest().rdmaWrite(right.address(0), rkey).sge(left.buffer, 0, 100),
        new SendRequest().rdmaRead(right.address(1024), rkey).sge(left.buffer, 2048, 256),
        new SendRequest().send().sge(left.buffer, 100, 64).fence(),
        new SendRequest().rdmaRead(right.address(0), rkey).sge(left.buffer, 3000, 100),
        new SendRequest()
            .rdmaWriteWithImmediate(right.address(512), rkey, 0x01020304)
            .sge(left.buffer, 3000, 100)
            .fence()
            .signaled()
      };
      left.qp.postSend(list);
      Side.assertSuccess(left.sent());
      List<Wc> received = right.received(2);
      assertThat(received).allSatisfy(Side::assertSuccess);
      assertThat(received).extracting(Wc::wrId).containsExactly(1L, 2L);
      if (TestProfile.has(Feature.IMMEDIATE_VALUE)) {
        assertThat(received.get(1).immediate()).isEqualTo(0x01020304);
      }
      right.expect(0, left, 0, 100);
      left.expect(2048, right, 1024, 256);
      right.expect(4096, left, 100, 64);
      left.expect(3000, left, 0, 100);
      right.expect(512, left, 0, 100);
      left.verify("left");
      right.verify("right");
    }
  }

  @Test
  void fullSendQueueReturnsFalseAndTheCountOfPostedRequests() {
    // The SENDs find no receive, so that they stay outstanding.
    try (RcPair pair = new RcSetup().depth(4).retries(12, 7, 14, 7).open()) {
      boolean wait = TestProfile.has(Feature.RNR_RETRY);
      if (!wait) {
        postFourReceives(pair.right);
      }
      SendRequest send = pair.left.send.send().sge(pair.left.buffer, 0, 8).signaled();
      SendRequest[] six = {send, send, send, send, send, send};
      assertThat(pair.left.qp.tryPostSend(six, 0, 3)).isEqualTo(3);
      assertThat(pair.left.qp.tryPostSend(six, 3, 3)).isEqualTo(1);
      assertThat(pair.left.qp.tryPostSend(send)).isFalse();
      assertThat(pair.left.qp.tryPostSend(six, 0, 6)).isZero();
      assertBadRequest(
          Errno.ENOMEM, 0, () -> pair.left.qp.postSend(send), "send queue", "4 requests");
      if (wait) {
        postFourReceives(pair.right);
      }
      pair.left.sent(4);
      pair.right.received(4);
      pair.right.postReceive(4, 0, 8);
      assertThat(pair.left.qp.tryPostSend(send)).isTrue();
      Side.assertSuccess(pair.left.sent());
      Side.assertSuccess(pair.right.received());
    }
  }

  private static void postFourReceives(Side side) {
    for (int i = 0; i < 4; i++) {
      side.postReceive(i, 0, 8);
    }
  }

  @Test
  void listBeyondTheRoomEndsWithTheIndexOfTheFirstUnposted() {
    try (RcPair pair = new RcSetup().depth(4).retries(12, 7, 14, 7).open()) {
      SendRequest send = pair.left.send.send().sge(pair.left.buffer, 0, 8).signaled();
      ReceiveRequest receive = new ReceiveRequest().into(pair.right.buffer, 0, 8);
      BadRequestException receives =
          catchThrowableOfType(
              BadRequestException.class,
              () ->
                  pair.right.qp.postReceive(
                      new ReceiveRequest[] {receive, receive, receive, receive, receive}));
      assertThat(receives.errno()).isEqualTo(Errno.ENOMEM);
      assertThat(receives.index()).isEqualTo(4);
      assertThat(receives).hasMessageContainingAll("receive queue", "4 requests");
      BadRequestException sends =
          catchThrowableOfType(
              BadRequestException.class,
              () -> pair.left.qp.postSend(new SendRequest[] {send, send, send, send, send, send}));
      assertThat(sends.errno()).isEqualTo(Errno.ENOMEM);
      assertThat(sends.index()).isEqualTo(4);
      assertThat(pair.left.sent(4)).allSatisfy(Side::assertSuccess);
      assertThat(pair.right.received(4)).allSatisfy(Side::assertSuccess);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_qpex.QpExTestCase.test_full_rq_bad_flow",
      says = "post_recv beyond max_recv_wr is ENOMEM")
  void fullReceiveQueueReturnsFalse() {
    try (RcPair pair = new RcSetup().depth(3).open()) {
      ReceiveRequest receive = new ReceiveRequest().into(pair.right.buffer, 0, 8);
      ReceiveRequest[] five = {receive, receive, receive, receive, receive};
      assertThat(pair.right.qp.tryPostReceive(five, 0, 5)).isEqualTo(3);
      assertThat(pair.right.qp.tryPostReceive(receive)).isFalse();
      assertBadRequest(Errno.ENOMEM, 0, () -> pair.right.qp.postReceive(receive));
    }
  }

  @Test
  void requestsBeforeABadOneOfAListArePosted() {
    try (RcPair pair = new RcSetup().depth(DEPTH).open()) {
      List<SendRequest> list = new ArrayList<>(List.of(writes(pair, 5)));
      pair.left.randomize(0, 80, random);
      pair.right.expect(0, pair.left, 0, 48);
      list.get(3).sge(pair.left.buffer, 0, 1); // one element too many
      BadRequestException refused =
          catchThrowableOfType(
              BadRequestException.class,
              () -> pair.left.qp.postSend(list.toArray(SendRequest[]::new)));
      assertThat(refused.errno()).isEqualTo(Errno.EINVAL);
      assertThat(refused.index()).isEqualTo(3);
      assertThat(refused).hasMessageContaining("request 3 of the list");
      assertThat(pair.left.sent(3)).allSatisfy(Side::assertSuccess);
      pair.left.assertQuiet();
      pair.right.verifyWritten("the first three of five");
    }
  }
}

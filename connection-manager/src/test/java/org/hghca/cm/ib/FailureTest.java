package org.hghca.cm.ib;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.carrier.Registration;
import org.hghca.cm.carrier.ServiceEvents;
import org.hghca.cm.carrier.ServiceReply;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.Test;

/** A carrier whose device fails, in virtual time. */
class FailureTest {
  private static final String WHY = "the device has failed";
  private static final String FAILED = "failed: the device has failed: EIO (5)";

  private final Pair pair = new Pair();

  private void fail() {
    pair.a.engine.fail(WHY, new IllegalStateException());
    pair.b.engine.fail(WHY, new IllegalStateException());
    pair.net.exchange();
  }

  private static void assertFailed(ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            VerbsException.class,
            e -> {
              assertThat(e.errno()).isEqualTo(Errno.EIO);
              assertThat(e).hasMessageStartingWith(WHY);
            });
  }

  private void assertOver() {
    pair.net.takeSent();
    pair.net.run(Duration.ofMinutes(3));
    pair.net.assertSent();
    pair.assertNothingIsKept();
    assertThat(pair.active.events).isEmpty();
  }

  @Test
  void requestWithoutAnAnswerFailsAtOnce() {
    pair.net.lose(_ -> true);
    pair.active.of(pair.a.carrier.connect(pair.a.request(pair.b, 0x11), pair.active));
    fail();
    assertThat(pair.active.take()).containsExactly(FAILED);
    assertOver();
  }

  @Test
  void requestThatTheApplicationHasNotAnsweredFailsAtOnce() {
    pair.ask();
    fail();
    assertThat(pair.active.take()).containsExactly(FAILED);
    assertThat(pair.passive.take()).containsExactly(FAILED);
    assertFailed(
        () ->
            pair.passive.handshake().reply(pair.b.reply(pair.listening.requests.getLast(), 0x22)));
    assertFailed(() -> pair.passive.handshake().reject(28, PrivateData.EMPTY));
    pair.passive.handshake().close();
    assertOver();
  }

  @Test
  void replyThatIsNotConfirmedFailsAtOnce() {
    pair.ask().reply();
    pair.active.take();
    fail();
    assertThat(pair.active.take()).containsExactly(FAILED);
    assertThat(pair.passive.take()).containsExactly(FAILED);
    assertFailed(() -> pair.active.handshake().confirm(PrivateData.EMPTY));
    assertFailed(() -> pair.passive.handshake().firstPacket());
    assertOver();
  }

  @Test
  void connectionsEndAtOnce() {
    pair.establish();
    fail();
    assertThat(pair.active.take()).containsExactly(FAILED, "timeWaitExited");
    assertThat(pair.passive.take()).containsExactly(FAILED, "timeWaitExited");
    assertFailed(() -> pair.active.handshake().disconnect(PrivateData.EMPTY));
    pair.active.handshake().close();
    assertOver();
  }

  @Test
  void releaseAndTimeWaitEndAtOnce() {
    pair.establish();
    pair.active.handshake().disconnect(PrivateData.EMPTY);
    pair.net.exchange();
    assertThat(pair.passive.take()).containsExactly("disconnected");
    fail();
    assertThat(pair.active.take()).containsExactly(FAILED, "timeWaitExited");
    assertThat(pair.passive.take()).containsExactly(FAILED, "timeWaitExited");
    assertOver();
  }

  @Test
  void timeWaitEndsAtOnce() {
    pair.establish();
    pair.active.handshake().disconnect(PrivateData.EMPTY);
    pair.net.exchange();
    pair.passive.handshake().disconnect(PrivateData.EMPTY);
    pair.net.exchange();
    assertThat(pair.active.take()).containsExactly("disconnected");
    fail();
    assertThat(pair.active.take()).containsExactly("timeWaitExited");
    assertOver();
  }

  @Test
  void listenersLearnOfItAndCallsThrowTheCause() {
    fail();
    assertThat(pair.listening.failures).containsExactly(WHY + ": EIO (5)");
    assertFailed(() -> pair.b.carrier.listen(0x0106_0009L, pair.b.address(9), pair.listening));
    assertFailed(() -> pair.a.carrier.connect(pair.a.request(pair.b, 0x11), pair.active));
    pair.registration.close();
    pair.a.carrier.close();
    pair.b.carrier.close();
    assertThat(pair.listening.failures).hasSize(1);
    assertOver();
  }

  /** The failure comes before the report of the closed listener. */
  @Test
  void closedListenersAndHandshakesAreNotTold() {
    pair.ask();
    pair.a.engine.fail(WHY, new IllegalStateException());
    pair.b.engine.fail(WHY, new IllegalStateException());
    pair.active.handshake().close();
    pair.registration.close();
    pair.net.exchange();
    assertThat(pair.active.events).isEmpty();
    assertThat(pair.listening.failures).isEmpty();
    assertOver();
  }

  @Test
  void questionsFailAtOnce() {
    List<String> answers = new ArrayList<>();
    ServiceEvents events =
        new ServiceEvents() {
          @Override
          public void answered(ServiceReply reply) {
            answers.add("answered");
          }

          @Override
          public void unreachable(String tried) {
            answers.add("unreachable");
          }

          @Override
          public void failed(VerbsException cause) {
            answers.add("failed: " + cause.getMessage());
          }
        };
    long service = 0x0111_1c06L;
    pair.b.carrier.listen(service, pair.b.address(7174), pair.listening);
    try (Registration _ = pair.a.carrier.resolve(pair.a.question(pair.b, service), events)) {
      pair.net.exchange();
      fail();
      assertThat(answers).containsExactly(FAILED);
      ServiceReply reply =
          new ServiceReply(pair.listening.questions.getFirst().path(), 0, 1, 1, PrivateData.EMPTY);
      assertFailed(() -> pair.listening.inquiries.getFirst().answer(reply));
      pair.listening.inquiries.getFirst().close();
      assertFailed(() -> pair.a.carrier.resolve(pair.a.question(pair.b, service), events));
    }
    assertOver();
  }
}

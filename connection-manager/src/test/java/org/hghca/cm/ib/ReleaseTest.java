package org.hghca.cm.ib;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.ib.VirtualNetwork.Node;
import org.hghca.cm.ib.VirtualNetwork.Sent;
import org.hghca.cm.mad.Drep;
import org.hghca.cm.mad.Dreq;
import org.hghca.cm.mad.Rtu;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.Test;

/** How connections end, in virtual time: as Linux reacts. */
class ReleaseTest {
  private final Pair pair = new Pair();
  private final VirtualNetwork net = pair.net;
  private final Node a = pair.a;
  private final Node b = pair.b;

  private Dreq release() {
    pair.active.handshake().disconnect(PrivateData.EMPTY);
    net.exchange();
    return pair.last(Dreq.class);
  }

  @Test
  void releaseNamesTheQueuePairOfTheReceiver() {
    pair.establish();
    net.lose(_ -> true);
    Dreq dreq = release();
    net.loseNothing();
    assertThat(dreq.remoteQpNumber()).isEqualTo(0x22);
    net.fly(new Dreq(dreq.localId(), dreq.remoteId(), 0x23, PrivateData.EMPTY), b, a);
    net.exchange();
    net.assertSent();
    assertThat(pair.passive.events).isEmpty();
    net.fly(dreq, b, a);
    net.exchange();
    assertThat(pair.passive.take()).containsExactly("disconnected");
  }

  @Test
  void releaseOfAnUnknownConnectionIsAnswered() {
    net.fly(new Dreq(77, 88, 0x11, PrivateData.EMPTY), b, a);
    net.exchange();
    List<Sent> sent = net.takeSent();
    assertThat(sent).extracting(Sent::toString).containsExactly("b DREP");
    Drep drep = VirtualNetwork.last(sent, Drep.class);
    assertThat(List.of(drep.localId(), drep.remoteId())).containsExactly(88, 77);
    assertThat(sent.getFirst().mad().transactionId()).isEqualTo(0x7777_0000_0001L);
    pair.assertNothingIsKept();
  }

  @Test
  void answerWaitsForTheApplicationWhateverTheRetries() {
    pair.establish();
    release();
    net.run(Duration.ofMillis(3 * 4096));
    net.assertSent("a DREQ", "a DREQ", "a DREQ");
    assertThat(pair.passive.take()).containsExactly("disconnected");
    assertThat(pair.active.events).isEmpty();
    pair.passive.handshake().close();
    net.exchange();
    net.assertSent("b DREP");
    assertThat(pair.active.take()).containsExactly("disconnected");
  }

  @Test
  void releaseInTheTimeWaitIsAnsweredAgain() {
    pair.establish();
    net.lose(one -> one.mad().message() instanceof Drep);
    Dreq dreq = release();
    pair.passive.handshake().disconnect(PrivateData.of(new byte[] {3}));
    net.exchange();
    net.takeSent();
    net.loseNothing();
    net.fly(dreq, b, a);
    net.exchange();
    List<Sent> sent = net.takeSent();
    assertThat(sent).extracting(Sent::toString).containsExactly("b DREP");
    assertThat(pair.active.take()).containsExactly("disconnected");
    assertThat(pair.active.privateData.toArray()).startsWith(3);
  }

  @Test
  void releaseWithoutAnAnswerEndsInTheTimeWait() {
    pair.establish();
    net.lose(one -> one.from() == a);
    pair.active.handshake().disconnect(PrivateData.EMPTY);
    net.run(Duration.ofMillis(16 * 4096 - 1));
    assertThat(net.takeSent()).hasSize(16);
    assertThat(pair.active.events).isEmpty();
    net.run(Duration.ofMillis(1));
    assertThat(pair.active.take()).containsExactly("disconnected");
    net.run(Duration.ofMillis(512));
    assertThat(pair.active.take()).containsExactly("timeWaitExited");
    assertThat(a.engine.size()).isZero();
  }

  @Test
  void releasesThatCrossNeedNoApplication() {
    pair.establish();
    pair.active.handshake().disconnect(PrivateData.EMPTY);
    pair.passive.handshake().disconnect(PrivateData.EMPTY);
    net.exchange();
    net.settle();
    assertThat(pair.active.take()).containsExactly("disconnected", "timeWaitExited");
    assertThat(pair.passive.take()).containsExactly("disconnected", "timeWaitExited");
    pair.assertNothingIsKept();
    assertThatThrownBy(() -> pair.active.handshake().disconnect(PrivateData.EMPTY))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("in IDLE");
  }

  /** The peer has got the reply, its confirmation was lost, and it ends the connection. */
  @Test
  void releaseOvertakesTheConfirmation() {
    net.lose(one -> one.mad().message() instanceof Rtu);
    pair.ask().reply().confirm();
    release();
    assertThat(pair.passive.take()).containsExactly("established", "disconnected");
    pair.passive.handshake().disconnect(PrivateData.EMPTY);
    net.settle();
    assertThat(pair.passive.take()).containsExactly("timeWaitExited");
    assertThat(pair.active.take())
        .containsExactly("replied", "established", "disconnected", "timeWaitExited");
    pair.assertNothingIsKept();
  }

  @Test
  void forgedMessagesOfOthersEndNothing() {
    pair.establish();
    net.lose(_ -> true);
    Dreq dreq = release();
    net.loseNothing();
    Node other = net.node("c", 0x0a00_0003);
    net.fly(dreq, b, other);
    net.exchange();
    net.assertSent("b DREP");
    assertThat(pair.passive.events).isEmpty();
  }

  @Test
  void peersCannotLengthenTheTimeWait() {
    assertThat(Timeouts.timeWait(17)).isEqualTo(Duration.ofMillis(512).toNanos());
    assertThat(Timeouts.timeWait(19)).isEqualTo(Duration.ofMillis(2048).toNanos());
    assertThat(Timeouts.timeWait(31)).isEqualTo(Duration.ofMillis(8192).toNanos());
  }
}

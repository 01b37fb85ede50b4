package org.hghca.cm.ib;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.ib.VirtualNetwork.Node;
import org.hghca.cm.ib.VirtualNetwork.Sent;
import org.hghca.cm.mad.Rej;
import org.hghca.cm.mad.Rep;
import org.hghca.cm.mad.Req;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A stranger at an address of its own, which names the channel adapter, the queue pairs and the
 * communication IDs of another peer: it gets a connection as anybody, and changes nothing of the
 * other's.
 */
class StrangerTest {
  private final Pair pair = new Pair();
  private final VirtualNetwork net = pair.net;
  private final Node b = pair.b;

  /** The first device's numbers, at an address of its own. */
  private Node stranger;

  @BeforeEach
  void connectTheStranger() {
    stranger = net.impostor("c", 0x0a00_0003, pair.a.guid);
  }

  private Recorder strangerAsks() {
    Recorder end = new Recorder().confirming();
    end.of(stranger.carrier.connect(stranger.request(b, 0x11), end));
    net.exchange();
    return end;
  }

  private Recorder listener(int index) {
    return pair.listening.ends.get(index);
  }

  private void reply(int index, int qpNumber) {
    listener(index).handshake().reply(b.reply(pair.listening.requests.get(index), qpNumber));
    net.exchange();
  }

  @Test
  void strangerBeforeTheVictimBlocksNothing() {
    Recorder end = strangerAsks();
    pair.ask();
    assertThat(listener(0).events).isEmpty();
    pair.reply().confirm();
    assertThat(pair.active.take()).containsExactly("replied", "established");
    assertThat(pair.passive.take()).containsExactly("established");
    reply(0, 0x33);
    assertThat(end.take()).containsExactly("replied", "established");
    assertThat(pair.active.events).isEmpty();
  }

  /** How far the victim is when the stranger comes. */
  enum Progress {
    ASKED,
    REPLIED,
    ESTABLISHED,
    LEAVING,
    TIME_WAIT
  }

  private void reach(Progress progress) {
    switch (progress) {
      case ASKED -> pair.ask();
      case REPLIED -> pair.ask().reply();
      case ESTABLISHED -> pair.establish();
      case LEAVING -> {
        pair.establish();
        pair.active.handshake().disconnect(PrivateData.EMPTY);
        net.exchange();
      }
      case TIME_WAIT -> {
        reach(Progress.LEAVING);
        pair.passive.handshake().disconnect(PrivateData.EMPTY);
        net.exchange();
      }
    }
    pair.active.take();
    pair.passive.take();
    net.takeSent();
  }

  @ParameterizedTest
  @EnumSource
  void strangerDuringAndAfterTheVictimGetsAConnectionOfItsOwn(Progress progress) {
    reach(progress);
    Recorder end = strangerAsks();
    net.assertSent("c REQ");
    reply(1, 0x33);
    net.assertSent("b REP", "c RTU");
    assertThat(end.take()).containsExactly("replied", "established");
    assertThat(listener(1).take()).containsExactly("established");
    assertThat(pair.active.events).isEmpty();
    assertThat(pair.passive.events).isEmpty();
  }

  /** The communication ID is the victim's, too: neither its repetition nor late for it. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void requestWithAllNumbersOfTheVictimIsARequestOfItsOwn(boolean established) {
    pair.ask();
    Req req = pair.last(Req.class);
    int id = req.localId();
    if (established) {
      pair.reply().confirm();
    }
    pair.active.take();
    pair.passive.take();
    Recorder end = strangerAsks();
    Req other = pair.last(Req.class);
    assertThat(other.caGuid()).isEqualTo(req.caGuid());
    net.fly(Corrupted.numbered(other, id, 0x11), b, stranger);
    net.exchange();
    assertThat(pair.listening.ends).hasSize(2); // its queue pair is that of its first request
    assertThat(listener(1).take()).containsExactly("rejected 10");
    net.fly(Corrupted.numbered(other, id, 0x11), b, stranger);
    net.exchange();
    assertThat(pair.listening.ends).hasSize(3);
    assertThat(pair.active.events).isEmpty();
    assertThat(pair.passive.events).isEmpty();
    assertThat(end.events).isEmpty();
  }

  /** A refusal with the victim's numbers, as of one that has not heard of an answer. */
  @Test
  void strangerCannotGiveUpForTheVictim() {
    pair.ask();
    Req req = pair.last(Req.class);
    PrivateData guid = PrivateData.of(ByteBuffer.allocate(8).putLong(req.caGuid()).array());
    Rej rej = new Rej(req.localId(), 0, Reason.OF_REQ, Reason.TIMEOUT, guid, PrivateData.EMPTY);
    net.fly(rej, b, stranger);
    net.exchange();
    assertThat(pair.passive.events).isEmpty();
    net.fly(rej, b, pair.a);
    net.exchange();
    assertThat(pair.passive.take()).containsExactly("rejected 4");
  }

  /** A reply with the numbers of another peer does not end the connection to that. */
  @Test
  void replyWithTheNumbersOfAnotherEndsNothing() {
    pair.establish();
    Node server = net.impostor("d", 0x0a00_0004, b.guid);
    Listening listening = new Listening();
    server.carrier.listen(VirtualNetwork.SERVICE, server.address(7174), listening);
    Recorder end = new Recorder().confirming();
    end.of(pair.a.carrier.connect(pair.a.request(server, 0x12), end));
    net.exchange();
    listening.ends.getFirst().handshake().reply(server.reply(listening.requests.getFirst(), 0x22));
    net.exchange();
    assertThat(end.take()).containsExactly("replied", "established");
    net.run(Duration.ofSeconds(10));
    assertThat(pair.active.events).isEmpty();
    assertThat(pair.passive.events).isEmpty();
    assertThat(net.takeSent())
        .extracting(Sent::toString)
        .containsExactly("a REQ", "d REP", "a RTU");
  }

  /** With the same address it is the same peer, begun anew: the reply is taken at once. */
  @Test
  void replyOfARestartedPeerEndsTheOldConnectionAndBeginsTheNew() {
    pair.establish();
    Node again = net.node("b", b.ip);
    Listening listening = new Listening();
    again.carrier.listen(VirtualNetwork.SERVICE, again.address(7174), listening);
    Recorder end = new Recorder().confirming();
    end.of(pair.a.carrier.connect(pair.a.request(again, 0x12), end));
    net.exchange();
    listening.ends.getFirst().handshake().reply(again.reply(listening.requests.getFirst(), 0x22));
    net.exchange();
    assertThat(end.take()).containsExactly("replied", "established");
    assertThat(pair.active.take()).containsExactly("disconnected");
    assertThat(VirtualNetwork.last(net.takeSent(), Rep.class).qpNumber()).isEqualTo(0x22);
  }

  /**
   * A peer that comes back at another address is a stranger to its old connection, which ends by
   * itself; it is served at once.
   */
  @Test
  void peerThatComesBackAtAnotherAddressIsServedAtOnce() {
    pair.establish();
    Recorder end = strangerAsks();
    reply(1, 0x33);
    assertThat(end.take()).containsExactly("replied", "established");
    net.run(Duration.ofMinutes(5));
    assertThat(pair.passive.events).isEmpty();
    net.lose(sent -> sent.to().equals(pair.a.gid));
    pair.passive.handshake().disconnect(PrivateData.EMPTY);
    net.run(Duration.ofMinutes(5));
    assertThat(pair.passive.take()).containsExactly("disconnected", "timeWaitExited");
    assertThat(end.events).isEmpty();
  }
}

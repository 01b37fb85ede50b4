package org.hghca.cm.ib;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.cm.Failures.assertErrno;

import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.hghca.cm.carrier.ConnectReply;
import org.hghca.cm.carrier.ConnectRequest;
import org.hghca.cm.carrier.Path;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.ib.VirtualNetwork.Node;
import org.hghca.cm.ib.VirtualNetwork.Sent;
import org.hghca.cm.mad.Dreq;
import org.hghca.cm.mad.Mad;
import org.hghca.cm.mad.Mra;
import org.hghca.cm.mad.PathFields;
import org.hghca.cm.mad.Rej;
import org.hghca.cm.mad.Rep;
import org.hghca.cm.mad.Req;
import org.hghca.cm.mad.Rtu;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How connections begin, and what prevents it, in virtual time: as Linux reacts. */
class HandshakeTest {
  private final Pair pair = new Pair();
  private final VirtualNetwork net = pair.net;
  private final Node a = pair.a;
  private final Node b = pair.b;

  @Test
  void connectionIsSetUpAndReleased() {
    pair.ask();
    assertThat(pair.active.events).isEmpty();
    pair.reply();
    assertThat(pair.active.take()).containsExactly("replied");
    assertThat(pair.passive.events).isEmpty();
    pair.confirm();
    assertThat(pair.active.take()).containsExactly("established");
    assertThat(pair.passive.take()).containsExactly("established");
    List<Sent> sent = net.takeSent();
    assertThat(sent).extracting(Sent::toString).containsExactly("a REQ", "b REP", "a RTU");
    assertThat(sent)
        .extracting(one -> one.mad().transactionId())
        .containsOnly(sent.getFirst().mad().transactionId());

    pair.active.handshake().disconnect(PrivateData.of(new byte[] {8}));
    net.exchange();
    net.assertSent("a DREQ");
    assertThat(pair.passive.take()).containsExactly("disconnected");
    assertThat(pair.passive.privateData.toArray()).startsWith(8, 0).hasSize(220);
    assertThat(pair.active.events).isEmpty();
    pair.passive.handshake().disconnect(PrivateData.of(new byte[] {9}));
    net.exchange();
    net.assertSent("b DREP");
    assertThat(pair.active.take()).containsExactly("disconnected");
    assertThat(pair.active.privateData.toArray()).startsWith(9, 0).hasSize(224);
    net.run(Duration.ofMillis(511));
    assertThat(pair.active.events).isEmpty();
    net.run(Duration.ofMillis(2));
    assertThat(pair.active.take()).containsExactly("timeWaitExited");
    assertThat(pair.passive.take()).containsExactly("timeWaitExited");
    pair.assertNothingIsKept();
  }

  /** Numbers that cross over do so above: both ends see what the messages say. */
  @Test
  void requestAndReplyAsTheOtherEndSeesThem() {
    pair.ask().reply();
    ConnectRequest seen = pair.listening.requests.getFirst();
    byte[] data = new byte[56];
    System.arraycopy(new byte[] {1, 2, 3}, 0, data, 0, 3);
    Path path = new Path(b.gid, 1, a.gid, 0x12345, 8, 64, 3, 1, Mtu.MTU_1024, 16);
    assertThat(seen)
        .isEqualTo(
            new ConnectRequest(
                VirtualNetwork.SERVICE,
                b.address(7174),
                a.address(40000),
                path,
                Optional.empty(),
                QpType.RC,
                0x11,
                true,
                0x123456,
                4,
                5,
                7,
                6,
                true,
                17,
                PrivateData.of(data),
                Optional.empty()));
    ConnectReply reply = pair.active.reply;
    assertThat(reply.path()).isEqualTo(a.pathTo(b.gid));
    assertThat(reply.qpNumber()).isEqualTo(0x22);
    assertThat(reply.startingPsn()).isEqualTo(0x654321);
    assertThat(reply.responderResources()).isEqualTo(2);
    assertThat(reply.initiatorDepth()).isEqualTo(3);
    assertThat(reply.targetAckDelay()).isEqualTo(15);
    assertThat(reply.privateData().length()).isEqualTo(196);
    assertThat(reply.privateData().toArray()).startsWith(4, 5, 0);
  }

  @Test
  void requestOnTheWireIsThatOfLinux() {
    a.carrier.connect(a.request(b, 0x11), new Recorder());
    Mad mad = net.takeSent().getFirst().mad();
    Req req = (Req) mad.message();
    assertThat(req.caGuid()).isEqualTo(a.guid);
    assertThat(req.localId()).isNotZero();
    assertThat(req.primary())
        .isEqualTo(new PathFields(0xffff, 0xffff, a.gid, b.gid, 0x12345, 0, 8, 64, 3, false, 17));
    assertThat(List.of(req.remoteResponseTimeout(), req.localResponseTimeout()))
        .containsExactly(20, 20);
    assertThat(req.maxCmRetries()).isEqualTo(15);
    assertThat(req.partitionKey()).isEqualTo(0xffff);
    assertThat(req.alternate()).isEmpty();
    byte[] header = new byte[36 + 3];
    System.arraycopy(req.privateData().toArray(), 0, header, 0, header.length);
    assertThat(HexFormat.of().formatHex(header))
        .isEqualTo(
            "00409c40" + "00".repeat(12) + "0a000001" + "00".repeat(12) + "0a000002" + "010203");
  }

  @Test
  void localPathHasNoPermissiveLid() {
    Path path = new Path(a.gid, 1, b.gid, 0, 0, 1, 0, 1, Mtu.MTU_1024, 16);
    ConnectRequest r = a.request(b, 0x11);
    Path other = new Path(a.gid, 1, b.gid, 7, 0, 64, 0, 1, Mtu.MTU_1024, 16);
    a.carrier.connect(
        new ConnectRequest(
            r.serviceId(),
            r.local(),
            r.remote(),
            path,
            Optional.of(other),
            QpType.UC,
            0x11,
            false,
            1,
            2,
            3,
            4,
            5,
            false,
            17,
            PrivateData.EMPTY,
            Optional.empty()),
        new Recorder());
    Req req = (Req) net.takeSent().getFirst().mad().message();
    assertThat(req.primary().subnetLocal()).isTrue();
    assertThat(req.primary().remoteLid()).isZero();
    assertThat(req.transport()).isEqualTo(1);
    net.exchange();
    ConnectRequest seen = pair.listening.requests.getFirst();
    assertThat(seen.type()).isEqualTo(QpType.UC);
    assertThat(seen.alternate())
        .contains(new Path(b.gid, 1, a.gid, 7, 0, 64, 0, 1, Mtu.MTU_1024, 16));
  }

  /** Port space IB has no header that names addresses, so all 92 bytes are the application's. */
  @Test
  void portSpaceIbHasNoHeader() {
    long service = 0x013f_0007L;
    b.carrier.listen(service, b.address(7), pair.listening);
    a.carrier.connect(a.request(b, 0x11, service, new byte[92]), new Recorder());
    net.exchange();
    ConnectRequest seen = pair.listening.requests.getFirst();
    assertThat(seen.local()).isEqualTo(b.address(7));
    assertThat(seen.remote().getAddress()).isEqualTo(a.gid.address());
    assertThat(seen.privateData().length()).isEqualTo(92);
  }

  @Test
  void repeatedRequestIsAcknowledgedWhileTheApplicationThinks() {
    pair.ask();
    net.takeSent();
    net.run(Duration.ofMillis(4608));
    List<Sent> sent = net.takeSent();
    assertThat(sent).extracting(Sent::toString).containsExactly("a REQ", "b MRA");
    Mra mra = VirtualNetwork.last(sent, Mra.class);
    assertThat(mra.message()).isZero();
    assertThat(mra.serviceTimeout()).isEqualTo(24);
    assertThat(mra.remoteId()).isEqualTo(VirtualNetwork.last(sent, Req.class).localId());
    // 65,536 ms and the ACK timeout of 512 ms, instead of 4,608 ms
    net.run(Duration.ofMillis(66_040));
    net.assertSent();
    net.run(Duration.ofMillis(10));
    net.assertSent("a REQ", "b MRA");
    pair.reply().confirm();
    assertThat(pair.active.take()).containsExactly("replied", "established");
    assertThat(pair.listening.ends).hasSize(1);
  }

  @Test
  void repeatedReplyIsAcknowledgedWhileTheApplicationThinks() {
    pair.ask().reply();
    net.takeSent();
    net.run(Duration.ofMillis(4100));
    List<Sent> sent = net.takeSent();
    assertThat(sent).extracting(Sent::toString).containsExactly("b REP", "a MRA");
    assertThat(VirtualNetwork.last(sent, Mra.class).message()).isEqualTo(1);
    net.run(Duration.ofSeconds(66));
    net.assertSent();
    pair.confirm();
    assertThat(pair.passive.take()).containsExactly("established");
    assertThat(pair.active.take()).containsExactly("replied", "established");
  }

  @Test
  void lostReplyIsRepeated() {
    net.lose(one -> one.mad().message() instanceof Rep);
    pair.ask().reply();
    net.takeSent();
    net.loseNothing();
    net.run(Duration.ofMillis(4095));
    net.assertSent();
    net.run(Duration.ofMillis(1));
    net.assertSent("b REP");
    assertThat(pair.active.take()).containsExactly("replied");
  }

  @Test
  void duplicatesOfEachMessageChangeNothing() {
    net.disturbed(0, 1, Duration.ZERO);
    pair.ask();
    net.assertSent("a REQ", "b MRA");
    pair.reply();
    net.assertSent("b REP", "a MRA");
    pair.confirm();
    net.assertSent("a RTU");
    pair.active.handshake().disconnect(PrivateData.EMPTY);
    net.exchange();
    net.assertSent("a DREQ");
    pair.passive.handshake().disconnect(PrivateData.EMPTY);
    net.exchange();
    net.assertSent("b DREP");
    net.settle();
    assertThat(pair.active.take())
        .containsExactly("replied", "established", "disconnected", "timeWaitExited");
    assertThat(pair.passive.take())
        .containsExactly("established", "disconnected", "timeWaitExited");
    assertThat(pair.listening.ends).hasSize(1);
    pair.assertNothingIsKept();
  }

  @Test
  void requestAgainAfterTheReplyRepeatsTheReply() {
    pair.ask();
    Req req = pair.last(Req.class);
    pair.reply();
    net.takeSent();
    net.fly(req, b, a);
    net.exchange();
    assertThat(net.takeSent()).extracting(Sent::toString).startsWith("b REP");
    pair.confirm();
    net.takeSent();
    net.fly(req, b, a);
    net.exchange();
    net.assertSent(); // dropped: it is established
  }

  @Test
  void requestAgainInTheTimeWaitIsStale() {
    pair.ask();
    Req req = pair.last(Req.class);
    pair.reply().confirm();
    pair.active.handshake().disconnect(PrivateData.EMPTY);
    net.exchange();
    pair.passive.handshake().disconnect(PrivateData.EMPTY);
    net.exchange();
    net.takeSent();
    net.fly(req, b, a);
    net.exchange();
    List<Sent> sent = net.takeSent();
    assertThat(sent).extracting(Sent::toString).containsExactly("b REJ");
    Rej rej = VirtualNetwork.last(sent, Rej.class);
    assertThat(rej.reason()).isEqualTo(10);
    assertThat(rej.remoteId()).isEqualTo(req.localId());
  }

  /** A peer that has started anew knows nothing of the connection, which ends. */
  @Test
  void requestOfAConnectedQueuePairIsStaleAndEndsTheOldConnection() {
    pair.establish();
    // The peer forgets, without a word.
    VirtualNetwork.Node restarted = net.node("a", 0x0a00_0001);
    Recorder again = new Recorder();
    again.of(restarted.carrier.connect(restarted.request(b, 0x11), again));
    net.exchange();
    net.assertSent("a REQ", "b REJ", "b DREQ", "a DREP");
    assertThat(again.take()).containsExactly("rejected 10");
    assertThat(pair.passive.take()).containsExactly("disconnected");
    net.run(Duration.ofSeconds(1));
    assertThat(pair.passive.take()).containsExactly("timeWaitExited");
    assertThat(again.take()).containsExactly("timeWaitExited");
    Recorder third = new Recorder().confirming();
    third.of(restarted.carrier.connect(restarted.request(b, 0x11), third));
    net.exchange();
    pair.listeningAt(1);
    pair.reply();
    assertThat(third.take()).containsExactly("replied", "established");
  }

  /** It ends before it has answered the release, as a program does that a refusal ends. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void peerThatDiesAgainAfterItsRefusalIsServedAtItsSecondTry(boolean released) {
    pair.establish();
    net.lose(one -> one.mad().message() instanceof Dreq);
    if (released) {
      pair.passive.handshake().disconnect(PrivateData.EMPTY); // before anybody comes back
    }
    VirtualNetwork.Node second = net.node("a", 0x0a00_0001);
    Recorder refused = new Recorder();
    refused.of(second.carrier.connect(second.request(b, 0x11), refused));
    net.exchange();
    assertThat(refused.take()).containsExactly("rejected 10");
    assertThat(pair.passive.take()).containsExactly("disconnected");
    VirtualNetwork.Node third = net.node("a", 0x0a00_0001);
    Recorder again = new Recorder().confirming();
    again.of(third.carrier.connect(third.request(b, 0x11), again));
    net.exchange();
    pair.listeningAt(1);
    pair.reply();
    assertThat(again.take()).containsExactly("replied", "established");
    net.loseNothing();
    net.run(Duration.ofMinutes(3));
    assertThat(pair.listening.ends.getFirst().take()).containsExactly("timeWaitExited");
    assertThat(again.events).isEmpty();
  }

  @Test
  void repeatedReplyBringsTheConfirmationAgain() {
    net.lose(one -> one.mad().message() instanceof Rtu);
    pair.ask().reply().confirm();
    assertThat(pair.passive.events).isEmpty();
    net.takeSent();
    net.loseNothing();
    net.run(Duration.ofMillis(4096));
    net.assertSent("b REP", "a RTU");
    assertThat(pair.passive.take()).containsExactly("established");
  }

  @Test
  void replyForNobodyIsDropped() {
    pair.ask().reply();
    Rep rep = pair.last(Rep.class);
    net.fly(Corrupted.ids(rep, rep.localId(), rep.remoteId() + 1), a, b);
    net.fly(new Mad(1, rep).toBytes(), a.gid, Gid.ofIpv4(0x0a00_0063));
    net.exchange();
    net.assertSent();
    assertThat(pair.active.take()).containsExactly("replied");
  }

  @Test
  void firstPacketConfirmsTheReply() {
    net.lose(one -> one.mad().message() instanceof Rtu);
    pair.ask();
    assertErrno(Errno.EINVAL, () -> pair.passive.handshake().firstPacket());
    pair.reply().confirm();
    pair.passive.handshake().firstPacket();
    net.exchange();
    assertThat(pair.passive.take()).containsExactly("established");
    pair.passive.handshake().firstPacket();
    net.takeSent();
    net.settle();
    net.assertSent();
    assertThat(pair.passive.events).isEmpty();
  }

  @Test
  void requestWithoutAnAnswerEndsAfterFifteenRetries() {
    net.lose(one -> one.mad().message() instanceof Req);
    Recorder end = new Recorder();
    end.of(a.carrier.connect(a.request(b, 0x11), end));
    net.run(Duration.ofMillis(16 * 4608 - 1));
    List<Sent> sent = net.takeSent();
    assertThat(sent).hasSize(16).allSatisfy(one -> assertThat(one).hasToString("a REQ"));
    assertThat(end.events).isEmpty();
    net.run(Duration.ofMillis(1));
    sent = net.takeSent();
    Rej rej = VirtualNetwork.last(sent, Rej.class);
    assertThat(rej.reason()).isEqualTo(4);
    assertThat(rej.information().toString()).isEqualTo("%016x".formatted(a.guid));
    assertThat(end.take()).containsExactly("unreachable");
    assertThat(end.tried)
        .isEqualTo("16 times a connection request (REQ) to 10.0.0.2 in 73.7 s without an answer");
    net.settle();
    pair.assertNothingIsKept();
  }

  @Test
  void givingUpARequestTellsThePeer() {
    pair.ask();
    pair.active.handshake().close();
    net.exchange();
    List<Sent> sent = net.takeSent();
    Rej rej = VirtualNetwork.last(sent, Rej.class);
    assertThat(rej.reason()).isEqualTo(4);
    assertThat(rej.remoteId()).isZero();
    assertThat(pair.passive.take()).containsExactly("rejected 4");
    assertThat(pair.active.events).isEmpty();
    pair.assertNothingIsKept();
  }

  @Test
  void replyWithoutAConfirmationEndsAfterSixteenSeconds() {
    net.lose(one -> one.from() == a && one.mad().message() instanceof Rtu);
    pair.ask();
    net.takeSent();
    net.lose(one -> one.from() == a);
    pair.reply();
    net.run(Duration.ofMillis(4 * 4096));
    assertThat(pair.passive.take()).containsExactly("unreachable");
    assertThat(pair.passive.tried).contains("4 times a reply (REP) to 10.0.0.1 in 16.4 s");
    List<Sent> sent = net.takeSent();
    assertThat(sent).filteredOn(one -> one.mad().message() instanceof Rep).hasSize(4);
    assertThat(VirtualNetwork.last(sent, Rej.class).reason()).isEqualTo(4);
  }

  /** The request names 2.3 hours, or nothing: 8 s and 16 ms count, and 16.4 s in all. */
  @ParameterizedTest
  @CsvSource({"31, 8192, 2", "22, 8192, 2", "21, 8192, 2", "12, 16, 16", "0, 16, 16"})
  void peersCannotChooseAnyResponseTime(int code, int millis, int sent) {
    Req req = Corrupted.responseTimeout(pair.captured(), code);
    net.fly(req, b, a);
    net.exchange();
    pair.listeningAt(0);
    net.lose(_ -> true);
    pair.reply();
    net.run(Duration.ofMillis((sent - 1L) * millis));
    assertThat(net.takeSent()).filteredOn(one -> one.mad().message() instanceof Rep).hasSize(sent);
    net.run(Duration.ofMillis(16_384 - (sent - 1L) * millis - 1));
    assertThat(pair.passive.take()).isEmpty();
    net.assertSent();
    net.run(Duration.ofMillis(1));
    assertThat(pair.passive.take()).containsExactly("unreachable");
    net.assertSent("b REJ");
  }

  /** It asks for 2.3 hours, again and again: 65.5 s count, once for each transmission. */
  @Test
  void peersThatAskForTimeGetALimitedOne() {
    pair.ask();
    Req req = pair.last(Req.class);
    net.lose(one -> one.from() == b);
    for (int i = 0; i < 66; i++) {
      net.fly(new Mra(77, req.localId(), 0, 31, PrivateData.EMPTY), a, b);
      net.run(Duration.ofSeconds(1));
    }
    net.assertSent();
    net.run(Duration.ofMillis(100));
    net.assertSent("a REQ", "b MRA");
  }

  @Test
  void eventsOfAClosedHandshakeAreLost() {
    pair.establish();
    pair.active.handshake().close();
    pair.active.handshake().close();
    net.exchange();
    assertThat(pair.passive.take()).containsExactly("disconnected");
    pair.passive.handshake().close();
    net.settle();
    assertThat(pair.active.events).isEmpty();
    assertThat(pair.passive.events).isEmpty();
    pair.assertNothingIsKept();
  }

  @Test
  void connectionOfADeviceWithItself() {
    Recorder end = new Recorder().confirming();
    ConnectRequest request = b.request(b, 0x11);
    end.of(b.carrier.connect(request, end));
    net.exchange();
    pair.listeningAt(0);
    pair.reply();
    assertThat(end.take()).containsExactly("replied", "established");
    assertThat(pair.passive.take()).containsExactly("established");
    end.handshake().disconnect(PrivateData.EMPTY);
    net.exchange();
    pair.passive.handshake().disconnect(PrivateData.EMPTY);
    net.settle();
    assertThat(end.take()).containsExactly("disconnected", "timeWaitExited");
    assertThat(pair.passive.take()).containsExactly("disconnected", "timeWaitExited");
    pair.assertNothingIsKept();
  }

  @Test
  void endOfTheCarrierTellsThePeersAndNobodyElse() {
    pair.establish();
    Recorder asking = new Recorder();
    asking.of(a.carrier.connect(a.request(b, 0x12), asking));
    net.exchange();
    net.takeSent();
    a.carrier.close();
    net.exchange();
    assertThat(net.takeSent())
        .extracting(Sent::toString)
        .containsExactlyInAnyOrder("a DREQ", "a REJ");
    assertThat(pair.active.events).isEmpty();
    assertThat(asking.events).isEmpty();
    assertThat(pair.passive.take()).containsExactly("disconnected");
    assertThat(a.engine.size()).isZero();
    assertErrno(Errno.EINVAL, () -> a.carrier.connect(a.request(b, 1), asking));
    a.carrier.close();
  }
}

package org.hghca.cm.ib;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.cm.Failures.assertErrno;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.ib.VirtualNetwork.Node;
import org.hghca.cm.ib.VirtualNetwork.Sent;
import org.hghca.cm.mad.CmaHeader;
import org.hghca.cm.mad.Mad;
import org.hghca.cm.mad.PathFields;
import org.hghca.cm.mad.Rej;
import org.hghca.cm.mad.Rep;
import org.hghca.cm.mad.Req;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.junit.jupiter.api.Test;

/** What is refused while a connection begins, by the peer and at once, in virtual time. */
class HandshakeRefusalTest {
  private final Pair pair = new Pair();
  private final VirtualNetwork net = pair.net;
  private final Node a = pair.a;
  private final Node b = pair.b;

  @Test
  void noListenerOnThePort() {
    Recorder end = new Recorder();
    end.of(a.carrier.connect(a.request(b, 0x11, 0x0106_0001L, new byte[0]), end));
    net.exchange();
    List<Sent> sent = net.takeSent();
    assertThat(sent).extracting(Sent::toString).containsExactly("a REQ", "b REJ");
    Rej rej = VirtualNetwork.last(sent, Rej.class);
    assertThat(rej.reason()).isEqualTo(8);
    assertThat(rej.message()).isZero();
    assertThat(sent.get(1).mad().transactionId()).isEqualTo(sent.get(0).mad().transactionId());
    assertThat(end.take()).containsExactly("rejected 8");
    pair.assertNothingIsKept();
    pair.registration.close();
    a.carrier.connect(a.request(b, 0x11), end);
    net.exchange();
    assertThat(end.take()).containsExactly("rejected 8");
  }

  @Test
  void gidThatIsNotOurs() {
    Req sent = pair.captured();
    Gid other = Gid.ofIpv4(0x0a00_0063);
    PathFields p = sent.primary();
    PathFields elsewhere = new PathFields(0, 0, p.localGid(), other, 0, 0, 0, 64, 0, false, 17);
    net.fly(Corrupted.primary(sent, elsewhere), b, a);
    net.exchange();
    Rej rej = pair.last(Rej.class);
    assertThat(rej.reason()).isEqualTo(12);
    assertThat(rej.information().toString()).isEqualTo(b.gid.hex());
    assertThat(pair.listening.ends).isEmpty();
  }

  @Test
  void addressesThatContradictTheDatagram() {
    Req sent = pair.captured();
    CmaHeader header = CmaHeader.read(sent.privateData()).orElseThrow();
    byte[] version = sent.privateData().toArray();
    version[1] = 0x50;
    List<PrivateData> wrong =
        List.of(
            PrivateData.of(version),
            new CmaHeader(1, Gid.ofIpv4(0x0a00_0063).address(), header.destination())
                .before(PrivateData.EMPTY),
            new CmaHeader(1, header.source(), Gid.ofIpv4(0x0a00_0063).address())
                .before(PrivateData.EMPTY));
    for (PrivateData data : wrong) {
      net.fly(Corrupted.privateData(sent, data), b, a);
      net.exchange();
      assertThat(pair.last(Rej.class).reason()).as("%s", data).isEqualTo(28);
    }
    net.fly(new Mad(1, sent).toBytes(), b.gid, Gid.ofIpv4(0x0a00_0063));
    net.exchange();
    assertThat(pair.last(Rej.class).reason()).isEqualTo(28);
    assertThat(pair.listening.ends).isEmpty();
  }

  @Test
  void addressThatIsNotListenedOn() {
    long service = 0x0106_0009L;
    assertErrno(
        Errno.EADDRNOTAVAIL,
        () -> b.carrier.listen(service, new InetSocketAddress("10.0.0.99", 9), pair.listening));
    b.carrier.listen(service, b.address(9), pair.listening);
    assertErrno(Errno.EADDRINUSE, () -> b.carrier.listen(service, b.address(9), pair.listening));
    assertErrno(
        Errno.EADDRINUSE,
        () -> b.carrier.listen(service, new InetSocketAddress("0.0.0.0", 9), pair.listening));
    a.carrier.connect(a.request(b, 0x11, service, new byte[0]), new Recorder());
    net.exchange();
    assertThat(pair.listening.requests.getFirst().local()).isEqualTo(b.address(9));
  }

  @Test
  void transportAndMtuThatDoNotExist() {
    Req sent = pair.captured();
    net.fly(Corrupted.transport(sent, 2), b, a);
    net.exchange();
    assertThat(pair.last(Rej.class).reason()).isEqualTo(9);
    net.fly(Corrupted.mtu(sent, 6), b, a);
    net.exchange();
    assertThat(pair.last(Rej.class).reason()).isEqualTo(26);
  }

  @Test
  void fullBacklogDropsAndALaterAttemptSucceeds() {
    pair.listening.backlog = 0;
    Recorder end = new Recorder().confirming();
    end.of(a.carrier.connect(a.request(b, 0x11), end));
    net.exchange();
    net.assertSent("a REQ");
    assertThat(b.engine.size()).isZero();
    pair.listening.backlog = 1;
    net.run(Duration.ofMillis(4608));
    pair.listeningAt(0);
    pair.reply();
    assertThat(end.take()).containsExactly("replied", "established");
  }

  @Test
  void requestWhoseListenerThrowsIsRefused() {
    pair.listening.broken = true;
    Recorder end = new Recorder().confirming();
    end.of(a.carrier.connect(a.request(b, 0x11), end));
    net.exchange();
    net.assertSent("a REQ", "b REJ");
    assertThat(end.take()).containsExactly("rejected 28");
    pair.assertNothingIsKept();
    pair.listening.broken = false;
    pair.ask().reply().confirm();
    assertThat(pair.passive.take()).containsExactly("established");
  }

  @Test
  void bothEndsCanReject() {
    pair.ask();
    pair.passive.handshake().reject(28, PrivateData.of(new byte[] {5}));
    net.exchange();
    net.assertSent("a REQ", "b REJ");
    assertThat(pair.active.take()).containsExactly("rejected 28");
    assertThat(pair.active.privateData.toArray()).startsWith(5, 0).hasSize(148);
    pair.assertNothingIsKept();

    pair.ask().reply();
    net.takeSent();
    pair.active.handshake().reject(28, PrivateData.EMPTY);
    net.exchange();
    List<Sent> sent = net.takeSent();
    assertThat(VirtualNetwork.last(sent, Rej.class).message()).isEqualTo(1);
    assertThat(pair.passive.take()).containsExactly("rejected 28");
    net.settle();
    pair.assertNothingIsKept();
  }

  @Test
  void callsInTheWrongStateAreRefused() {
    pair.ask();
    assertErrno(Errno.EINVAL, () -> pair.active.handshake().confirm(PrivateData.EMPTY));
    assertErrno(Errno.EINVAL, () -> pair.active.handshake().disconnect(PrivateData.EMPTY));
    assertThatThrownBy(() -> pair.active.handshake().reject(28, PrivateData.EMPTY))
        .hasMessageContaining("the connection is in REQ_SENT");
    assertErrno(Errno.EINVAL, () -> pair.active.handshake().firstPacket());
    assertErrno(Errno.EINVAL, () -> pair.passive.handshake().confirm(PrivateData.EMPTY));
    pair.reply();
    assertErrno(Errno.EINVAL, pair::reply);
    pair.confirm();
    assertErrno(Errno.EINVAL, () -> pair.active.handshake().reject(28, PrivateData.EMPTY));
  }

  @Test
  void valuesThatDoNotFitAreRefusedAndChangeNothing() {
    byte[] data = new byte[57];
    assertThatThrownBy(
            () -> a.carrier.connect(a.request(b, 1, VirtualNetwork.SERVICE, data), new Recorder()))
        .hasMessageContaining("93 bytes of data, where there is room for 92");
    assertErrno(Errno.EINVAL, () -> a.carrier.connect(a.request(b, 1 << 24), new Recorder()));
    assertThat(a.engine.size()).isZero();
    pair.ask();
    assertErrno(
        Errno.EINVAL, () -> pair.passive.handshake().reject(28, PrivateData.of(new byte[149])));
    pair.reply();
    assertThat(pair.active.take()).containsExactly("replied");
  }

  /**
   * As Linux over RoCE: LAP and APR of an established connection are dropped, without an answer.
   */
  @Test
  void alternatePathsOfConnectionsAreNotTheConnectionManagers() {
    pair.ask();
    int activeId = pair.last(Req.class).localId();
    pair.reply();
    int passiveId = pair.last(Rep.class).localId();
    pair.confirm();
    pair.active.take();
    pair.passive.take();
    net.takeSent();
    for (int[] ids : new int[][] {{activeId, passiveId}, {1, 2}}) {
      net.fly(Corrupted.lap(ids[0], ids[1], a.gid, b.gid), b, a);
      net.fly(Corrupted.apr(ids[1], ids[0]), a, b);
    }
    net.settle();
    net.assertSent();
    assertThat(pair.active.events).isEmpty();
    assertThat(pair.passive.events).isEmpty();
    pair.active.handshake().disconnect(PrivateData.EMPTY);
    net.exchange();
    assertThat(pair.passive.take()).containsExactly("disconnected");
  }

  @Test
  void destinationWithoutAnAddressFailsAtOnce() {
    Recorder end = new Recorder();
    end.of(a.carrier.connect(a.request(b, 0x11), end));
    a.engine.unsendable(b.gid, "the MAC is not known");
    net.exchange();
    assertThat(end.events).contains("unreachable");
    assertThat(end.tried).isEqualTo("the MAC is not known");
    assertThat(a.engine.size()).isZero();
  }
}

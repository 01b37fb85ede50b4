package org.hghca.cm.ib;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.util.List;
import org.hghca.cm.carrier.ConnectRequest;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.carrier.Registration;
import org.hghca.cm.ib.VirtualNetwork.Node;
import org.hghca.cm.ib.VirtualNetwork.Sent;
import org.hghca.cm.mad.Message;
import org.hghca.cm.mad.Req;

/** Two devices, the second of which listens. */
final class Pair {
  final VirtualNetwork net;
  final Node a;
  final Node b;
  final Listening listening = new Listening();
  final Registration registration;

  /** The end that asks, with queue pair 11h. */
  final Recorder active = new Recorder();

  /** The end that is asked, with queue pair 22h, once it is. */
  Recorder passive;

  Pair() {
    this(1);
  }

  Pair(long seed) {
    net = new VirtualNetwork(seed);
    a = net.node("a", 0x0a00_0001);
    b = net.node("b", 0x0a00_0002);
    registration =
        b.carrier.listen(VirtualNetwork.SERVICE, new InetSocketAddress("0.0.0.0", 7174), listening);
  }

  Pair ask() {
    ConnectRequest request = a.request(b, 0x11);
    active.of(a.carrier.connect(request, active));
    net.exchange();
    passive = listening.ends.getLast();
    return this;
  }

  Pair reply() {
    passive.handshake().reply(b.reply(listening.requests.getLast(), 0x22));
    net.exchange();
    return this;
  }

  Pair confirm() {
    active.handshake().confirm(PrivateData.of(new byte[] {6}));
    net.exchange();
    return this;
  }

  /** Sets up a connection, and forgets what that took. */
  Pair establish() {
    ask().reply().confirm();
    assertThat(active.take()).containsExactly("replied", "established");
    assertThat(passive.take()).containsExactly("established");
    net.takeSent();
    return this;
  }

  /** The last message of a kind since the last look, which this is. */
  <T extends Message> T last(Class<T> kind) {
    List<Sent> sent = net.takeSent();
    return VirtualNetwork.last(sent, kind);
  }

  void assertNothingIsKept() {
    assertThat(a.engine.size()).isZero();
    assertThat(b.engine.size()).isZero();
  }

  /** A REQ of a to b that b has not seen. */
  Req captured() {
    net.lose(_ -> true);
    Recorder gone = new Recorder();
    gone.of(a.carrier.connect(a.request(b, 0x11), gone));
    Req req = last(Req.class);
    gone.handshake().close();
    net.takeSent();
    net.loseNothing();
    return req;
  }

  /** The passive end is the one that the listener was asked for at that place, the newest. */
  void listeningAt(int index) {
    assertThat(listening.ends).hasSize(index + 1);
    passive = listening.ends.get(index);
  }
}

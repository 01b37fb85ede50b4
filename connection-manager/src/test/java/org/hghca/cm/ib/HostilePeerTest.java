package org.hghca.cm.ib;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.ib.VirtualNetwork.Node;
import org.hghca.cm.ib.VirtualNetwork.Sent;
import org.hghca.cm.mad.Mad;
import org.hghca.cm.mad.Req;
import org.hghca.cm.mad.SidrReq;
import org.junit.jupiter.api.Test;

/** Networks that lose, and peers that mean harm, in virtual time. */
class HostilePeerTest {
  private static final long SEED = Long.getLong("hghca.seed", 20_261_122);

  /** Each end is answered at once, or after a while; whatever the network does, all connect. */
  @Test
  void connectionsOverABadNetworkAreSetUpAndReleased() {
    Pair pair = new Pair(SEED);
    pair.net.disturbed(0.05, 0.2, Duration.ofSeconds(3));
    SplittableRandom random = new SplittableRandom(SEED);
    List<Recorder> ends = new ArrayList<>();
    int connections = 500;
    int accepted = 0;
    for (int i = 0; i < connections; i++) {
      Recorder end = new Recorder().confirming().releasing();
      end.of(pair.a.carrier.connect(pair.a.request(pair.b, 0x100 + i), end));
      ends.add(end);
    }
    while (accepted < connections) {
      pair.net.run(Duration.ofMillis(random.nextInt(100)));
      if (accepted < pair.listening.ends.size()) {
        Recorder end = pair.listening.ends.get(accepted);
        end.handshake()
            .reply(pair.b.reply(pair.listening.requests.get(accepted), 0x10_0000 + accepted));
        accepted++;
      }
    }
    pair.net.run(Duration.ofMinutes(3));
    ends.addAll(pair.listening.ends);
    assertThat(ends)
        .as("seed %d", SEED)
        .allSatisfy(
            end ->
                assertThat(end.take())
                    .isIn(List.of("replied", "established"), List.of("established")));
    ends.forEach(Recorder::releasing);
    for (Recorder end : ends) {
      if (random.nextBoolean() && end.events.isEmpty()) {
        end.handshake().disconnect(PrivateData.EMPTY);
      }
      pair.net.run(Duration.ofMillis(20));
    }
    pair.net.run(Duration.ofMinutes(10));
    for (Recorder end : ends) {
      if (end.events.isEmpty()) {
        end.handshake().close();
      } else {
        assertThat(end.take()).as("seed %d", SEED).startsWith("disconnected");
      }
    }
    pair.net.settle();
    pair.assertNothingIsKept();
  }

  @Test
  void floodOfRequestsKeepsABoundedNumber() {
    Pair pair = new Pair(SEED);
    pair.establish();
    pair.net.lose(one -> one.mad().message() instanceof Req);
    pair.a.carrier.connect(pair.a.request(pair.b, 0x12), new Recorder());
    Req req = pair.last(Req.class);
    for (int i = 0; i < 10_000; i++) {
      pair.net.fly(Corrupted.numbered(req, 0x1000 + i, 0x2000 + i), pair.b, pair.a);
    }
    pair.net.exchange();
    assertThat(pair.listening.ends).hasSize(1 + HalfOpen.OF_ONE);
    assertThat(pair.b.engine.size()).isLessThan(5 * HalfOpen.OF_ONE);
    pair.net.loseNothing();
    Recorder honest = new Recorder().confirming();
    Node other = pair.net.node("c", 0x0a00_0003);
    honest.of(other.carrier.connect(other.request(pair.b, 0x11), honest));
    pair.net.exchange();
    Recorder served = pair.listening.ends.removeLast();
    served.handshake().reply(pair.b.reply(pair.listening.requests.removeLast(), 0x33));
    pair.net.exchange();
    assertThat(honest.take()).containsExactly("replied", "established");
    served.handshake().close();
    pair.net.exchange();
    honest.handshake().close();
    pair.listening.ends.stream().skip(1).forEach(end -> end.handshake().close());
    assertThat(pair.passive.events).isEmpty();
    pair.active.handshake().disconnect(PrivateData.EMPTY);
    pair.net.exchange();
    pair.passive.handshake().disconnect(PrivateData.EMPTY);
    assertThat(pair.passive.take()).containsExactly("disconnected");
    pair.net.run(Duration.ofSeconds(1));
    assertThat(pair.b.engine.size()).isZero();
  }

  /** So many addresses that none has its share: the number in all is bounded. */
  @Test
  void floodFromManyAddressesKeepsABoundedNumber() {
    Pair pair = new Pair(SEED);
    pair.listening.ends.clear();
    int strangers = 5;
    for (int i = 0; i < strangers; i++) {
      Node stranger = pair.net.node("s" + i, 0x0a00_0010 + i);
      for (int request = 0; request < 1000; request++) {
        stranger.carrier.connect(stranger.request(pair.b, 0x100 + request), new Recorder());
      }
    }
    pair.net.exchange();
    assertThat(pair.listening.ends).hasSize(HalfOpen.MOST);
    pair.listening.ends.forEach(end -> end.handshake().close());
    assertThat(pair.b.engine.size()).isZero();
  }

  /** A thousand from one address, each confirmed: none has to ask twice, and losses delay a few. */
  @Test
  void thousandRequestsAtOnceFromOneAddressSucceed() {
    Pair pair = new Pair(SEED);
    List<Recorder> ends = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      Recorder end = new Recorder().confirming();
      end.of(pair.a.carrier.connect(pair.a.request(pair.b, 0x100 + i), end));
      ends.add(end);
    }
    pair.net.exchange();
    assertThat(pair.listening.ends).hasSize(1000);
    pair.net.disturbed(0.01, 0, Duration.ZERO);
    for (int i = 0; i < 1000; i++) {
      pair.listening
          .ends
          .get(i)
          .handshake()
          .reply(pair.b.reply(pair.listening.requests.get(i), 0x10_0000 + i));
    }
    pair.net.run(Duration.ofSeconds(5));
    assertThat(ends)
        .as("seed %d", SEED)
        .allSatisfy(end -> assertThat(end.take()).containsExactly("replied", "established"));
    pair.net.run(Duration.ofSeconds(20));
    assertThat(pair.listening.ends)
        .allSatisfy(end -> assertThat(end.take()).containsExactly("established"));
  }

  @Test
  void floodOfQuestionsKeepsABoundedNumber() {
    Pair pair = new Pair(SEED);
    pair.b.carrier.listen(0x013f_0001, pair.b.address(1), pair.listening);
    for (int i = 0; i < 10_000; i++) {
      pair.net.fly(new SidrReq(i, 0xffff, 0x013f_0001, PrivateData.EMPTY), pair.b, pair.a);
    }
    pair.net.exchange();
    assertThat(pair.listening.inquiries).hasSize(HalfOpen.OF_ONE);
    Node other = pair.net.node("c", 0x0a00_0003);
    pair.net.fly(new SidrReq(1, 0xffff, 0x013f_0001, PrivateData.EMPTY), pair.b, other);
    pair.net.exchange();
    assertThat(pair.listening.inquiries).hasSize(HalfOpen.OF_ONE + 1);
    pair.listening.inquiries.forEach(inquiry -> inquiry.close());
    assertThat(pair.b.engine.size()).isZero();
  }

  /** Connections that end faster than their time waits: the oldest ends early. */
  @Test
  void timeWaitsAreBounded() {
    Pair pair = new Pair(SEED);
    pair.listening.backlog = Handshakes.ENDING + 100;
    int most = 0;
    for (int i = 0; i < Handshakes.ENDING + 100; i++) {
      Recorder end = new Recorder().confirming();
      end.of(pair.a.carrier.connect(pair.a.request(pair.b, 1 + i), end));
      pair.net.run(Duration.ofNanos(10_000));
      pair.passive = pair.listening.ends.getLast().releasing();
      pair.passive
          .handshake()
          .reply(pair.b.reply(pair.listening.requests.getLast(), 0x10_0000 + i));
      pair.net.run(Duration.ofNanos(10_000));
      end.handshake().close();
      pair.net.takeSent();
      if (i % 1000 == 0 || i > Handshakes.ENDING) {
        most = Math.max(most, pair.b.engine.size());
      }
    }
    assertThat(most).isLessThan(5 * Handshakes.ENDING);
    pair.net.settle();
    pair.assertNothingIsKept();
    assertThat(pair.listening.ends).allSatisfy(end -> assertThat(end.events).hasSize(3));
  }

  /** Messages of another conversation, corrupted at random, change and throw nothing. */
  @Test
  void corruptedMessagesDoNoHarm() {
    Pair pair = new Pair(SEED);
    pair.establish();
    List<byte[]> mads = conversation();
    SplittableRandom random = new SplittableRandom(SEED);
    Node c = pair.net.node("c", 0x0a00_0003);
    pair.listening.backlog = 2;
    for (int round = 0; round < 100_000; round++) {
      byte[] mad = mads.get(random.nextInt(mads.size())).clone();
      for (int change = random.nextInt(6); change >= 0; change--) {
        // mostly behind the bytes that make it a message
        int at = random.nextInt(10) == 0 ? random.nextInt(256) : 24 + random.nextInt(232);
        mad[at] = (byte) random.nextInt();
      }
      Node to = random.nextBoolean() ? pair.a : pair.b;
      Node from = random.nextInt(3) == 0 ? c : to == pair.a ? pair.b : pair.a;
      pair.net.fly(mad, to.gid, from.gid);
      if (round % 100 == 0) {
        pair.net.exchange();
        pair.net.takeSent();
      }
    }
    pair.net.exchange();
    assertThat(pair.active.events).as("seed %d", SEED).isEmpty();
    assertThat(pair.passive.events).as("seed %d", SEED).isEmpty();
    pair.listening.ends.stream().skip(1).forEach(end -> end.handshake().close());
    pair.active.handshake().disconnect(PrivateData.EMPTY);
    pair.net.exchange();
    pair.passive.handshake().disconnect(PrivateData.EMPTY);
    pair.net.settle();
    assertThat(pair.active.take()).containsExactly("disconnected", "timeWaitExited");
    assertThat(pair.passive.take()).containsExactly("disconnected", "timeWaitExited");
    pair.listening.inquiries.forEach(inquiry -> inquiry.close());
    pair.assertNothingIsKept();
  }

  /** One message of each kind, of connections of other queue pairs. */
  private static List<byte[]> conversation() {
    Pair other = new Pair(SEED + 1);
    List<Sent> sent = new ArrayList<>();
    Recorder end = new Recorder();
    end.of(other.a.carrier.connect(other.a.request(other.b, 0xab_cd91), end));
    other.net.run(Duration.ofSeconds(5));
    other.passive = other.listening.ends.getLast();
    other.passive.handshake().reply(other.b.reply(other.listening.requests.getLast(), 0xab_cd92));
    other.net.exchange();
    end.handshake().confirm(PrivateData.EMPTY);
    end.handshake().disconnect(PrivateData.EMPTY);
    other.net.exchange();
    other.passive.handshake().disconnect(PrivateData.EMPTY);
    other.a.carrier.connect(other.a.request(other.b, 0xab_cd93), new Recorder());
    other.net.exchange();
    other.listening.ends.getLast().handshake().reject(28, PrivateData.EMPTY);
    other.net.exchange();
    sent.addAll(other.net.takeSent());
    List<byte[]> mads = new ArrayList<>(sent.stream().map(one -> one.mad().toBytes()).toList());
    assertThat(sent)
        .extracting(Sent::toString)
        .contains("a REQ", "b MRA", "b REP", "a RTU", "a DREQ", "b DREP", "b REJ");
    mads.add(new Mad(1, Corrupted.lap(1, 2, other.a.gid, other.b.gid)).toBytes());
    mads.add(
        new Mad(1, new SidrReq(1, 0xffff, VirtualNetwork.SERVICE, PrivateData.EMPTY)).toBytes());
    return mads;
  }
}

package org.hghca.model.rtl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.model.rtl.TestPair.data;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.hghca.abi.QpcServiceType;
import org.hghca.wire.PacketPool;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Many queue pairs with one request each, of two cards or of one that is looped back: what the
 * makers' RTL finished, and what stopped it.
 */
class GridlockTest {
  private static final int WRITE = 0x08;
  private static final int SEND = 0x0a;
  private static final int READ = 0x10;
  private static final int FIRST = 0x1010;
  private static final int NONE = 0;

  private record Request(int opcode, int length) {}

  /**
   * Requests of a card, as words: {@code 40*READ:1024} for 40 of 1024 bytes, {@code ~4000} for
   * random lengths up to 4000, {@code SEND} and {@code WRITE} for payload.
   */
  private static List<Request> requests(String words) {
    List<Request> requests = new ArrayList<>();
    Random random = new Random(7);
    for (String word : words.split(" ")) {
      String[] parts = word.split("[*:]");
      int count = parts.length == 1 ? NONE : Integer.parseInt(parts[0]);
      for (int i = 0; i < count; i++) {
        boolean any = parts[2].startsWith("~");
        int length = Integer.parseInt(parts[2].substring(any ? 1 : 0));
        int opcode = parts[1].equals("READ") ? READ : i % 2 == 0 ? WRITE : SEND;
        requests.add(new Request(opcode, any ? 1 + random.nextInt(length) : length));
      }
    }
    return requests;
  }

  private static void connect(TestCard card, int count, long peer, int other) {
    for (int i = 0; i < count; i++) {
      card.connect(FIRST + i, QpcServiceType.RC, peer, FIRST + (i ^ other));
    }
  }

  private static void post(TestCard card, TestCard peer, List<Request> requests, int other) {
    for (int i = 0; i < requests.size(); i++) {
      Request request = requests.get(i);
      if (request.opcode == SEND) {
        peer.receive(FIRST + (i ^ other), data(0x1_0000, 0x2_0000));
        card.post(FIRST + i, SEND, null, data(0, request.length));
      } else {
        card.post(
            FIRST + i, request.opcode, data(0x1_0000, request.length), data(0, request.length));
      }
    }
  }

  private static int completed(TestCard card, int count) {
    int completed = 0;
    for (int i = 0; i < count; i++) {
      completed += card.cqes(FIRST + i).size();
    }
    return completed;
  }

  @ParameterizedTest
  @CsvSource({
    // by the number of requests
    "50*READ:1024, 50*READ:1024, true",
    "52*READ:1024, 52*READ:1024, false",
    "56*PAYLOAD:4000, 56*PAYLOAD:4000, true",
    "57*PAYLOAD:4000, 57*PAYLOAD:4000, false",
    "62*PAYLOAD:~4000, 62*PAYLOAD:~4000, true",
    "63*PAYLOAD:~4000, 63*PAYLOAD:~4000, false",
    "64*PAYLOAD:~4000, 64*PAYLOAD:~4000, false",
    "64*PAYLOAD:4000, 64*PAYLOAD:4000, false",
    "64*PAYLOAD:1000, 64*PAYLOAD:1000, true",
    // one way
    "20*READ:~4000 42*PAYLOAD:~4000, -, true",
    "20*READ:~4000 44*PAYLOAD:~4000, -, true",
    "64*READ:4000, -, true",
    "64*PAYLOAD:4000, -, true",
    // all kinds, by own bytes
    "2*READ:512 6*PAYLOAD:512, 2*READ:512 6*PAYLOAD:512, true",
    "12*READ:85 36*PAYLOAD:85, 12*READ:85 36*PAYLOAD:85, true",
    "8*READ:192 24*PAYLOAD:192, 8*READ:192 24*PAYLOAD:192, true",
    "2*READ:1024 6*PAYLOAD:1024, 2*READ:1024 6*PAYLOAD:1024, false",
    "16*READ:~4000 32*PAYLOAD:~4000, 16*READ:~4000 32*PAYLOAD:~4000, false",
    "20*READ:~4000 42*PAYLOAD:~4000, 20*READ:~4000 42*PAYLOAD:~4000, false",
    // READs of 1 KiB or less, and any payload
    "4*READ:256 12*PAYLOAD:2000, 4*READ:256 12*PAYLOAD:2000, true",
    "8*READ:128 24*PAYLOAD:2000, 8*READ:128 24*PAYLOAD:2000, false",
    "8*READ:128 40*PAYLOAD:2000, 8*READ:128 40*PAYLOAD:2000, false",
    "8*READ:128 56*PAYLOAD:2000, 8*READ:128 56*PAYLOAD:2000, false",
    "8*READ:128 55*PAYLOAD:~1000, 8*READ:128 55*PAYLOAD:~1000, true",
    // READs of 256 bytes or less, and any payload
    "8*READ:32 24*PAYLOAD:2000, 8*READ:32 24*PAYLOAD:2000, true",
    "8*READ:32 40*PAYLOAD:2000, 8*READ:32 40*PAYLOAD:2000, false",
    "8*READ:32 54*PAYLOAD:2000, 8*READ:32 54*PAYLOAD:2000, false",
    // one side payload, the other side READs
    "48*PAYLOAD:4000, 48*READ:~4000, false",
    "48*READ:4000, 48*PAYLOAD:4000, false",
    "48*PAYLOAD:4000, 7*READ:128, true",
    "48*PAYLOAD:4000, 8*READ:128, true",
    "8*READ:128, 48*PAYLOAD:4000, true",
    // few requests
    "4*READ:9000, 4*READ:9000, true",
    "1*READ:2000 3*PAYLOAD:2000, 1*READ:2000 3*PAYLOAD:2000, false",
    "1*READ:1000 3*PAYLOAD:1000, 1*READ:1000 3*PAYLOAD:1000, true",
    "1*READ:9000, 1*PAYLOAD:9000, true",
    "1*PAYLOAD:9000, 1*READ:9000, true",
    "4*PAYLOAD:9000, 4*PAYLOAD:9000, true"
  })
  void twoCardsStopAsMeasured(String left, String right, boolean good) {
    check(left, right, good);
  }

  /** 40 requests, READs of 896 bytes, 4 KiB beside a READ or a longer request alone; and 48. */
  @ParameterizedTest
  @CsvSource({
    "40*PAYLOAD:4000, 40*PAYLOAD:4000",
    "7*READ:128 33*PAYLOAD:96, 7*READ:128 33*PAYLOAD:96",
    "7*READ:128 2*PAYLOAD:1600, 7*READ:128 2*PAYLOAD:1600",
    "1*READ:512 1*READ:384 1*PAYLOAD:3200, 1*READ:896 1*PAYLOAD:3200",
    "7*READ:128 33*PAYLOAD:96, 40*PAYLOAD:4000",
    "40*PAYLOAD:4000, 7*READ:128 2*PAYLOAD:1600",
    "1*PAYLOAD:60000, 7*READ:128 2*PAYLOAD:1600",
    "1*PAYLOAD:60000, 1*PAYLOAD:60000",
    "7*READ:128, 7*READ:128",
    "48*PAYLOAD:4000, 48*PAYLOAD:4000",
    "7*READ:128 41*PAYLOAD:78, 48*PAYLOAD:4000"
  })
  void driversBoundsNeverStopACard(String left, String right) {
    check(left, right, true);
    check(right, left, true);
  }

  private static void check(String left, String right, boolean good) {
    TestPair pair = new TestPair(QpcServiceType.RC);
    List<Request> forth = requests(left);
    List<Request> back = requests(right);
    int count = Math.max(forth.size(), back.size());
    connect(pair.a, count, TestPair.B, 0);
    connect(pair.b, count, TestPair.A, 0);
    post(pair.a, pair.b, forth, 0);
    post(pair.b, pair.a, back, 0);
    pair.run();

    if (good) {
      assertThat(completed(pair.a, count)).isEqualTo(forth.size());
      assertThat(completed(pair.b, count)).isEqualTo(back.size());
      assertThat(pair.a.hazards.list()).isEmpty();
      assertThat(pair.b.hazards.list()).isEmpty();
    } else {
      assertThat(completed(pair.a, count) + completed(pair.b, count))
          .isLessThan(forth.size() + back.size());
      assertThat(pair.passes(pair.a, pair.b)).isFalse();
      assertThat(pair.passes(pair.b, pair.a)).isFalse();
      for (TestCard card : List.of(pair.a, pair.b)) {
        assertThat(card.hazards.list()).singleElement().asString().startsWith("12.16: ");
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "16*READ:~4000 48*PAYLOAD:~4000, false",
    "64*PAYLOAD:4000, true",
    "7*READ:128 33*PAYLOAD:96, true",
    "40*PAYLOAD:4000, true"
  })
  void loopedCardStopsAsMeasured(String words, boolean good) {
    TestCard card = new TestCard(TestPair.A, new PacketPool(), Set.of());
    List<Request> requests = requests(words);
    connect(card, requests.size(), TestPair.A, 1);
    post(card, card, requests, 1);
    while (card.engine.step(0, 256)) {
      // until no work is left
    }

    if (good) {
      assertThat(completed(card, requests.size())).isEqualTo(requests.size());
      assertThat(card.hazards.list()).isEmpty();
    } else {
      assertThat(completed(card, requests.size())).isLessThan(requests.size());
      assertThat(card.hazards.list()).singleElement().asString().startsWith("12.16: ");
    }
  }

  /** A card whose peers are two: each of them stays below the bound. */
  @Test
  void requestsOfDifferentPeersAreNotAddedUp() {
    TestPair pair = new TestPair(QpcServiceType.RC);
    connect(pair.a, 64, TestPair.B, 0);
    connect(pair.b, 64, TestPair.A, 0);
    for (int i = 0; i < 32; i++) {
      pair.a.queuePair(FIRST + i).destinationMac = 0x0200_0000_0003L;
    }
    List<Request> requests = requests("64*PAYLOAD:4000");
    post(pair.a, pair.b, requests, 0);
    post(pair.b, pair.a, requests, 0);
    pair.b.engine.step(0, 256);
    pair.a.engine.step(0, 256);

    assertThat(pair.a.hazards.list()).isEmpty();
  }
}

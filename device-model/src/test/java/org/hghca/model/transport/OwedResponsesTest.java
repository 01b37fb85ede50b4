package org.hghca.model.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketPool;
import org.junit.jupiter.api.Test;

/** What a responder owes, beside a list that is kept as simply as can be. */
class OwedResponsesTest {
  private static final int BASE = 0xff_ff00;

  /** A READ, by its PSN from {@link #BASE} on. */
  private record Read(int psn, int packets, boolean repeat) {
    int end() {
      return psn + packets;
    }
  }

  private final Packet packet = new PacketPool().take();
  private final OwedResponses owed = new OwedResponses();
  private final List<Read> expected = new ArrayList<>();
  private int next;

  private Packet request(int psn) {
    packet.psn = Psn.add(BASE, psn);
    return packet;
  }

  private void add(int packets) {
    owed.addRead(request(next), packets, packets);
    expected.add(new Read(next, packets, false));
    next += packets;
  }

  private void repeat(int psn, int packets) {
    owed.repeatRead(request(psn), packets, packets, Psn.add(BASE, next));
    int place = 0;
    while (place < expected.size() && expected.get(place).end() <= psn) {
      place++;
    }
    while (place < expected.size() && expected.get(place).psn() < psn + packets) {
      expected.remove(place);
    }
    if (expected.size() < OwedResponses.CAPACITY) {
      expected.add(place, new Read(psn, packets, true));
    }
  }

  private void answer() {
    Read first = expected.removeFirst();
    assertThat(owed.psn()).isEqualTo(Psn.add(BASE, first.psn()));
    assertThat(owed.packetsLeft()).isEqualTo(first.packets());
    assertThat(owed.isRepeat()).isEqualTo(first.repeat());
    owed.advance(first.packets(), first.packets());
  }

  private void compare() {
    assertThat(owed.isEmpty()).isEqualTo(expected.isEmpty());
    assertThat(owed.fresh())
        .isEqualTo((int) expected.stream().filter(read -> !read.repeat()).count());
  }

  @Test
  void randomRequestsRepeatsAndAnswers() {
    SplittableRandom random = new SplittableRandom(7);
    for (int step = 0; step < 200_000; step++) {
      int what = random.nextInt(step % 4_000 < 2_000 ? 5 : 9);
      if (what < 2 && owed.fresh() < OwedResponses.CAPACITY) {
        add(1 + random.nextInt(3));
      } else if (what < 4 && next > 0) {
        int psn = next - 1 - random.nextInt(Math.min(next, 400));
        repeat(psn, 1 + random.nextInt(Math.min(4, next - psn)));
      } else if (!expected.isEmpty()) {
        answer();
      }
      compare();
    }
    while (!expected.isEmpty()) {
      answer();
      compare();
    }
  }

  @Test
  void nothingIsOwedAfterAClear() {
    add(2);
    add(1);
    repeat(0, 1);
    owed.clear();
    expected.clear();
    compare();
    add(3);
    answer();
    compare();
  }
}

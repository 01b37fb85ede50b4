package org.hghca.model.rtl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.model.rtl.TestPair.BYSTANDER;
import static org.hghca.model.rtl.TestPair.QPN;
import static org.hghca.model.rtl.TestPair.data;

import java.util.List;
import org.hghca.abi.QpcServiceType;
import org.hghca.model.rtl.r1.Defect;
import org.junit.jupiter.api.Test;

/** Requests that are added to the list of outstanding ones when its last one is released. */
class EnqueueRaceTest {
  private static final int WRITE = 0x08;
  private static final int READ = 0x10;

  private TestPair pair = new TestPair(QpcServiceType.RC, Defect.ENQUEUE_RACE);

  private void post(int qpn, int opcode) {
    pair.a.post(qpn, opcode, data(0x8000, 8), data(opcode == READ ? 0x9000 : 0, 8));
  }

  /** The card sends, and does not receive the answers yet. */
  private void send() {
    pair.a.engine.step(0, 256);
  }

  private List<String> places() {
    return pair.a.cqes(QPN).stream().map(cqe -> cqe.substring(48, 52)).toList();
  }

  @Test
  void singleRequestsComplete() {
    for (int i = 0; i < 5; i++) {
      post(QPN, i % 2 == 0 ? WRITE : READ);
      post(BYSTANDER, WRITE);
      pair.run();
    }

    assertThat(places()).containsExactly("0000", "4000", "8000", "c000", "0001");
    assertThat(pair.a.cqes(BYSTANDER)).hasSize(5);
    assertThat(pair.a.hazards.list()).isEmpty();
  }

  @Test
  void requestsRungAtOnceComplete() {
    for (int i = 0; i < 4; i++) {
      post(QPN, WRITE);
    }
    pair.run();

    assertThat(places()).hasSize(4);
    assertThat(pair.a.hazards.list()).isEmpty();
  }

  @Test
  void writeRungAmongOutstandingOnesIsNeverCompleted() {
    for (int i = 0; i < 4; i++) {
      post(QPN, WRITE);
    }
    send();
    post(QPN, WRITE);
    pair.run();
    assertThat(places()).containsExactly("0000", "4000", "8000", "c000");
    assertThat(pair.a.queuePair(QPN).oldestUnackedPsn).isEqualTo(0x105);

    pair.a.put(0, "arrives!");
    post(QPN, WRITE);
    post(QPN, WRITE);
    pair.run();
    assertThat(places()).hasSize(4);
    assertThat(pair.b.text(0x8000, 8)).isEqualTo("arrives!");
    assertThat(pair.passes(pair.a, pair.b)).isTrue();
    assertThat(pair.a.hazards.list()).isNotEmpty().allMatch(what -> what.startsWith("12.18: "));
  }

  @Test
  void readRungWhileAnotherIsOutstandingTakesItsEntry() {
    post(QPN, READ);
    send();
    post(QPN, READ);
    pair.run();
    post(QPN, READ);
    pair.run();

    assertThat(places()).containsExactly("0000", "0000", "8000");
  }

  @Test
  void readsAndOtherRequestsHaveSeparateLists() {
    post(QPN, READ);
    send();
    post(QPN, WRITE);
    pair.run();

    assertThat(places()).containsExactly("0000", "4000");
    assertThat(pair.a.hazards.list()).isEmpty();
  }

  @Test
  void raceIsOffByDefault() {
    pair = new TestPair(QpcServiceType.RC);
    post(QPN, WRITE);
    send();
    post(QPN, WRITE);
    pair.run();

    assertThat(places()).containsExactly("0000", "4000");
    assertThat(pair.a.hazards.list()).isEmpty();
  }
}

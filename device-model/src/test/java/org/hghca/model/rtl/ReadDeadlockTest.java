package org.hghca.model.rtl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.model.rtl.TestPair.BYSTANDER;
import static org.hghca.model.rtl.TestPair.QPN;
import static org.hghca.model.rtl.TestPair.data;

import java.util.Set;
import org.hghca.abi.QpcServiceType;
import org.hghca.model.rtl.r1.Defect;
import org.hghca.wire.PacketPool;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** READs that arrive while payload of the card's own requests is not acknowledged. */
class ReadDeadlockTest {
  private static final int WRITE = 0x08;
  private static final int READ = 0x10;

  private TestPair pair = new TestPair(QpcServiceType.RC, Defect.READ_DEADLOCK);

  /** The peer acknowledges nothing of what is posted, and reads from the card. */
  private void readBeside(int pieces, int bytes) {
    TestCard.Sge[] units = new TestCard.Sge[pieces];
    for (int i = 0; i < pieces; i++) {
      units[i] = data(0x100L * i, 64);
    }
    if (pieces > 0) {
      pair.a.post(BYSTANDER, WRITE, data(0x8000, 64 * pieces), units);
    }
    pair.loses = number -> pair.packets.getLast().startsWith("11");
    pair.run();
    pair.b.post(QPN, READ, data(0, bytes), data(0x3_0000, bytes));
    pair.run();
  }

  @ParameterizedTest
  @CsvSource({"2,1024", "1,9000", "0,9000"})
  void shortReadsAreAnsweredAndAnyBesidePayloadInOnePacket(int pieces, int bytes) {
    readBeside(pieces, bytes);

    assertThat(pair.b.sends(QPN)).containsExactly("10010000 00");
    assertThat(pair.a.hazards.list()).isEmpty();
  }

  @Test
  void longReadBesidePayloadInPacketsStopsTheResponder() {
    readBeside(2, 1025);

    assertThat(pair.b.sends(QPN)).isEmpty();
    assertThat(pair.a.hazards.list()).singleElement().asString().startsWith("12.16: ");
    assertThat(pair.bothPass()).isFalse();
  }

  @Test
  void shortReadsAtOnceActAsALongOne() {
    pair.a.post(BYSTANDER, WRITE, data(0x8000, 128), data(0, 64), data(0x100, 64));
    pair.loses = number -> pair.packets.getLast().startsWith("11");
    pair.run();
    for (int i = 0; i < 2; i++) {
      pair.b.post(QPN, READ, data(0, 600), data(0x3_0000, 600));
    }
    pair.run();

    assertThat(pair.a.hazards.list()).singleElement().asString().startsWith("12.16: ");
  }

  @Test
  void cardThatIsItsOwnPeerStopsBesideAnyPayload() {
    TestCard card = new TestCard(TestPair.A, new PacketPool(), Set.of(Defect.READ_DEADLOCK));
    card.connect(2, QpcServiceType.RC, TestPair.A, 3);
    card.connect(3, QpcServiceType.RC, TestPair.A, 2);
    card.post(2, READ, data(0, 1025), data(0x3_0000, 1025));
    card.post(3, WRITE, data(0x9000, 8), data(0, 8));
    while (card.engine.step(0, 256)) {
      // until no work is left
    }

    assertThat(card.cqes(2)).isEmpty();
    assertThat(card.hazards.list()).singleElement().asString().startsWith("12.16: ");
  }

  @Test
  void deadlockIsOffByDefault() {
    pair = new TestPair(QpcServiceType.RC);
    readBeside(2, 9000);

    assertThat(pair.b.sends(QPN)).containsExactly("10010000 00");
  }
}

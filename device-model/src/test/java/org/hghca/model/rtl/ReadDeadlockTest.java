package org.hghca.model.rtl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.model.rtl.TestPair.BYSTANDER;
import static org.hghca.model.rtl.TestPair.QPN;
import static org.hghca.model.rtl.TestPair.data;

import org.hghca.abi.QpcServiceType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** READs that come in while payload of the card's own requests is not acknowledged. */
class ReadDeadlockTest {
  private static final int WRITE = 0x08;
  private static final int READ = 0x10;

  private TestPair pair = new TestPair(QpcServiceType.RC, Defect.READ_DEADLOCK);

  private void write(int qpn, int length) {
    pair.a.post(qpn, WRITE, data(0x8000, length), data(0, length));
  }

  /** The peer acknowledges nothing of what is posted, and reads from the card. */
  private void readBeside() {
    pair.loses = number -> pair.packets.getLast().startsWith("11");
    pair.run();
    pair.b.post(QPN, READ, data(0, 8), data(0x3_0000, 8));
    pair.run();
  }

  @ParameterizedTest
  @CsvSource({"2048,2048", "1000,2000", "9000,0"})
  void itAnswersBeside4096BytesOrOneLongRequest(int first, int second) {
    write(BYSTANDER, first);
    if (second > 0) {
      write(BYSTANDER, second);
    }
    readBeside();

    assertThat(pair.b.sends(QPN)).containsExactly("10010000 00");
    assertThat(pair.a.hazards.list()).isEmpty();
  }

  @Test
  void besideMoreTheCardStops() {
    write(BYSTANDER, 2048);
    write(BYSTANDER, 2049);
    readBeside();

    assertThat(pair.b.sends(QPN)).isEmpty();
    assertThat(pair.a.hazards.list()).singleElement().asString().startsWith("12.16: ");
    assertThat(pair.bothPass()).isFalse();
  }

  @Test
  void itIsNotPlayedWhereItIsNotAskedFor() {
    pair = new TestPair(QpcServiceType.RC);
    write(BYSTANDER, 2048);
    write(BYSTANDER, 2049);
    readBeside();

    assertThat(pair.b.sends(QPN)).containsExactly("10010000 00");
  }
}

package org.hghca.model.rtl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.model.rtl.TestPair.BYSTANDER;
import static org.hghca.model.rtl.TestPair.QPN;
import static org.hghca.model.rtl.TestPair.data;

import java.util.List;
import org.hghca.abi.QpcServiceType;
import org.junit.jupiter.api.Test;

/** Receives without data unit, which a WRITE with immediate does not need. */
class EmptyReceiveTest {
  private static final int WRITE_IMM = 0x09;
  private static final int SEND = 0x0a;

  private final TestPair pair = new TestPair(QpcServiceType.RC);

  private void send(int qpn, String text) {
    pair.a.put(0, text);
    pair.a.post(qpn, SEND, null, data(0, text.length()));
    pair.run();
  }

  private void writeWithImmediate() {
    pair.a.put(0, "written");
    pair.a.post(QPN, WRITE_IMM, data(0x8000, 7), data(0, 7));
    pair.run();
  }

  private List<String> places(int qpn) {
    return pair.b.cqes(TestCard.RCQ + qpn).stream().map(cqe -> cqe.substring(48, 52)).toList();
  }

  @Test
  void laterMessagesAreWrittenIntoTheOthersBuffer() {
    pair.b.receive(QPN, data(0x9000, 64));
    pair.b.receive(QPN);
    pair.b.receive(QPN, data(0xa000, 64));
    pair.b.receive(QPN, data(0xb000, 64));
    send(QPN, "first");
    writeWithImmediate();
    assertThat(pair.b.text(0x8000, 7)).isEqualTo("written");
    assertThat(pair.b.hazards.list()).isEmpty();

    send(QPN, "third");
    assertThat(pair.b.text(0x9000, 5)).isEqualTo("third");
    send(QPN, "last.");
    assertThat(pair.b.text(0x9000, 5)).isEqualTo("last.");
    assertThat(pair.b.text(0xa000, 1)).isEqualTo("\0");
    assertThat(places(QPN)).containsExactly("0000", "0000", "0000", "0000");
    assertThat(pair.a.sends(QPN)).hasSize(4);
    assertThat(pair.b.queuePair(QPN).receiveOffset).isEqualTo(0x80);
    assertThat(pair.b.hazards.list()).hasSize(2).allMatch(what -> what.startsWith("12.13: "));
  }

  @Test
  void firstReceiveOfACardWorksWithoutADataUnit() {
    pair.b.receive(QPN);
    pair.b.receive(QPN, data(0x9000, 64));
    pair.b.receive(QPN, data(0xa000, 64));
    writeWithImmediate();
    send(QPN, "first");
    send(QPN, "other");

    assertThat(pair.b.text(0x9000, 5)).isEqualTo("first");
    assertThat(pair.b.text(0xa000, 5)).isEqualTo("other");
    assertThat(places(QPN)).containsExactly("0000", "4000", "8000");
    assertThat(pair.b.hazards.list()).isEmpty();
  }

  @Test
  void receiveWithAnUnusedDataUnitWorks() {
    pair.b.receive(QPN, data(0x9000, 64));
    pair.b.receive(QPN, data(0xf000, 32));
    pair.b.receive(QPN, data(0xa000, 64));
    send(QPN, "first");
    writeWithImmediate();
    send(QPN, "third");

    assertThat(pair.b.text(0xa000, 5)).isEqualTo("third");
    assertThat(pair.b.text(0xf000, 1)).isEqualTo("\0");
    assertThat(places(QPN)).containsExactly("0000", "4000", "8000");
    assertThat(pair.b.hazards.list()).isEmpty();
  }

  /** A queue pair that has received nothing finds what the card has fetched first of all. */
  @Test
  void receiveReachesIntoTheMemoryOfOtherQueuePairs() {
    pair.b.receive(BYSTANDER, data(0x9000, 64));
    send(BYSTANDER, "mine");
    pair.b.receive(QPN);
    pair.b.receive(QPN, data(0xa000, 64));
    writeWithImmediate();
    send(QPN, "astray");

    assertThat(pair.b.text(0x9000, 6)).isEqualTo("astray");
    assertThat(pair.b.text(0xa000, 1)).isEqualTo("\0");
  }
}

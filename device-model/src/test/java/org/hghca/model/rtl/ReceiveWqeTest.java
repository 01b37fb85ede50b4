package org.hghca.model.rtl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.model.rtl.TestPair.QPN;
import static org.hghca.model.rtl.TestPair.data;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.stream.IntStream;
import org.hghca.abi.QpcServiceType;
import org.hghca.model.rtl.TestCard.Sge;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the card takes for a receive, where it searches the next one, and where it fails. */
class ReceiveWqeTest {
  private static final int SEND = 0x0a;

  private final TestPair pair = new TestPair(QpcServiceType.RC);
  private final OnChipQp responder = pair.b.queuePair(QPN);

  private void send() {
    pair.a.post(QPN, SEND, null, data(0, 8));
    pair.run();
  }

  private static Sge[] units(int count) {
    return IntStream.range(0, count).mapToObj(i -> data(0x8000 + 64 * i, 64)).toArray(Sge[]::new);
  }

  /** Any bit of the first 16 bytes makes a slot one that is posted. */
  @ParameterizedTest
  @CsvSource({"0,0x01", "0,0x20", "4,0x01", "4,0x80", "7,0x80", "8,0x01", "8,0x40", "12,0x01"})
  void anyBitIsAMarker(int offset, String bit) {
    int slot = pair.b.receive(QPN, data(0x8000, 64));
    MemorySegment wqe = pair.b.receiveSlot(QPN, slot);
    wqe.asSlice(0, 16).fill((byte) 0);
    wqe.set(ValueLayout.JAVA_BYTE, offset, (byte) (int) Integer.decode(bit));
    send();

    assertThat(pair.b.receives(QPN)).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource({"6,2", "7,6", "8,14", "9,30"})
  void nextReceiveIsAtTheNextStride(int strideLog, int units) {
    responder.receiveStrideLog = strideLog;
    pair.b.receiveAt(QPN, 0, units(units));
    pair.b.receiveAt(QPN, 1 << strideLog, data(0xa000, 64));
    pair.a.put(0, "ping pong");
    send();
    send();

    assertThat(pair.b.receives(QPN)).isEqualTo(2);
    assertThat(pair.b.text(0xa000, 8)).isEqualTo("ping pon");
    assertThat(pair.b.cqes(TestCard.RCQ + QPN).getLast().substring(48, 56))
        .isEqualTo("%02x%02x0000".formatted(1 << strideLog & 0xff, 1 << strideLog >> 8));
  }

  @Test
  void strideOf1024IsTakenFor512() {
    responder.receiveStrideLog = 10;
    pair.b.receiveAt(QPN, 0, data(0x8000, 64));
    pair.b.receiveAt(QPN, 1024, data(0xa000, 64));
    send();
    send();

    assertThat(pair.b.receives(QPN)).isEqualTo(1);
    assertThat(pair.b.hazards.list()).singleElement().asString().endsWith("at 0x200");
  }

  @Test
  void receivesWrapAroundTheQueue() {
    responder.receiveLength = 512;
    for (int i = 0; i < 20; i++) {
      pair.b.receiveAt(QPN, i % 8 * 64, data(0x8000 + 64 * i, 64));
      pair.b.receiveSlot(QPN, (i + 1) % 8).asSlice(0, 16).fill((byte) 0);
      send();
    }

    assertThat(pair.b.receives(QPN)).isEqualTo(16); // of 20, the others over the oldest
    assertThat(responder.receiveOffset).isEqualTo(4 * 64);
    assertThat(pair.b.hazards.list()).isEmpty();
  }

  /** Slots are not cleared: the second round finds the receives of the first. */
  @Test
  void slotThatIsNotClearedReceivesAgainIntoTheOldBuffer() {
    responder.receiveLength = 512;
    for (int i = 0; i < 8; i++) {
      pair.b.receiveAt(QPN, 64 * i, data(0x8000 + 64 * i, 64));
      send();
    }
    pair.a.put(0, "again...");
    send();

    assertThat(pair.b.text(0x8000, 8)).isEqualTo("again...");
  }

  @Test
  void positionBeyondTheEndOfANewQueueFindsNothing() {
    responder.receiveLength = 1024;
    responder.receiveOffset = 768;
    responder.receiveLength = 512;
    for (int i = 0; i < 8; i++) {
      pair.b.receiveAt(QPN, 64 * i, data(0x8000, 64));
    }
    send();

    assertThat(pair.b.receives(QPN)).isZero();
    assertThat(pair.b.hazards.list()).singleElement().asString().startsWith("6.6");
  }

  @Test
  void linkedReceivesOfAnEarlierQueueUseTheOldBuffers() {
    for (int i = 0; i < 3; i++) {
      pair.b.receive(QPN, data(0x8000 + 0x1000 * i, 64));
    }
    pair.b.link(TestCard.RQ + QPN, 0, 1, 0, 3);
    pair.b.link(TestCard.RQ + QPN, 1, 2, 0, 3);
    send();
    // A new queue replaces the old one, with receives into other memory.
    for (int i = 0; i < 3; i++) {
      pair.b.receiveAt(QPN, 64 * i, data(0x1_0000 + 0x1000 * i, 64));
    }
    pair.a.put(0, "to where");
    send();
    send();

    assertThat(pair.b.text(0x9000, 8)).isEqualTo("to where");
    assertThat(pair.b.text(0xa000, 8)).isEqualTo("to where");
    assertThat(pair.b.text(0x1_1000, 8)).isNotEqualTo("to where");
  }

  @ParameterizedTest
  @ValueSource(strings = {"RC", "UC", "UD"})
  void afterAnEmptyQueueNothingIsFoundDespiteAReset(String service) {
    TestPair others = new TestPair(TestCard.service(service));
    post(others, service);
    OnChipQp qp = others.b.queuePair(QPN);
    assertThat(qp.receiveOffset).isEqualTo(0x30);

    others.a.connect(QPN, qp.service, TestPair.B, QPN);
    others.b.connect(QPN, qp.service, TestPair.A, QPN);
    for (int i = 0; i < 3; i++) {
      others.b.receiveAt(QPN, 64 * i, data(0x8000, 64));
    }
    others.a.put(0, "not here");
    post(others, service);

    assertThat(others.b.receives(QPN)).isZero();
    assertThat(others.b.text(0x8000, 8)).isNotEqualTo("not here");
    assertThat(others.bothPass()).isTrue();
  }

  private static void post(TestPair pair, String service) {
    if (service.equals("UD")) {
      pair.a.datagram(QPN, SEND, TestPair.B, QPN, data(0, 8));
    } else {
      pair.a.post(QPN, SEND, null, data(0, 8));
    }
    pair.run();
  }

  @Test
  void partThatFitsIntoATooSmallReceiveIsWritten() {
    pair.b.receive(QPN, data(0x8000, 32));
    pair.b.put(0x8000, ".".repeat(64));
    pair.a.put(0, "x".repeat(64));
    pair.a.post(QPN, SEND, null, data(0, 64));
    pair.run();

    assertThat(pair.b.text(0x8000, 64)).isEqualTo("x".repeat(32) + ".".repeat(32));
    assertThat(responder.expectedPsn).isEqualTo(0x101);
  }

  @Test
  void messageOf5000BytesInAReceiveOf4096() {
    pair.a.queuePair(QPN).mtu = 4096;
    pair.b.receive(QPN, data(0x8000, 4096));
    pair.a.post(QPN, SEND, null, data(0, 5000));
    pair.run();
    assertThat(pair.a.sends(QPN)).isEmpty();
    assertThat(pair.b.receives(QPN)).isZero();

    send();
    assertThat(pair.a.sends(QPN)).containsExactly("ff000000 00", "ff000000 00");
    assertThat(pair.bothPass()).isTrue();
  }
}

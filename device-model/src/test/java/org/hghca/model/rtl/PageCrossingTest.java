package org.hghca.model.rtl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.model.rtl.TestPair.BYSTANDER;
import static org.hghca.model.rtl.TestPair.QPN;
import static org.hghca.model.rtl.TestPair.data;

import org.hghca.abi.QpcServiceType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Destinations across a page: L1 bytes before it and L2 behind it stop the channel where L1 % 32 is
 * not 0 and L1 % 32 + L2 is less than 32, and arrive late where it is 32.
 */
class PageCrossingTest {
  private static final int WRITE = 0x08;
  private static final int SEND = 0x0a;
  private static final int READ = 0x10;
  private static final long PAGE = 0x9000;

  private TestPair pair = new TestPair(QpcServiceType.RC);

  /** Moves bytes across the page's end; returns the source. */
  private String move(int opcode, int before, int behind) {
    int length = before + behind;
    String text = "0123456789abcdefghijklmnopqrstuvwxyz".repeat(3).substring(0, length);
    long target = PAGE - before;
    pair.a.put(0, text);
    pair.b.put(0, text);
    switch (opcode) {
      case SEND -> {
        pair.b.receive(QPN, data(target, length));
        pair.a.post(QPN, SEND, null, data(0, length));
      }
      case WRITE -> pair.a.post(QPN, WRITE, data(target, length), data(0, length));
      default -> pair.a.post(QPN, READ, data(0, length), data(target, length));
    }
    pair.run();
    return text;
  }

  @ParameterizedTest
  @CsvSource({
    "1,1,S", "1,30,S", "1,31,L", "1,32,G", "10,10,S", "10,21,S", "10,22,L", "10,23,G", "10,64,G",
    "31,1,L", "31,2,G", "33,30,S", "33,31,L", "33,40,G", "32,1,G", "32,31,G", "64,8,G", "63,1,L"
  })
  void eighteenSplits(int before, int behind, char outcome) {
    for (int opcode : new int[] {WRITE, SEND, READ}) {
      pair = new TestPair(QpcServiceType.RC);
      String text = move(opcode, before, behind);
      TestCard target = opcode == READ ? pair.a : pair.b;
      String first = target.text(PAGE - before, before);
      String second = target.text(PAGE, behind);

      assertThat(first).isEqualTo(text.substring(0, before));
      assertThat(second.equals(text.substring(before))).isEqualTo(outcome == 'G');
      if (outcome == 'G') {
        assertThat(target.hazards.list()).isEmpty();
      } else {
        assertThat(target.hazards.list()).singleElement().asString().startsWith("12.2: ");
        assertThat(opcode == READ ? pair.a.sends(QPN).size() : pair.b.receives(QPN)).isZero();
      }
      TestCard other = opcode == READ ? pair.b : pair.a;
      assertThat(pair.passes(other, target)).isEqualTo(outcome != 'S');
      assertThat(pair.bothPass()).isEqualTo(outcome != 'S');
      if (outcome == 'L') {
        assertThat(target.text(PAGE - before, before + behind)).isEqualTo(text);
      }
    }
  }

  @Test
  void sourceMayCrossAnywhere() {
    pair.a.put(PAGE - 10, "0123456789abcdefghij");
    pair.b.put(PAGE - 10, "0123456789abcdefghij");
    pair.a.post(QPN, WRITE, data(0x1000, 20), data(PAGE - 10, 20));
    pair.a.post(QPN, READ, data(PAGE - 10, 20), data(0x2000, 20));
    pair.run();

    assertThat(pair.b.text(0x1000, 20)).isEqualTo("0123456789abcdefghij");
    assertThat(pair.a.text(0x2000, 20)).isEqualTo("0123456789abcdefghij");
    assertThat(pair.bothPass()).isTrue();
  }

  @Test
  void completionOfAnotherQueuePairDoesNotFlushTheTail() {
    move(WRITE, 10, 22);
    pair.b.post(BYSTANDER, WRITE, data(0x1_0000, 8), data(0x100, 8));
    pair.run();

    assertThat(pair.b.text(PAGE, 1)).isEqualTo("\0");
    assertThat(pair.b.sends(BYSTANDER)).isEmpty();
  }

  /** Each packet counts: of 256 bytes six cross here, of 275 bytes 25. */
  @ParameterizedTest
  @CsvSource({"256,1", "1024,0"})
  void splitIsCountedPerPacketNotPerMessage(int mtu, int strikes) {
    pair.a.queuePair(QPN).mtu = mtu;
    pair.a.put(0, "x".repeat(275));
    pair.a.post(QPN, WRITE, data(PAGE - 250, 275), data(0, 275));
    pair.run();

    assertThat(pair.b.hazards.list()).hasSize(strikes);
    // The second packet flushes the late part of the first.
    assertThat(pair.b.text(PAGE - 250, 275)).isEqualTo("x".repeat(275));
  }
}

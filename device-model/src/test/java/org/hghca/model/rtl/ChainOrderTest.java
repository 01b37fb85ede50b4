package org.hghca.model.rtl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.model.rtl.TestPair.BYSTANDER;
import static org.hghca.model.rtl.TestPair.QPN;
import static org.hghca.model.rtl.TestPair.data;

import java.util.Arrays;
import java.util.List;
import org.hghca.abi.QpcServiceType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The order in which waiting doorbells are executed, including chains. */
class ChainOrderTest {
  private static final int WRITE = 0x08;
  private static final int SEND = 0x0a;

  private final TestPair pair = new TestPair(QpcServiceType.RC);

  /** Posts chains of these lengths, one doorbell each, and rings for all at once. */
  private void ringDoorbells(int qpn, int opcode, int... lengths) {
    int units = opcode == SEND ? 2 : 3;
    int[] starts = new int[lengths.length];
    for (int chain = 0; chain < lengths.length; chain++) {
      for (int i = 0; i < lengths[chain]; i++) {
        int slot = pair.a.write(qpn, opcode == SEND ? null : data(0x8000, 8), data(0, 8));
        if (i == 0) {
          starts[chain] = slot;
        } else {
          pair.a.link(TestCard.SQ + qpn, slot - 1, slot, opcode, units);
        }
      }
    }
    for (int start : starts) {
      pair.a.ringDoorbell(qpn, opcode, start, units);
    }
  }

  /** The slots of a send queue in the order of their completions. */
  private List<Integer> order(int qpn) {
    return pair.a.cqes(qpn).stream()
        .map(cqe -> Integer.parseInt(cqe.substring(50, 52) + cqe.substring(48, 50), 16) / 64)
        .toList();
  }

  private static int[] numbers(String text) {
    return Arrays.stream(text.split(" ")).mapToInt(Integer::parseInt).toArray();
  }

  @ParameterizedTest
  @CsvSource({
    "8,4 4 4,0 1 2 3 4 8 5 9 6 10 7 11",
    "10,3 2 2,0 1 2 3 5 4 6",
    "8,2 1 3 1 3,0 1 2 3 6 7 4 8 5 9"
  })
  void twoDoorbellsBehindAChainAreExecutedAlternately(int opcode, String chains, String order) {
    for (int i = 0; i < 12; i++) {
      pair.b.receive(QPN, data(0x8000, 64));
    }
    ringDoorbells(QPN, opcode, numbers(chains));
    pair.run();

    assertThat(order(QPN))
        .containsExactly(Arrays.stream(numbers(order)).boxed().toArray(Integer[]::new));
    assertThat(pair.a.hazards.list()).isNotEmpty().allMatch(what -> what.startsWith("12.14: "));
  }

  @ParameterizedTest
  @CsvSource({"4 4", "4 1 1 1 1 1", "1 1 1 1 1 1 1 1 1 1 1 1", "12"})
  void otherDoorbellsKeepTheirOrder(String chains) {
    ringDoorbells(QPN, WRITE, numbers(chains));
    pair.run();

    assertThat(order(QPN)).isSorted().hasSize(Arrays.stream(numbers(chains)).sum());
    assertThat(pair.a.hazards.list()).isEmpty();
  }

  @Test
  void doorbellOfAnotherQueuePairWaitsBehindAWaitingOne() {
    ringDoorbells(QPN, WRITE, 3, 1);
    ringDoorbells(BYSTANDER, WRITE, 1);
    pair.run();

    assertThat(pair.packets.stream().filter(packet -> packet.startsWith("0a")))
        .containsExactly("0a 100 00", "0a 101 00", "0a 102 00", "0a 103 00", "0a 100 00");
  }
}

package org.hghca.programs.perf.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.OptionalInt;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.PerfException;
import org.hghca.programs.perf.PerfTest;
import org.hghca.programs.perf.run.Watcher;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** A measurement whose messages do not carry what was sent fails, however fast it was. */
class ContentsTest {
  private static final Parameters.Route ROUTE = Parameters.Route.tcp(1, OptionalInt.empty());
  private static final int LIST = 16;

  private static int measure(String device, PerfTest test, long size, boolean lists) {
    Parameters parameters = Parameters.reliable(test, size, 64, ROUTE).of(100);
    try (BothSides sides = BothSides.inLoop(device, ROUTE)) {
      return sides
          .run(lists ? parameters.inLists(LIST).of(160) : parameters, Watcher.none())
          .figures()
          .size();
    }
  }

  @ParameterizedTest
  @EnumSource(
      names = {"IB_ATOMIC_BW", "IB_ATOMIC_LAT"},
      mode = EnumSource.Mode.EXCLUDE)
  void messagesOfGoodCardsPass(PerfTest test) {
    assertThat(measure("model:", test, 8, false)).isEqualTo(1);
    assertThat(measure("model:", test, 70_000, false)).isEqualTo(1);
    assertThat(measure("model:", test, 8, test.isBandwidth())).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource({
    "IB_SEND_BW, payload-zeros, 8",
    "IB_SEND_BW, payload-words-swapped, 8",
    "IB_SEND_BW, payload-truncated, 70000",
    "IB_WRITE_BW, payload-zeros, 8",
    "IB_WRITE_BW, payload-stuck-bit, 70000",
    "IB_WRITE_BW, payload-shifted, 8",
    "IB_WRITE_BW, payload-truncated, 70000",
    "IB_READ_BW, payload-zeros, 8",
    "IB_READ_BW, payload-halves-swapped, 70000",
    "IB_SEND_LAT, payload-zeros, 8",
    "IB_SEND_LAT, payload-shifted, 70000",
    "IB_READ_LAT, payload-zeros, 8",
  })
  void messagesThatArriveChangedFail(PerfTest test, String fault, long size) {
    assertThatThrownBy(() -> measure("model:?fault=" + fault, test, size, false))
        .isInstanceOf(PerfException.class)
        .hasMessageMatching(
            "what arrived is not what was sent: byte \\d+ of a message of %d is 0x\\p{XDigit}+, not 0x\\p{XDigit}+"
                .formatted(size));
  }

  @ParameterizedTest
  @EnumSource(names = {"IB_SEND_BW", "IB_WRITE_BW", "IB_READ_BW"})
  void changedMessagesInListsFail(PerfTest test) {
    assertThatThrownBy(() -> measure("model:?fault=payload-zeros", test, 8, true))
        .isInstanceOf(PerfException.class)
        .hasMessageContaining("what arrived is not what was sent");
  }
}

package org.hghca.tools.programs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.hghca.programs.perf.Multicast;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.PerfTest;
import org.hghca.programs.perf.command.PerfTestCommand;
import org.hghca.programs.perf.run.Watcher;
import org.hghca.programs.perf.session.BothSides;
import org.hghca.tools.CommandLineRun;
import org.hghca.verbs.Gid;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Multicast groups of the programs of perftest. */
class PerfGroupsTest {
  @ParameterizedTest
  @EnumSource(names = {"IB_SEND_BW", "IB_SEND_LAT"})
  void linkLocalGidsHaveGroupsOfIpv6(PerfTest test) {
    Parameters parameters = PerfTestCommand.parameters(test, "-g", "-n", "100");
    try (BothSides sides =
        BothSides.open("model:left?cable=groups", "model:right?cable=groups", parameters.route())) {
      BothSides.Outcome outcome = sides.run(parameters, Watcher.none());
      assertThat(outcome.figures()).singleElement().extracting("iterations").isEqualTo(100L);
      assertThat(outcome.document().toJson())
          .extractingByKey("test_info")
          .asInstanceOf(InstanceOfAssertFactories.MAP)
          .containsEntry("MultiCast_runs", "on_UD")
          .containsEntry("Connection_type", "UD")
          .containsEntry("GID_index", 0);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "255:0x01:0:0:0:2:201:0x85:0:0:0:0:0:0:0:0, ff0100000002c9850000000000000000",
    "0:0:0:0:0:0:0:0:0:0:0xff:0xff:239:1:2:017, 00000000000000000000ffffef01020f"
  })
  void groupsAreSixteenNumbers(String text, String hex) {
    assertThat(Multicast.parse(text)).contains(Gid.ofHex(hex));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "255:1",
        "255:1:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0",
        "255:1:0:0:0:0:0:0:0:0:0:0:0:0:0:",
        "255:1:0:0:0:0:0:0:0:0:0:0:0:0:0:256",
        "255:1:0:0:0:0:0:0:0:0:0:0:0:0:0:-1",
        "254:1:0:0:0:0:0:0:0:0:0:0:0:0:0:0",
        "0:0:0:0:0:0:0:0:0:0:255:255:10:0:0:1",
        "ff01::1"
      })
  void othersAreNone(String text) {
    assertThat(Multicast.parse(text)).isEqualTo(Optional.empty());
  }

  @ParameterizedTest
  @ValueSource(strings = {"ib_send_bw", "ib_send_lat"})
  void deviceWithoutGroupsIsNamedBeforeTheMeasurement(String program) {
    CommandLineRun run =
        CommandLineRun.of("perf", program, "-g", "-d", "model:none?profile=r1&cable=groups")
            .assertExit(1);
    assertThat(run.err())
        .isEqualTo(
            "hghca: -g needs multicast groups, which model:none?cable=groups&profile=r1 has not\n");
    assertThat(run.out()).isEmpty();
  }
}

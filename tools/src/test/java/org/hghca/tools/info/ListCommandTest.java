package org.hghca.tools.info;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.hghca.tools.CommandLineRun;
import org.hghca.tools.ConfiguredDevices;
import org.hghca.verbs.RdmaDevices;
import org.junit.jupiter.api.Test;

class ListCommandTest {

  @Test
  void outputIsThatOfIbvDevices() {
    CommandLineRun run =
        ConfiguredDevices.call("model:list?mac=02:00:00:00:00:01", () -> CommandLineRun.of("list"))
            .assertExit(0);
    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .startsWith(
            """
                device          \t   node GUID
                ------          \t----------------
                hghca0          \t000000fffe000001
            """);
  }

  @Test
  void virtioCardsHaveNamesOfTheirOwn() {
    CommandLineRun run =
        ConfiguredDevices.call(
                "virtio:list?mac=02:00:00:00:00:02,model:list?mac=02:00:00:00:00:01",
                () -> CommandLineRun.of("list"))
            .assertExit(0);
    assertThat(run.out())
        .endsWith(
            """
                hghca0          \t000000fffe000001
                virtio0         \t000000fffe000002
            """);
  }

  @Test
  void guidKnownOnlyToTheCardIsNotInvented() {
    CommandLineRun run =
        ConfiguredDevices.call("vfio-user:/nowhere.sock", () -> CommandLineRun.of("list"))
            .assertExit(0);
    assertThat(run.out()).contains("\n    hghca0          \t(info tells)\n");
  }

  @Test
  void withoutACardTheSoftwareHcaIsListedWithANotice() {
    assumeTrue(RdmaDevices.list().isEmpty(), "there is a card in this machine");

    CommandLineRun run = CommandLineRun.of("list").assertExit(0);
    assertThat(run.err())
        .isEqualTo("hghca: no card found, using the embedded software HCA (model:)\n");
    assertThat(run.out()).containsPattern("\n    model:          \t[0-9a-f]{16}\n");
  }
}

package org.hghca.tools.info;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.hghca.tools.CommandLineRun;
import org.hghca.tools.ConfiguredDevices;
import org.hghca.tools.MadeUpMachine;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code hghca info --system}, and what {@code hghca list} prints about unbound cards. */
class SystemReportCommandTest {
  private static final String CARD = "0000:03:00.0";

  @TempDir Path root;
  private MadeUpMachine machine;

  @BeforeEach
  void readyCard() {
    machine =
        new MadeUpMachine(root)
            .text("/dev/vfio/17", "")
            .function(CARD, "10ee:9038", "020700", "vfio-pci", 17)
            .function("0000:04:00.0", "10ee:9039", "020700", "hgrnic", 18);
  }

  private CommandLineRun run(String... args) {
    return CommandLineRun.on(machine, args);
  }

  @Test
  void machineThatIsReadyIsExitCode0() {
    CommandLineRun run = run("info", "--system").assertExit(0);
    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .contains("ok       IOMMU         dmar0 in use, 2 groups\n")
        .contains("ok       0000:03:00.0  IOMMU group 17 is viable: no other function is in it\n")
        .doesNotContain("0000:04:00.0")
        .doesNotContain("PROBLEM")
        .endsWith("ready: nothing prevents the use of a card\n");
  }

  @Test
  void problemIsExitCode1AndHasItsFix() {
    CommandLineRun run = run("info", "--system", "-d", "pci:04:00.0").assertExit(1);
    assertThat(run.out())
        .contains(
            """
            PROBLEM  0000:04:00.0  0000:04:00.0 is bound to the driver hgrnic, not to vfio-pci
                                   why: the kernel hands out only functions that vfio-pci drives
                                   fix: sudo hghca bind 0000:04:00.0
            """)
        .doesNotContain(CARD)
        .endsWith("not ready: 1 problem\n");
  }

  @Test
  void jsonHasTheSameFindings() throws IOException {
    CommandLineRun run = run("info", "--system", "--json", "-d", "pci:04:00.0").assertExit(1);
    Map<String, Object> json = JSON.std.mapFrom(run.out());
    assertThat(json)
        .extractingByKey("system", InstanceOfAssertFactories.MAP)
        .containsEntry("problems", 1)
        .extractingByKey("findings", InstanceOfAssertFactories.LIST)
        .contains(
            Map.of(
                "level", "problem",
                "subject", "0000:04:00.0",
                "found", "0000:04:00.0 is bound to the driver hgrnic, not to vfio-pci",
                "why", "the kernel hands out only functions that vfio-pci drives",
                "fix", "sudo hghca bind 0000:04:00.0"))
        .allSatisfy(
            finding ->
                assertThat(finding)
                    .asInstanceOf(InstanceOfAssertFactories.MAP)
                    .containsOnlyKeys(List.of("level", "subject", "found", "why", "fix")));
  }

  @Test
  void locatorOfAnotherSchemeIsWrongUsage() {
    CommandLineRun run = run("info", "--system", "-d", "model:").assertExit(2);
    assertThat(run.err()).contains("scheme pci", "model:");
  }

  @Test
  void missingFunctionIsNamed() {
    CommandLineRun run = run("info", "--system", "-d", "pci:09:00.0").assertExit(3);
    assertThat(run.err()).startsWith("hghca: no PCI function at 0000:09:00.0").hasLineCount(1);
  }

  @Test
  void listNamesUnboundCards() {
    System.setProperty("hghca.ids", "10ee:9039");
    try {
      CommandLineRun run =
          ConfiguredDevices.call("model:list", () -> CommandLineRun.on(machine, "list"))
              .assertExit(0);
      assertThat(run.out()).contains("hghca0").doesNotContain("0000:04:00.0");
      assertThat(run.err())
          .isEqualTo(
              "hghca: 0000:04:00.0 [10ee:9039] class 020700, driver hgrnic may be a card: sudo"
                  + " hghca bind 0000:04:00.0\n");
    } finally {
      System.clearProperty("hghca.ids");
    }
  }
}

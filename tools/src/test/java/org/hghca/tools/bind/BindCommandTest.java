package org.hghca.tools.bind;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.hghca.tools.CommandLineRun;
import org.hghca.tools.MadeUpMachine;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BindCommandTest {
  private static final String CARD = "0000:03:00.0";
  private static final String SECOND = "0000:04:00.0";

  @TempDir Path root;
  private MadeUpMachine machine;

  @BeforeEach
  void twoCardsOfAnotherDriver() {
    machine =
        new MadeUpMachine(root)
            .function(CARD, "10ee:9038", "020700", "hgrnic", 17)
            .function(SECOND, "10ee:9038", "020000", "hgrnic", 18);
  }

  private CommandLineRun run(String... args) {
    return CommandLineRun.on(machine, args);
  }

  private void assertRefused(CommandLineRun run, String... texts) {
    assertRefused(1, run, texts);
  }

  private void assertRefused(int exitCode, CommandLineRun run, String... texts) {
    assertThat(run.exitCode()).isEqualTo(exitCode);
    assertThat(run.out()).isEmpty();
    assertThat(run.err()).startsWith("hghca: ").contains(texts).hasLineCount(1);
  }

  @Test
  void functionIsBoundToVfioAndBack() {
    CommandLineRun bind = run("bind", "03:00.0").assertExit(0);
    assertThat(bind.out()).isEqualTo("0000:03:00.0 is bound to vfio-pci\n");
    assertThat(bind.err()).isEmpty();
    assertThat(machine.driver(CARD)).isEqualTo("vfio-pci");
    assertThat(machine.driver(SECOND)).isEqualTo("hgrnic");

    CommandLineRun unbind = run("unbind", CARD).assertExit(0);
    assertThat(unbind.out()).isEqualTo("0000:03:00.0 has the driver hgrnic\n");
    assertThat(machine.driver(CARD)).isEqualTo("hgrnic");
  }

  @Test
  void allFunctionsOfAnIdAreBound() {
    assertThat(run("bind", "10ee:9038").out())
        .isEqualTo("0000:03:00.0 is bound to vfio-pci\n0000:04:00.0 is bound to vfio-pci\n");
    assertThat(machine.driver(SECOND)).isEqualTo("vfio-pci");
  }

  @Test
  void allFunctionsOfAClassAreBoundAndEachOnce() {
    assertThat(run("bind", "0207", CARD).out()).isEqualTo("0000:03:00.0 is bound to vfio-pci\n");
  }

  @Test
  void dryRunOnlyPrintsTheCommands() {
    machine.user(1000);

    CommandLineRun bind = run("bind", "--dry-run", CARD).assertExit(0);
    assertThat(bind.out())
        .isEqualTo(
            """
            echo vfio-pci > /sys/bus/pci/devices/0000:03:00.0/driver_override
            echo 0000:03:00.0 > /sys/bus/pci/devices/0000:03:00.0/driver/unbind
            echo 0000:03:00.0 > /sys/bus/pci/drivers_probe
            """);
    assertThat(machine.driver(CARD)).isEqualTo("hgrnic");

    machine.user(0);
    assertThat(run("bind", CARD).exitCode()).isZero();
    assertThat(run("unbind", "--dry-run", CARD).out())
        .isEqualTo(
            """
            echo > /sys/bus/pci/devices/0000:03:00.0/driver_override
            echo 0000:03:00.0 > /sys/bus/pci/devices/0000:03:00.0/driver/unbind
            echo 0000:03:00.0 > /sys/bus/pci/drivers_probe
            """);
    assertThat(machine.driver(CARD)).isEqualTo("vfio-pci");
  }

  @Test
  void onlyRootMayBind() {
    machine.user(1000);

    assertRefused(run("bind", CARD), "only root may bind 0000:03:00.0; fix: sudo hghca bind");
  }

  @Test
  void missingFunctionIsNamed() {
    assertRefused(3, run("bind", "0000:09:00.0"), "no PCI function at 0000:09:00.0", "lspci -Dnn");
    assertRefused(3, run("unbind", "0000:09:00.0"), "no PCI function at 0000:09:00.0");
    assertRefused(run("bind", "mlx5_0"), "'mlx5_0' names no PCI function");
  }

  @Test
  void idOfSeveralIsNotUnbound() {
    assertRefused(run("unbind", "10ee:9038"), "2 PCI functions with id 10ee:9038", CARD, SECOND);
  }

  @Test
  void functionOfAnotherDriverIsNotUnbound() {
    assertRefused(run("unbind", CARD), "driver hgrnic", "is not bound to vfio-pci");
  }

  @Test
  void missingArgumentIsWrongUsage() {
    assertThat(run("bind").exitCode()).isEqualTo(2);
    assertThat(run("unbind").err()).contains("<function>").contains("Usage: hghca unbind");
  }
}

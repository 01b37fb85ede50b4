package org.hghca.tools.bringup.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.tools.bringup.command.BringupRun.bringup;

import com.fasterxml.jackson.jr.ob.JSON;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.hghca.model.SoftwareHca;
import org.hghca.model.VirtioProvider;
import org.hghca.programs.ExitCode;
import org.hghca.tools.CommandLineRun;
import org.hghca.vfio.Locator;
import org.hghca.vfio.user.UserServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Bring-up of virtio network devices: good ones, one without RoCE, and some that are broken. */
class BringupVirtioTest {
  @TempDir private Path directory;

  @Test
  void softwareDevicePassesEveryStep() throws Exception {
    Path json = directory.resolve("report.json");
    Path html = directory.resolve("report.html");
    CommandLineRun run =
        bringup("-d", "virtio:board?hub=bringup", "--json=" + json, "--html=" + html).assertExit(0);
    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .containsSubsequence(
            " 1/55 PASS  open ",
            "PASS  pci.capabilities",
            "PASS  virtio.structures",
            "PASS  virtio.features",
            "PASS  virtio.config",
            "PASS  virtio.queues",
            "PASS  virtio.negotiate",
            "PASS  net.queues",
            "PASS  net.start",
            "PASS  net.control",
            "PASS  net.transmit",
            "PASS  net.queue-reset",
            "PASS  roce.offer",
            "PASS  roce.limits",
            "PASS  roce.objects",
            "PASS  virtio.close",
            "PASS  driver.open",
            "PASS  rc.send",
            "PASS  rc.many",
            "PASS  ud.send",
            "PASS  err.rkey",
            "PASS  event.cq",
            "PASS  speed",
            "PASSED, profile virtio, 53 passed, 0 warnings, 0 failed, 0 not judged, 2 skipped")
        .doesNotContain("expected  ");
    Map<String, Object> report = JSON.std.mapFrom(Files.readString(json));
    assertThat(report).containsEntry("outcome", "PASSED").containsEntry("profile", "virtio");
    assertThat((List<?>) report.get("steps")).hasSize(55);
    assertThat(Files.readString(html)).contains("Bring-up: PASSED", "VIRTIO_F_RING_RESET");
  }

  @Test
  void verboseNamesFeaturesAndQueues() {
    CommandLineRun run =
        bringup("-d", "virtio:board", "-v", "--only", "virtio.queues,net.control").assertExit(0);
    assertThat(run.out())
        .contains("seen      common configuration: BAR0 + 0h, 60 bytes")
        .contains("seen      33 VIRTIO_F_ACCESS_PLATFORM")
        .contains("seen      3 to 34: 4096 entries")
        .contains("seen      command 99: refused")
        .contains("seen      every frame on: OK")
        .contains("source    virtio 1.2, 5.1.6.5 (control virtqueue)");
  }

  @Test
  void deviceWithoutRoceIsBroughtUpAsANetworkDevice() {
    CommandLineRun run = bringup("-d", "virtio:board?roce=none&hub=bringup").assertExit(0);
    assertThat(run.out())
        .contains("PASS  net.control", "PASS  net.transmit", "PASS  virtio.close")
        .containsPattern(
            "SKIP  .* does not offer feature 55; .*: roce.offer, .*driver.open, .*rc.send, ")
        .contains("PASSED, profile virtio, 16 passed, 0 warnings, 0 failed, 0 not judged, ");
  }

  @Test
  void dataGoesToAnotherDevice() {
    CommandLineRun run =
        bringup(
                "-d",
                "virtio:near?hub=bringup-peers",
                "--loop=peer=model:far?hub=bringup-peers",
                "--only=rc.send,rc.write,ud.send,driver.close")
            .assertExit(0);
    assertThat(run.out()).contains("PASS  rc.send", "PASS  rc.write", "PASS  ud.send");
  }

  /** Its ids are known only when it is open. */
  @Test
  void servedDeviceIsRecognized() {
    Path socket = directory.resolve("card");
    SoftwareHca card = VirtioProvider.plugIn(Locator.parse("virtio:served?roce=none&hub=bringup"));
    try (UserServer _ = UserServer.start(socket.toString(), card)) {
      CommandLineRun run = bringup("-d", "vfio-user:" + socket).assertExit(0);
      assertThat(run.out()).contains("PASS  net.transmit", "PASS  net.queue-reset");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "bypasses | virtio.features | VIRTIO_F_ACCESS_PLATFORM is not offered",
        "refuses  | virtio.negotiate | refuses the features",
        "odd      | virtio.queues | queue 0 has 3 entries",
        "deaf     | net.transmit | the frame was not taken within PT0.3S"
      })
  void brokenDeviceFailsTheStepThatShowsIt(String fault, String step, String message) {
    CommandLineRun run =
        bringup("-d", "faulty-virtio:" + fault, "--limit=PT0.3S")
            .assertExit(ExitCode.FAILED.code());
    assertThat(run.out()).containsPattern("FAIL  " + step + " .*\n +.*" + message);
  }

  @Test
  void optionsOfCardsAreRefused() {
    CommandLineRun run =
        bringup("-d", "virtio:board", "--profile=r1").assertExit(ExitCode.USAGE.code());
    assertThat(run.err()).contains("--profile is an option for cards, and virtio:board is none");
  }

  @Test
  void listHasTheStepsOfBothKinds() {
    CommandLineRun run = CommandLineRun.of("bringup", "--list");
    assertThat(run.out())
        .containsSubsequence("hcr.probe ", "A virtio network device:\n", "virtio.negotiate ");
  }
}

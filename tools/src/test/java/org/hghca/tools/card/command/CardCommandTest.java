package org.hghca.tools.card.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.hghca.tools.CommandLineRun;
import org.hghca.tools.RunningCommand;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunctions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code hghca card}: scripts, the prompt, output and exit codes. */
class CardCommandTest {
  @TempDir Path folder;

  private CommandLineRun card(String device, String... lines) {
    return CardScript.run(folder, List.of(), device, lines);
  }

  private CommandLineRun card(List<String> options, String device, String... lines) {
    return CardScript.run(folder, options, device, lines);
  }

  private List<Map<String, Object>> json(String device, String... lines) {
    return CardScript.json(folder, device, lines);
  }

  /** A software HCA that is attached cannot be attached again. */
  private static void assertGivenBack(String locator) {
    PciFunctions.open(Locator.parse(locator)).close();
  }

  @ParameterizedTest
  @CsvSource({"s, 0x80000", "r1, 0x00000", "r2, 0x00000"})
  void cardIsBroughtUpToItsTables(String profile, String hcr) {
    CommandLineRun run =
        card("model:c?profile=" + profile, "# a comment", "", "cfg", "probe", "init # now", "quit")
            .assertExit(0);
    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .containsSubsequence(
            "card> cfg\n",
            "card> probe\n",
            "card> init # now\n",
            "reset         done\n",
            "hcr           " + hcr + "\n",
            "profile       " + profile + "\n",
            "INIT_HCA\n",
            "MAP_ICM\n",
            "  MPT  2 pages at 0x");
    assertGivenBack("model:c");
  }

  @Test
  void linesBehindQuitAreNotRun() {
    CommandLineRun run = card("model:c", "quit", "nosuch").assertExit(0);
    assertThat(run.out()).isEqualTo("card> quit\n");
  }

  @Test
  void scriptEndsAtItsFirstFailure() {
    CommandLineRun run = card("model:c", "probe", "hcr 0xfff", "init").assertExit(1);
    assertThat(run.out())
        .contains("card> hcr 0xfff", "status_name   BAD_OP")
        .doesNotContain("init");
    assertThat(run.err())
        .isEqualTo(
            "hghca: %s:2: opcode fffh ended with status HGHCA_CMD_STAT_BAD_OP (0x02: wrong opcode)\n"
                .formatted(folder.resolve("lines")));
  }

  @Test
  void scriptThatKeepsGoingRunsAllLines() {
    CommandLineRun run =
        card(List.of("--keep-going"), "model:c", "hcr 0xfff", "probe").assertExit(1);
    assertThat(run.out()).containsSubsequence("card> hcr 0xfff", "card> probe", "profile  s\n");
  }

  @Test
  void jsonHasAnObjectForEachCommand() {
    List<Map<String, Object>> all =
        json("model:c", "# nothing", "cfg", "nosuch", "hcr NOP", "quit");

    assertThat(all).extracting("command").containsExactly("cfg", "nosuch", "hcr NOP", "quit");
    assertThat(all).extracting("ok").containsExactly(true, false, true, true);
    assertThat(all.get(1)).containsOnlyKeys("schema_version", "command", "ok", "error");
    assertThat(all.get(2)).containsEntry("opcode", "NOP").containsEntry("status", 0);
    CommandLineRun run = card(List.of("--json"), "model:c", "nosuch").assertExit(1);
    assertThat(run.err()).isEmpty();
  }

  @Test
  void configurationSpaceIsDecoded() {
    Map<String, Object> cfg = json("model:c", "cfg", "init", "cfg").get(2);

    assertThat(cfg)
        .containsEntry("ok", true)
        .containsEntry("command_register", List.of("memory space", "bus master"))
        .containsEntry("status_register", List.of("capability list"));
    assertThat((List<?>) cfg.get("bars"))
        .extracting("bar", "size")
        .asString()
        .startsWith("[(0, 1048576), (2, 8388608)");
    assertThat(cfg.get("capabilities").toString())
        .contains("name=PCI Express", "function_level_reset=true", "speed=8 GT/s, lanes=8")
        .contains("name=MSI-X", "vectors=32");
    assertThat(cfg.get("extended_capabilities").toString())
        .contains("name=device serial number", "serial_number=");
  }

  @Test
  void registersAreReadAndWritten() {
    List<Map<String, Object>> all =
        json(
            "model:c?profile=r1",
            "reg write 0+0 0x12345678",
            "reg read 0+0h",
            "cfg read 0x0e 8",
            "hcr QUERY_ADAPTER",
            "reg read 0+0x18");

    assertThat(all).extracting("ok").doesNotContain(false);
    assertThat(all.get(1)).containsEntry("value", 0x12345678).containsEntry("bits", 32);
    assertThat(all.get(2)).containsEntry("value", 0);
    assertThat(all.get(4)).containsEntry("go", false).containsEntry("op", 6);
  }

  @Test
  void commandThatDoesNotEndStopsTheSession() {
    CommandLineRun run =
        card(List.of("--keep-going"), "faulty:hang", "hcr INIT_HCA --unsafe", "init", "cfg")
            .assertExit(4);
    assertThat(run.err().lines().toList().get(1))
        .contains("lines:2: ", "did not complete INIT_HCA", "within PT1S");
    assertThat(run.out()).contains("profile       s", "card> cfg\nvendor");
    assertGivenBack("model:hang");
  }

  @Test
  void stoppedCardWorksAgainAfterInit() {
    CommandLineRun run =
        card(
                List.of("--keep-going"),
                "model:c?profile=r1",
                "hcr QUERY_QP in_modifier=5 --unsafe",
                "init",
                "hcr QUERY_QP in_modifier=5")
            .assertExit(4);
    assertThat(run.err().lines()).singleElement().asString().contains("did not end opcode 022h");
    assertThat(run.out()).contains("layout  QPC");
  }

  /** Runs the prompt with standard input of its own. */
  private static void withInput(InputStream input, Body body) throws Exception {
    InputStream before = System.in;
    System.setIn(input);
    try {
      body.run();
    } finally {
      System.setIn(before);
    }
  }

  private interface Body {
    void run() throws Exception;
  }

  @Test
  void promptEndsWithItsInputAndGoesOnAfterAFailure() throws Exception {
    byte[] lines = "nosuch\nprobe".getBytes(StandardCharsets.UTF_8);
    withInput(
        new ByteArrayInputStream(lines),
        () -> {
          CommandLineRun run = CommandLineRun.of("card", "-d", "model:c").assertExit(1);
          assertThat(run.err()).startsWith("hghca: there is no command 'nosuch'");
          assertThat(run.out()).contains("profile  s\n");
        });
  }

  @Test
  void interruptAtThePromptGivesTheCardBack() throws Exception {
    try (PipedInputStream input = new PipedInputStream();
        PipedOutputStream typed = new PipedOutputStream(input)) {
      withInput(
          input,
          () -> {
            try (RunningCommand running = RunningCommand.start("card -d model:prompt")) {
              typed.write("init\n".getBytes(StandardCharsets.UTF_8));
              typed.flush();
              running.awaitOutput("MAP_ICM");
              running.interrupt();
              assertThat(running.await().exitCode()).isEqualTo(130);
            }
            assertGivenBack("model:prompt");
          });
    }
  }

  @Test
  void helpNamesEveryCommand() {
    Map<String, Object> help = json("model:c", "help").getFirst();

    assertThat(help.keySet())
        .containsAll(Arrays.asList("help", "quit", "cfg", "probe", "init", "hcr", "reg", "dump"));
  }
}

package org.hghca.tools.bringup.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.tools.bringup.command.BringupRun.bringup;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.hghca.tools.CommandLineRun;
import org.hghca.tools.bringup.Bringup;
import org.hghca.tools.bringup.BringupReport;
import org.hghca.tools.bringup.board.BringupOptions;
import org.hghca.tools.bringup.step.Capability;
import org.hghca.tools.bringup.step.Step;
import org.hghca.tools.bringup.step.StepResult;
import org.hghca.tools.bringup.step.Verdict;
import org.hghca.verbs.RdmaDevices;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Element;
import org.xml.sax.SAXException;

/** The command {@code bringup}, its options and its reports. */
class BringupCommandTest {
  private static final String FALLBACK =
      "hghca: no card found, using the embedded software HCA (model:)";

  @TempDir private Path directory;

  @Test
  void softwareHcaPassesEveryStep() {
    CommandLineRun run = bringup("-d", "model:board", "--destructive").assertExit(0);
    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .containsSubsequence(
            " 1/77 PASS  open ",
            "PASS  pci.identity",
            "PASS  hcr.probe",
            "PASS  cmd.dev-lim",
            "PASS  hca.init",
            "PASS  icm.qpc",
            "PASS  qp.query",
            "PASS  qp.distinct",
            "PASS  path.doorbell",
            "PASS  loop.send",
            "PASS  path.datagram",
            "PASS  rc.send",
            "PASS  rc.many",
            "PASS  ud.send",
            "PASS  err.rkey",
            "PASS  event.cq",
            "PASS  event.interrupt",
            "PASS  speed",
            "PASS  stop.read",
            "PASS  stop.last-element",
            "PASS  stop.psn-wrap",
            "model:board: PASSED, profile s, 76 passed, 0 warnings, 0 failed, 0 not judged, 1"
                + " skipped")
        .doesNotContain("FAIL", "expected  ");
  }

  @Test
  void speedIsMeasuredAsPerfMeasuresIt() throws Exception {
    Path json = directory.resolve("speed.json");
    Path html = directory.resolve("speed.html");
    CommandLineRun run =
        bringup("-d", "model:board", "-v", "--only=speed", "--json=" + json, "--html=" + html)
            .assertExit(0);
    for (int size : new int[] {8, 4096, 65_536}) {
      assertThat(run.out())
          .containsPattern(
              "seen +ib_write_bw, RC, " + size + " bytes: [0-9,.]+ MiB/s, [0-9,]+ messages/s\n");
    }
    assertThat(run.out()).containsPattern("seen +ib_send_lat, RC, 8 bytes: typical [0-9.]+, 99 % ");
    List<?> steps = (List<?>) JSON.std.mapFrom(Files.readString(json)).get("steps");
    Map<?, ?> speed =
        steps.stream()
            .map(step -> (Map<?, ?>) step)
            .filter(step -> step.get("id").equals("speed"))
            .findFirst()
            .orElseThrow();
    assertThat((List<?>) speed.get("tests")).hasSize(2);
    Map<?, ?> writes = (Map<?, ?>) ((List<?>) speed.get("tests")).getFirst();
    assertThat((List<?>) writes.get("results"))
        .extracting("MsgSize")
        .asString()
        .isEqualTo("[8, 4096, 65536]");
    String page = Files.readString(html);
    assertThat(page)
        .contains("<figcaption>Throughput by size</figcaption>")
        .contains("<figcaption>Distribution of latencies</figcaption>")
        .contains(".plots svg");
    assertThat(page.split("<svg", -1)).hasSizeGreaterThan(3);
  }

  @Test
  void verboseShowsExpectedAndSeenValuesAndEveryCommand() {
    CommandLineRun run = bringup("-d", "model:board", "-v", "--only", "cmd.dev-lim").assertExit(0);
    assertThat(run.out())
        .contains("expected  reserved bits 0")
        .contains("seen      16,384 QPs")
        .contains("command   QUERY_DEV_LIM op_modifier 0")
        .contains("source    interface document, tables 3-2-3 and 3-2-4");
  }

  @Test
  void unselectedStepsAreSkipped() {
    CommandLineRun run = bringup("-d", "model:board", "--only", "hca.init").assertExit(0);
    assertThat(run.out())
        .contains("PASS  hca.init")
        .containsPattern("SKIP  not selected: .*icm.qpc, .*driver.open, ");
  }

  @Test
  void dependentsOfSkippedStepsAreSkipped() {
    CommandLineRun run = bringup("-d", "model:board", "--skip", "icm.mtt,speed").assertExit(0);
    assertThat(run.out())
        .containsPattern("SKIP  skipped by --skip: icm.mtt, .*qp.modify, .*speed\n")
        .contains("PASS  rc.send");
  }

  @Test
  void withoutLoopDataStepsAreSkippedWithoutAFailure() {
    CommandLineRun run = bringup("-d", "model:board", "--loop", "none").assertExit(0);
    assertThat(run.out())
        .containsPattern("SKIP  --loop=none: data steps skipped: loop.send, .*rc.send, ")
        .contains("PASS  path.doorbell", "PASS  path.datagram", "PASS  err.flush");
  }

  @Test
  void riskInTheLocatorIsAWarning() {
    CommandLineRun run =
        bringup("-d", "model:board?profile=r1&outstanding=8", "-v", "--only", "driver.open")
            .assertExit(0);
    assertThat(run.out())
        .containsPattern("WARN  driver.open .*\n.*outstanding=8 in the locator, where 1 is safe")
        .contains("seen      sends of a queue pair in the card: 8 at a time")
        .contains("1 warnings, 0 failed");
  }

  @ParameterizedTest
  @CsvSource({"profile=r1, 1 at a time", "profile=r1&outstanding=1, 1 at a time", "outstanding=8,"})
  void withoutARiskThereIsNoWarning(String parameters, String sends) {
    CommandLineRun run =
        bringup("-d", "model:board?" + parameters, "-v", "--only", "driver.open").assertExit(0);
    assertThat(run.out()).contains("PASS  driver.open", "0 warnings");
    if (sends == null) {
      assertThat(run.out()).doesNotContain("sends of a queue pair");
    } else {
      assertThat(run.out()).contains("seen      sends of a queue pair in the card: " + sends);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"faulty:deaf", "faulty:deaf?profile=r1"})
  void deadDoorbellIsNoMissingLoop(String device) {
    CommandLineRun run = bringup("-d", device, "--limit", "PT1S").assertExit(1);
    assertThat(run.out())
        .contains("FAIL  path.doorbell")
        .contains("the doorbell did not arrive")
        .containsPattern(
            "OPEN  needs doorbells and completions: path.doorbell failed: loop.send, ");
  }

  @Test
  void announcedLoopThatIsMissingFails() {
    CommandLineRun run =
        bringup(
                "-d",
                "model:x?fault=deaf-receiver",
                "--limit",
                "PT1S",
                "--loop",
                "plug",
                "--only",
                "loop.send")
            .assertExit(1);
    assertThat(run.out()).containsPattern("FAIL  loop.send").contains("although there is a plug");
  }

  @Test
  void peerIsTheOtherEndOfACable() {
    CommandLineRun run =
        bringup("-d", "model:near?cable=bringup", "--loop", "peer=model:far?cable=bringup")
            .assertExit(0);
    assertThat(run.out())
        .containsPattern("SKIP  the loop is a peer: .*loop.send")
        .contains(
            "PASS  rc.send", "PASS  rc.read", "PASS  rc.many", "PASS  ud.send", "PASS  speed");
  }

  @Test
  void peerThatIsNotConnectedFails() {
    CommandLineRun run =
        bringup(
                "-d",
                "model:near?cable=one",
                "--limit",
                "PT0.2S",
                "--only",
                "driver.loop",
                "--loop",
                "peer=model:far?cable=two")
            .assertExit(1);
    assertThat(run.out())
        .contains("FAIL  driver.port")
        .contains("PORT_DOWN, and --loop names a peer");
  }

  @Test
  void wrongBytesFailTheirStepAndAreShown() {
    CommandLineRun run = bringup("-d", "faulty:wrong-limits").assertExit(1);
    assertThat(run.out())
        .contains("FAIL  cmd.dev-lim")
        .contains("DEV_LIM: 1 of 64 bytes differ, the first at 04h")
        .contains("expected  000:  01 00 00 00  00 00 00 00")
        .contains("seen      000:  01 00 00 00  80 00 00 00")
        .contains("look at   ")
        .containsPattern("OPEN  needs right answers of commands: cmd.dev-lim failed: driver.open")
        .contains("PASS  cmd.adapter")
        .contains("faulty:wrong-limits: FAILED");
  }

  @Test
  void withoutACardTheSoftwareHcaIsUsedWithANotice() {
    assumeTrue(RdmaDevices.list().isEmpty(), "there is a card in this machine");

    CommandLineRun run = bringup("--only", "open").assertExit(0);
    assertThat(run.err()).isEqualTo(FALLBACK + "\n");
  }

  @Test
  void onlyOneReportGoesToStdout() {
    CommandLineRun run = bringup("--json", "-", "--html", "-").assertExit(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err())
        .contains("only one of --json, --json-lines, --junit and --html can go to stdout");
  }

  @Test
  void listShowsStepsAndSourcesWithoutOpeningADevice() {
    CommandLineRun run = CommandLineRun.of("bringup", "--list").assertExit(0);
    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .contains("cmd.dev-lim ")
        .contains("interface document, tables 3-2-3 and 3-2-4")
        .contains("(--destructive)");
  }

  @ParameterizedTest
  @ValueSource(strings = {"model:", "virtio:"})
  void everyStepHasAUniqueNameAndNeedsOnlyWhatOneEarlierStepShows(String device) {
    Set<String> earlier = new HashSet<>();
    Set<Capability> shown = EnumSet.noneOf(Capability.class);

    for (Step step : new Bringup(BringupOptions.of(device)).steps()) {
      assertThat(shown).as(step.id()).containsAll(step.needs());
      step.gives().forEach(what -> assertThat(shown.add(what)).as(step.id()).isTrue());
      assertThat(earlier.add(step.id())).as(step.id()).isTrue();
      assertThat(step.source()).as(step.id()).isNotBlank();
      assertThat(step.next()).as(step.id()).isNotBlank();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "--loop, ring",
    "--loop, peer=nothing",
    "--profile, r9",
    "--limit, soon",
    "--limit, PT0S",
    "-d, model:x?slow=much",
    "--seconds, 61",
    "--seconds, NaN",
    "--only, nosuch",
    "--skip, nosuch",
    "-d, nocolon",
    "--nosuch, 1"
  })
  void wrongUsageIsExitCode2(String option, String value) {
    CommandLineRun run = CommandLineRun.of("bringup", "-d", "model:x", option, value).assertExit(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err()).contains("Usage: hghca bringup").contains("--help-all");
  }

  @Test
  void slowBoardHasTheTimeThatItNeeds() {
    BringupOptions options = BringupOptions.of("model:x?slow=1000");

    assertThat(options.limit()).isEqualTo(Duration.ofSeconds(2000));
    assertThat(options.patience()).isGreaterThan(options.limit());
    assertThat(
            CommandLineRun.of("bringup", "-d", "model:x?slow=7", "--only", "open,pci.identity")
                .out())
        .contains("0 failed");
  }

  @Test
  void unwritableFileIsReportedBeforeTheSession(@TempDir Path folder) throws IOException {
    Path nowhere = folder.resolve("no/where.json");
    CommandLineRun run =
        CommandLineRun.of("bringup", "-d", "model:x", "--json=" + nowhere).assertExit(5);
    assertThat(run.out()).isEmpty();
    assertThat(run.err())
        .isEqualTo(
            "hghca: %s cannot be written: %s is not a folder: name another file\n"
                .formatted(nowhere, nowhere.getParent()));
    assertThat(CommandLineRun.of("bringup", "-d", "model:x", "--html=" + folder).err())
        .isEqualTo(
            "hghca: %s cannot be written: it is a folder: name another file\n".formatted(folder));
  }

  @Test
  void unwritableFileDoesNotAffectTheOthers(@TempDir Path folder) {
    Path html = folder.resolve("steps.html");
    CommandLineRun run =
        CommandLineRun.of(
                "bringup", "-d", "model:x", "--only=open", "--json=/dev/full", "--html=" + html)
            .assertExit(5);
    assertThat(run.err())
        .isEqualTo(
            "hghca: /dev/full cannot be written: No space left on device: name another file\n");
    assertThat(html).content().contains("Bring-up: PASSED");
  }

  @Test
  void interruptedSessionEndsAfterTheCurrentStep() {
    List<StepResult> results = new ArrayList<>();
    BringupReport report =
        new Bringup(SessionOptions.of("model:interrupted").withoutLoop().done())
            .run(
                result -> {
                  results.add(result);
                  if (results.size() == 3) {
                    Thread.currentThread().interrupt();
                  }
                });

    assertThat(report.outcome()).isEqualTo(BringupReport.Outcome.INTERRUPTED);
    assertThat(report.results()).hasSizeGreaterThan(50);
    assertThat(report.results().subList(0, 3)).allMatch(result -> result.verdict() == Verdict.PASS);
    assertThat(report.results().getLast().reason()).isEqualTo("interrupted");
    // The board was released.
    assertThat(CommandLineRun.of("info", "-d", "model:interrupted").exitCode()).isZero();
  }

  @Test
  void helpNamesTheExitCodes() {
    assertThat(CommandLineRun.of("bringup", "--help-all").out())
        .contains("Exit codes:")
        .contains("3", "A device does not exist or cannot be opened.")
        .contains("4", "The card stopped answering.");
  }

  @Test
  void jsonOnStandardOutputIsTheWholeOutput() throws IOException {
    CommandLineRun run = bringup("-d", "faulty:wrong-limits", "--json", "-");

    Map<String, Object> json = JSON.std.mapFrom(run.out());
    assertThat(json)
        .containsEntry("device", "faulty:wrong-limits")
        .containsEntry("outcome", "FAILED")
        .containsEntry("exit_code", 1)
        .containsEntry("profile", "s")
        .containsEntry("fail", 1);
    List<?> steps = (List<?>) json.get("steps");
    assertThat(steps).hasSize(77);
    Map<?, ?> failed =
        steps.stream()
            .map(step -> (Map<?, ?>) step)
            .filter(step -> step.get("verdict").equals("FAIL"))
            .findFirst()
            .orElseThrow();
    assertThat(failed.get("id")).isEqualTo("cmd.dev-lim");
    assertThat(failed.toString()).contains("first_difference=4");
  }

  @Test
  void jsonHasTheMailboxesOfCommands() throws IOException {
    CommandLineRun run = bringup("-d", "model:board", "--only", "hca.init", "--json", "-");

    assertThat(JSON.std.mapFrom(run.out()).toString())
        .contains("name=INIT_HCA")
        .contains("status=HGHCA_CMD_STAT_OK")
        .containsPattern("inbox=0000000000000000[0-9a-f]{112}");
  }

  @Test
  void junitIsWellFormedAndCounts() throws IOException, ParserConfigurationException, SAXException {
    Path file = directory.resolve("report.xml");

    bringup("-d", "faulty:wrong-limits", "--junit", file.toString());

    Element suite =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(file.toFile())
            .getDocumentElement();
    int cases = suite.getElementsByTagName("testcase").getLength();
    int failures = suite.getElementsByTagName("failure").getLength();
    int skipped = suite.getElementsByTagName("skipped").getLength();
    assertThat(suite.getTagName()).isEqualTo("testsuite");
    assertThat(suite.getAttribute("tests")).isEqualTo("77").isEqualTo(Integer.toString(cases));
    assertThat(suite.getAttribute("failures")).isEqualTo("1").isEqualTo(Integer.toString(failures));
    assertThat(suite.getAttribute("skipped")).isEqualTo(Integer.toString(skipped));
    assertThat(suite.getAttribute("errors")).isEqualTo("0");
    assertThat(skipped).isGreaterThan(30);
  }

  @Test
  void htmlIsSelfContained() throws IOException {
    Path file = directory.resolve("report.html");

    CommandLineRun run = bringup("-d", "faulty:wrong-limits", "--html", file.toString());

    String html = Files.readString(file, StandardCharsets.UTF_8);
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(html)
        .startsWith("<!DOCTYPE html>")
        .endsWith("</html>\n")
        .contains("<title>Bring-up of faulty:wrong-limits: FAILED</title>")
        .contains("<td class=\"group differs\">80</td>")
        .doesNotContain("http:", "https:", "//", "src=", "<link", "<script", "@import", "url(");
    assertThat(html.split("<details", -1)).hasSameSizeAs(html.split("</details>", -1));
    assertThat(html.split("<table", -1)).hasSameSizeAs(html.split("</table>", -1));
  }

  @Test
  void everythingIsEscaped() throws IOException {
    Path html = directory.resolve("report.html");
    Path xml = directory.resolve("report.xml");

    bringup(
        "-d",
        "model:<b>&\"x'",
        "--only",
        "open",
        "--html",
        html.toString(),
        "--junit",
        xml.toString());

    assertThat(html).content().contains("model:&lt;b&gt;&amp;\"x'").doesNotContain("<b>&");
    assertThat(xml).content().contains("model:&lt;b&gt;&amp;").doesNotContain("<b>");
  }
}

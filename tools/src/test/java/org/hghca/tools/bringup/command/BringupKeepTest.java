package org.hghca.tools.bringup.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.hghca.tools.CommandLineRun;
import org.hghca.tools.Fault;
import org.hghca.tools.RunningCommand;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunctions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code hghca bringup --keep} and {@code --mark}. */
class BringupKeepTest {
  @TempDir private Path folder;

  private static final Pattern NUMBERS = Pattern.compile("the card has (?:\\.\\.\\., )?(\\d+)");

  /** Runs a bring-up with the lines as standard input. */
  private static CommandLineRun keep(String lines, String... options) {
    InputStream before = System.in;
    System.setIn(new ByteArrayInputStream(lines.getBytes(StandardCharsets.UTF_8)));
    try {
      List<String> words = new ArrayList<>(List.of("bringup", "--seconds", "0"));
      words.addAll(Arrays.asList(options));
      return CommandLineRun.of(words.toArray(String[]::new));
    } finally {
      System.setIn(before);
    }
  }

  private static void assertGivenBack(String locator) {
    PciFunctions.open(Locator.parse(locator)).close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"s", "r1"})
  void cardIsKeptAsTheFirstFailureHasLeftIt(String profile) {
    CommandLineRun run =
        keep(
                "dump qp 8\ndump ring qp 8\n",
                "-d",
                "model:kept?fault=dead-doorbell&profile=" + profile,
                "--keep")
            .assertExit(1);
    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .contains("--keep ended the steps at path.doorbell: loop.send")
        .containsSubsequence(
            "the card is kept as path.doorbell has left it",
            "table         table 3-2-40 (QPC)\n",
            "fields as they were sent",
            "object   ring of qp\n",
            "doorbell     qpn=8 sq_head=0x0 size0=2",
            "slot=0 offset=0x0 state=written");
    assertGivenBack("model:kept");
  }

  @Test
  void contradictionOfTheCardIsMarked() {
    CommandLineRun run =
        keep("dump qp 8\ndump ring qp 8\ndump ring cq 20\n", "-d", "model:", "--keep=path.doorbell")
            .assertExit(0);
    assertThat(run.out())
        .containsSubsequence(
            "  state                    3 (RTS)\n",
            "card\n",
            "  state  6 (ERR)\n",
            "inconsistent  state: card 6 (ERR), driver 3 (RTS)\n",
            "inconsistent: key 0x00f1f1f1, MPT 15856113: was not sent\n")
        .doesNotContain("PASS  loop.send");
  }

  /** The numbers of the driver's queue pairs differ from run to run. */
  @ParameterizedTest
  @ValueSource(strings = {"s", "r1", "r2"})
  void objectsOfTheDriverAreKept(String profile) throws Exception {
    String step = "rc.send";
    InputStream before = System.in;
    try (PipedInputStream input = new PipedInputStream();
        PipedOutputStream typed = new PipedOutputStream(input)) {
      System.setIn(input);
      String device = "model:kept-" + profile;
      try (RunningCommand running =
          RunningCommand.start(
              "bringup --seconds 0 -d %s?profile=%s --keep=%s --only %s"
                  .formatted(device, profile, step, step))) {
        running.awaitOutput("the card is kept as " + step);
        type(typed, "dump qp");
        Matcher numbers = NUMBERS.matcher(running.awaitError("the card has"));
        assertThat(numbers.find()).isTrue();
        String qpn = numbers.group(1);
        type(typed, "dump qp " + qpn);
        type(typed, "dump ring qp " + qpn);
        type(typed, "hcr NOP");
        type(typed, "init");
        type(typed, "quit");
        CommandLineRun run = running.await().assertExit(0);
        assertThat(run.out())
            .containsSubsequence(
                "number        " + qpn + "\n",
                "state                    " + (profile.equals("s") ? "3 (RTS)" : "2 (RTR)"),
                "local_qpn                " + text(qpn),
                "object   ring of qp\n",
                "doorbell     qpn=" + qpn + " ",
                "unit=next ",
                "unit=data ",
                "opcode        NOP");
        assertThat(run.out())
            .doesNotContain("not known: key", "was taken back", "is not memory that is mapped");
        assertThat(run.err()).contains("init would reset the card that bringup has left");
      }
      assertGivenBack(device);
    } finally {
      System.setIn(before);
    }
  }

  /** Without a prompt nothing sees the commands of the driver. */
  @Test
  void reportHasTheCommandsOfTheDriver() throws Exception {
    Path kept = folder.resolve("kept.json");
    Path other = folder.resolve("other.json");
    keep("", "-d", "model:", "--keep=rc.send", "--only=rc.send", "--json=" + kept).assertExit(0);
    assertThat(keep("", "-d", "model:", "--only=rc.send", "--json=" + other).exitCode()).isZero();

    assertThat(commands(kept, "driver.open")).contains("QUERY_DEV_LIM", "INIT_HCA", "MAP_ICM");
    assertThat(commands(kept, "rc.send"))
        .containsSubsequence("SW2HW_MPT", "SW2HW_CQ", "RST2INIT", "INIT2RTR", "RTR2RTS")
        .doesNotContain("INIT_HCA");
    assertThat(commands(other, "rc.send")).isEmpty();
    assertThat(commands(other, "hca.init")).contains("INIT_HCA");
  }

  private static List<String> commands(Path report, String step) throws Exception {
    return ((List<?>) JSON.std.mapFrom(Files.readString(report)).get("steps"))
        .stream()
            .map(each -> (Map<?, ?>) each)
            .filter(each -> each.get("id").equals(step) && each.containsKey("commands"))
            .flatMap(each -> ((List<?>) each.get("commands")).stream())
            .map(each -> (String) ((Map<?, ?>) each).get("name"))
            .toList();
  }

  private static String text(String number) {
    int value = Integer.parseInt(number);
    return value < 10 ? number : "%d (0x%x)".formatted(value, value);
  }

  private static void type(PipedOutputStream typed, String line) throws Exception {
    typed.write((line + "\n").getBytes(StandardCharsets.UTF_8));
    typed.flush();
  }

  @Test
  void interruptAtThePromptKeepsTheVerdict() throws Exception {
    InputStream before = System.in;
    try (PipedInputStream input = new PipedInputStream();
        PipedOutputStream typed = new PipedOutputStream(input)) {
      System.setIn(input);
      try (RunningCommand running =
          RunningCommand.start("bringup -d model:interrupted?fault=dead-doorbell --keep")) {
        running.awaitOutput("the card is kept");
        type(typed, "probe");
        running.awaitOutput("probes\n");
        running.interrupt();
        assertThat(running.await().exitCode()).isEqualTo(1);
      }
      assertGivenBack("model:interrupted");
    } finally {
      System.setIn(before);
    }
  }

  @Test
  void cardThatHasStoppedIsKeptAndSaysSo() {
    CommandLineRun run =
        keep("dump qp 5\nhcr NOP\ncfg\n", "-d", "faulty:hang", "--limit", "PT0.2S", "--keep")
            .assertExit(4);
    assertThat(run.err().lines().toList())
        .satisfiesExactly(
            line -> assertThat(line).contains("dump needs tables that are mapped"),
            line -> assertThat(line).contains("is not free for a command within PT0.2S"));
    assertThat(run.out()).contains("the card is kept as hca.init has left it", "vendor");
    assertGivenBack("model:hang");
  }

  @Test
  void nothingIsKeptOfACardThatIsNotOpen() {
    CommandLineRun run = keep("cfg\n", "-d", "model:c?nosuch=1", "--keep").assertExit(3);
    assertThat(run.out()).endsWith("\nopen has left no open card to keep\n");
  }

  @Test
  void bringUpThatPassesOpensNoPrompt() {
    CommandLineRun run = keep("cfg\n", "-d", "model:", "--keep", "--only", "hcr.nop").assertExit(0);
    assertThat(run.out()).doesNotContain("kept").contains("PASS  hcr.nop");
  }

  @ParameterizedTest
  @CsvSource({
    "--keep --json -, --keep needs stdout for its prompt: write the report to a file",
    "--keep=nosuch, no step is named nosuch",
    "--keep=rc.send --only hcr.nop, --keep=rc.send names a step that does not run: not selected",
    "--keep=stop.read, --keep=stop.read names a step that does not run: it can stop the card",
    "--keep -d virtio:v, --keep and --mark are options for cards",
    "--mark -d virtio:v, --keep and --mark are options for cards"
  })
  void wrongUseIsRefused(String options, String why) {
    List<String> words = new ArrayList<>(Arrays.asList(options.split(" ")));
    if (!words.contains("-d")) {
      words.addAll(List.of("-d", "model:"));
    }
    CommandLineRun run = keep("", words.toArray(String[]::new)).assertExit(2);
    assertThat(run.err()).startsWith(why);
  }

  @ParameterizedTest
  @ValueSource(strings = {"s", "r1", "r2"})
  void markedBringUpPasses(String profile) {
    CommandLineRun run = keep("", "-d", "model:marked?profile=" + profile, "--mark").assertExit(0);
    assertThat(run.out()).contains("--keep and --mark see each doorbell");
  }

  @Test
  void nopPrecedesEachStepWithItsNumber() {
    Fault.TOKENS.clear();
    CommandLineRun run =
        keep("", "-d", "faulty:recorded", "--mark", "--skip", "err.timeout").assertExit(0);
    List<Integer> shown =
        Pattern.compile("(?m)^ *(\\d+)/\\d+ (?:PASS|WARN)  (\\S+)")
            .matcher(run.out())
            .results()
            .map(step -> Integer.valueOf(step.group(1)))
            .toList();
    int first = number(run.out(), "hcr.nop");
    List<Integer> marks =
        Fault.TOKENS.stream().filter(token -> token >= first && token <= shown.getLast()).toList();
    assertThat(marks).containsAll(shown.stream().filter(step -> step >= first).toList());
    assertThat(marks).isSorted().doesNotHaveDuplicates();
    assertThat(Fault.TOKENS.getFirst()).isEqualTo(first);
    assertThat(Fault.TOKENS.indexOf(number(run.out(), "qp.modify")))
        .isGreaterThan(Fault.TOKENS.indexOf(number(run.out(), "eq.entry")));
  }

  private static int number(String out, String step) {
    Matcher line = Pattern.compile("(?m)^ *(\\d+)/\\d+ PASS  " + step + " ").matcher(out);
    assertThat(line.find()).as(step).isTrue();
    return Integer.parseInt(line.group(1));
  }
}

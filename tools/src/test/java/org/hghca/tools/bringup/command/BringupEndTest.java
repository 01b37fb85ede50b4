package org.hghca.tools.bringup.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.hghca.tools.CommandLineRun;
import org.hghca.tools.OwnProgram;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A report is there when the program ends before its time, and the board is given back. */
@Tag("long")
class BringupEndTest {
  private static final String CARD = "vfio-user:";

  @TempDir private Path folder;
  private final List<Process> processes = new ArrayList<>();

  @AfterEach
  void endProcesses() throws InterruptedException {
    for (Process process : processes) {
      process.destroyForcibly().waitFor();
    }
  }

  private Process start(String... words) throws IOException {
    List<String> command = OwnProgram.command(words);
    // What a shell starts in the background ignores SIGINT, and so does all that this starts.
    command.addAll(0, List.of("env", "--default-signal"));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve(processes.size() + ".out").toFile())
            .start();
    processes.add(process);
    return process;
  }

  private void await(Path file, String text, Process process)
      throws IOException, InterruptedException {
    while (!Files.exists(file) || !Files.readString(file).contains(text)) {
      assertThat(process.isAlive()).as("process that writes %s", file).isTrue();
      Thread.yield();
    }
  }

  /** A card that another process serves, so that it outlives the bring-up. */
  private String card() throws IOException, InterruptedException {
    Path socket = folder.resolve("s");
    Process server = start("model", "serve", "--socket", socket.toString());
    while (!Files.exists(socket)) {
      assertThat(server.isAlive()).isTrue();
      Thread.yield();
    }
    return CARD + socket;
  }

  private Path lines() {
    return folder.resolve("a.jsonl");
  }

  private Process bringUpWithoutEnd(String card) throws IOException, InterruptedException {
    Process process =
        start(
            "bringup",
            "-d",
            card,
            "--only=hca.init",
            "--repeat=100000",
            "--json-lines=" + lines(),
            "--json=" + folder.resolve("a.json"));
    await(lines(), "\"round\":2", process);
    return process;
  }

  /** A further bring-up passes, so nothing of the first is left. */
  private void assertGivenBack(String card) {
    CommandLineRun.of("bringup", "-d", card, "--only=hca.init").assertExit(0);
  }

  @Test
  void killedBringUpLeavesWholeLinesWithoutAnEnd() throws Exception {
    String card = card();
    Process process = bringUpWithoutEnd(card);

    process.destroyForcibly().waitFor();

    String text = Files.readString(lines());
    for (String line : text.substring(0, text.lastIndexOf('\n')).split("\n")) {
      assertThat(JSON.std.mapFrom(line)).containsKey("type");
    }
    assertThat(text).doesNotContain("\"type\":\"end\"");
    CommandLineRun.of("bringup", "compare", lines().toString(), lines().toString()).assertExit(0);
    assertGivenBack(card);
  }

  /** A terminal that closes sends SIGHUP. */
  @ParameterizedTest
  @ValueSource(strings = {"HUP", "TERM", "INT"})
  void signalEndsTheReportsAndGivesTheCardBack(String signal) throws Exception {
    String card = card();
    Process process = bringUpWithoutEnd(card);

    new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).start().waitFor();

    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isEqualTo(130);
    List<String> written = Files.readAllLines(lines());
    assertThat(JSON.std.mapFrom(written.getLast()))
        .containsEntry("type", "end")
        .containsEntry("outcome", "INTERRUPTED");
    assertThat(JSON.std.mapFrom(Files.readString(folder.resolve("a.json"))))
        .containsEntry("outcome", "INTERRUPTED");
    assertGivenBack(card);
  }

  /** At the end of the steps, or of the prompt. */
  @ParameterizedTest
  @ValueSource(strings = {"--limit=PT1S", "--keep=hca.init"})
  void boardThatIsNotGivenBackIsAFailure(String option) throws IOException {
    Path json = folder.resolve("c.json");
    InputStream before = System.in;
    System.setIn(InputStream.nullInputStream());
    CommandLineRun run;
    try {
      run =
          CommandLineRun.of(
              "bringup", "-d", "faulty:unreleased", "--only=hca.init", "--json=" + json, option);
    } finally {
      System.setIn(before);
    }

    assertThat(run.exitCode()).as(run.out()).isEqualTo(1);
    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .contains("PASS  hca.init")
        .containsOnlyOnce("      FAIL  the board was not given back: the container is busy\n");
    Map<String, Object> report = JSON.std.mapFrom(Files.readString(json));
    assertThat(report).containsEntry("outcome", "FAILED");
    assertThat((Map<?, ?>) report.get("board"))
        .extracting("not_released")
        .isEqualTo("the container is busy");
  }

  @Test
  void fullDiskIsOneLineAndEndsNothing() throws IOException {
    Path json = folder.resolve("b.json");
    CommandLineRun run =
        CommandLineRun.of(
                "bringup",
                "-d",
                "model:full",
                "--only=hca.init",
                "--json-lines=/dev/full",
                "--json=" + json)
            .assertExit(5);
    assertThat(run.err())
        .isEqualTo(
            "hghca: /dev/full cannot be written: No space left on device: name another file\n");
    assertThat(run.out()).contains("PASS  hca.init", "PASSED");
    Map<String, Object> report = JSON.std.mapFrom(Files.readString(json));
    assertThat(report).containsEntry("outcome", "PASSED");
    assertGivenBack("model:full");
  }

  @Test
  void linesThatCannotBeWrittenAreReportedBeforeTheCardIsOpened() {
    CommandLineRun run =
        CommandLineRun.of("bringup", "-d", "model:x", "--json-lines=" + folder).assertExit(5);
    assertThat(run.out()).isEmpty();
    assertThat(run.err())
        .isEqualTo(
            "hghca: %s cannot be written: it is a folder: name another file\n".formatted(folder));
  }
}

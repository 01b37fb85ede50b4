package org.hghca.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Bash completion and manual pages match the command line. */
class DocumentsTest {
  @TempDir Path folder;

  @BeforeEach
  void write() throws IOException {
    Documents.write(folder);
  }

  private static String run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return process.waitFor() + "\n" + said;
  }

  private String complete(String... words) throws Exception {
    String script =
        "source %s; COMP_WORDS=(%s); COMP_CWORD=%d; _complete_hghca 2> /dev/null; echo \"${COMPREPLY[@]}\""
            .formatted(
                folder.resolve("bash-completion/completions/hghca"),
                String.join(" ", Arrays.stream(words).map(word -> "'" + word + "'").toList()),
                words.length - 1);
    return run("bash", "-c", script);
  }

  @Test
  void commandsAndOptionsAreCompleted() throws Exception {
    assertThat(complete("hghca", "bri")).isEqualTo("0\nbringup\n");
    assertThat(complete("hghca", "model", "se")).isEqualTo("0\nserve\n");
    assertThat(complete("hghca", "info", "--co")).isEqualTo("0\n--counters\n");
    assertThat(complete("hghca", "demo", "--plu")).startsWith("0\n--plugin");
  }

  /** A command line on which there are two devices and two steps. */
  private Path hghca() throws IOException {
    Path program = Files.createDirectories(folder.resolve("bin")).resolve("hghca");
    Files.writeString(
        program,
        """
        #!/bin/sh
        case $1 in
          list) printf 'device GUID\\n------ ----\\nhghca0 1\\nmodel: 2\\n' ;;
          bringup) printf 'open   what\\n  more\\npci.identity   what\\n' ;;
        esac
        """);
    assertThat(program.toFile().setExecutable(true)).isTrue();
    return program;
  }

  @Test
  void valuesAreCompleted() throws Exception {
    String hghca = hghca().toString();
    assertThat(complete(hghca, "info", "-d", "hg")).isEqualTo("0\nhghca0\n");
    assertThat(complete(hghca, "rping", "-d", "mo")).isEqualTo("0\nmodel:\n");
    assertThat(complete(hghca, "bringup", "--only", "pc")).isEqualTo("0\npci.identity\n");
    assertThat(complete(hghca, "bringup", "--profile", "r")).isEqualTo("0\nr1 r2\n");
    assertThat(complete(hghca, "model", "serve", "--kind", "v")).isEqualTo("0\nvirtio\n");
  }

  /** Picocli keeps the values of an option by the label of its parameter. */
  @Test
  void valuesOfNoOptionAreThoseOfAnother() throws IOException {
    String script = Files.readString(folder.resolve("bash-completion/completions/hghca"));
    for (String function : script.split("\nfunction ")) {
      Map<String, String> values = new HashMap<>();
      Matcher lists = Pattern.compile("local (\\w+_option_args)=(\\(.*\\))").matcher(function);
      while (lists.find()) {
        assertThat(values.getOrDefault(lists.group(1), lists.group(2)))
            .as("%s in %s", lists.group(1), function.lines().findFirst().orElse(""))
            .isEqualTo(lists.group(2));
        values.put(lists.group(1), lists.group(2));
      }
    }
  }

  private String fish(String line) throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/fish")), "there is no fish");
    String script =
        "set -x HOME %s; set PATH %s $PATH; source %s; complete -C '%s' | cut -f1"
            .formatted(
                folder,
                hghca().getParent(),
                folder.resolve("fish/vendor_completions.d/hghca.fish"),
                line);
    return run("fish", "--no-config", "-c", script);
  }

  @Test
  void fishCompletesCommandsOptionsAndValues() throws Exception {
    assertThat(fish("hghca bri")).isEqualTo("0\nbringup\n");
    assertThat(fish("hghca model se")).isEqualTo("0\nserve\n");
    assertThat(fish("hghca info --co")).isEqualTo("0\n--counters\n");
    assertThat(fish("hghca info -d hg")).isEqualTo("0\nhghca0\n");
    assertThat(fish("hghca bringup --only pc")).isEqualTo("0\npci.identity\n");
    assertThat(fish("hghca model serve --profile r")).isEqualTo("0\nr1\nr2\n");
  }

  /** A shell with a terminal, in which the tabulator completes the name of the command. */
  @Test
  void zshCompletesByWhatBashHas() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/zsh")), "there is no zsh");
    Path script = folder.resolve("tab.zsh");
    Files.writeString(
        script,
        """
        zmodload zsh/zpty
        zpty shell zsh -f -i
        zpty -w shell "fpath=(%1$s/zsh/site-functions \\$fpath); autoload -U compinit; compinit -u -d %1$s/dump"
        zpty -w shell "hghca() { echo called \\$1; }; echo be; echo gin"
        zpty -r shell said '*be*gin*'
        zpty -w -n shell $'hghca bri\\t; exit\\n'
        while zpty -r shell said; do print -r -- $said; done
        """
            .formatted(folder));
    assertThat(run("zsh", "-f", script.toString())).contains("called bringup");
  }

  @Test
  void everyCommandHasAPage() throws IOException {
    try (Stream<Path> pages = Files.list(folder.resolve("man/man1"))) {
      assertThat(pages.map(page -> page.getFileName().toString()))
          .containsExactlyInAnyOrder(
              "hghca.1",
              "hghca-demo.1",
              "hghca-demo-server.1",
              "hghca-demo-client.1",
              "hghca-list.1",
              "hghca-info.1",
              "hghca-top.1",
              "hghca-metrics.1",
              "hghca-bringup.1",
              "hghca-bringup-compare.1",
              "hghca-card.1",
              "hghca-replay.1",
              "hghca-model.1",
              "hghca-model-serve.1",
              "hghca-model-faults.1",
              "hghca-capture.1",
              "hghca-decode.1",
              "hghca-bind.1",
              "hghca-unbind.1",
              "hghca-sockets.1",
              "hghca-sockets-args.1",
              "hghca-rping.1",
              "hghca-ucmatose.1",
              "hghca-udaddy.1",
              "hghca-mckey.1",
              "hghca-rdma-client.1",
              "hghca-rdma-server.1",
              "hghca-perf.1",
              "hghca-perf-peers.1",
              "hghca-perf-suite.1",
              "hghca-perf-compare.1",
              "hghca-perf-ib_send_bw.1",
              "hghca-perf-ib_send_lat.1",
              "hghca-perf-ib_write_bw.1",
              "hghca-perf-ib_write_lat.1",
              "hghca-perf-ib_read_bw.1",
              "hghca-perf-ib_read_lat.1",
              "hghca-perf-ib_atomic_bw.1",
              "hghca-perf-ib_atomic_lat.1",
              "hghca-rc_pingpong.1",
              "hghca-uc_pingpong.1",
              "hghca-ud_pingpong.1",
              "hghca-srq_pingpong.1",
              "hghca-help.1");
    }
  }

  @Test
  void pageMatchesTheHelp() throws IOException {
    assertThat(Files.readString(folder.resolve("man/man1/hghca-model-serve.1")))
        .startsWith(".TH \"HGHCA-MODEL-SERVE\" 1")
        .contains("hghca\\-model\\-serve \\- Serve a software HCA at a UNIX socket")
        .contains(".TP\n\\fB\\-\\-socket=<path>\\fR\nThe socket.\n")
        .contains(".SH EXIT STATUS\n.TP\n\\fB0\\fR\n");
    assertThat(Files.readString(folder.resolve("man/man1/hghca.1")))
        .contains(".SH COMMANDS\n.TP\n\\fBhghca\\-demo(1)\\fR\nConnect two HCAs");
  }

  @Test
  void pagesAreWellFormed() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/groff")), "there is no groff");
    List<String> command = new ArrayList<>(List.of("groff", "-man", "-ww", "-z", "-Tutf8"));
    try (Stream<Path> pages = Files.list(folder.resolve("man/man1"))) {
      pages.map(Path::toString).sorted().forEach(command::add);
    }
    assertThat(run(command.toArray(String[]::new))).isEqualTo("0\n");
  }
}

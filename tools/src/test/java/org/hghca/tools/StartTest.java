package org.hghca.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a command loads before it prints its first line: nothing that it does not need. */
@Timeout(60)
class StartTest {
  private static final Pattern LOADED = Pattern.compile("\\] (\\S+) source:");

  @TempDir Path folder;

  private List<String> loadedBy(String... command) throws Exception {
    Path classes = folder.resolve("classes.txt");
    List<String> start = OwnProgram.command(command);
    start.add(1, "-Xlog:class+load:file=" + classes);
    Process process =
        new ProcessBuilder(start)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("out").toFile())
            .start();
    assertThat(process.waitFor()).as(Files.readString(folder.resolve("out"))).isZero();
    try (Stream<String> lines = Files.lines(classes)) {
      return lines.map(LOADED::matcher).filter(Matcher::find).map(found -> found.group(1)).toList();
    }
  }

  /** Each of these took longer than what the command does. */
  @Test
  void describingASoftwareHcaLoadsNoXmlNoRecorderNoSystemCallsAndNoOtherCommand() throws Exception {
    assertThat(loadedBy("info", "-d", "model:"))
        .contains("org.hghca.tools.info.InfoCommand", "ch.qos.logback.classic.Logger")
        .doesNotContain(
            "org.hghca.tools.bringup.command.BringupCommand",
            "org.hghca.programs.perf.command.PerfCommand",
            "org.hghca.linux.SystemCalls",
            "jdk.jfr.internal.MetadataRepository",
            "jdk.internal.foreign.abi.DowncallLinker",
            "java.security.SecureRandom",
            "org.xml.sax.helpers.DefaultHandler",
            "ch.qos.logback.core.joran.JoranConfiguratorBase");
  }

  /** Words in which nothing but all commands helps. */
  @Test
  void commandThatIsNotKnownIsComparedWithAll() {
    assertThat(CommandLineRun.of("inof").err()).contains("Did you mean", "info");
    assertThat(CommandLineRun.of("--debug", "list", "--help").out()).contains("Usage: hghca list");
  }
}

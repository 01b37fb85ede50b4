package org.hghca.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.hghca.tools.launch.Setting;
import org.hghca.vfio.kernel.Machine;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Options and files that set what all commands use. */
class SettingsTest {
  @TempDir Path home;

  private Path file;

  @BeforeEach
  void makeFolder() throws IOException {
    file = Files.createDirectories(home.resolve(".config/hghca")).resolve("config");
  }

  @AfterEach
  void clear() {
    System.clearProperty(Setting.DEVICES.property());
  }

  private CommandLineRun run(String... args) {
    return run(Map.of("HOME", home.toString()), args);
  }

  private static CommandLineRun run(Map<String, String> environment, String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exitCode =
        Main.run(Machine.local(), environment, new PrintWriter(out), new PrintWriter(err), args);
    return new CommandLineRun(exitCode, out.toString(), err.toString());
  }

  private void assertRefused(String text, String message) throws IOException {
    Files.writeString(file, text);
    assertThat(run("list")).isEqualTo(new CommandLineRun(2, "", "hghca: " + file + message + "\n"));
  }

  private static String locator(CommandLineRun list) {
    assertThat(list.exitCode()).as(list.toString()).isZero();
    return list.out()
        .lines()
        .filter(line -> line.contains("\"locator\""))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void fileOfTheUserIsRead() throws IOException {
    Files.writeString(file, "# my devices\n\n  devices = model:of-file  \nlog-format=json\n");

    assertThat(locator(run("list", "--json"))).contains("model:of-file");
    assertThat(System.getProperty(Setting.DEVICES.property())).as("afterwards").isNull();
    assertThat(System.getProperty(Setting.LOG_FORMAT.property())).as("afterwards").isNull();
  }

  @Test
  void xdgConfigHomeComesFirst() throws IOException {
    Path other = Files.createDirectories(home.resolve("other/hghca")).resolve("config");
    Files.writeString(file, "devices = model:of-home");
    Files.writeString(other, "devices = model:of-xdg");

    CommandLineRun list =
        run(
            Map.of("HOME", home.toString(), "XDG_CONFIG_HOME", home.resolve("other").toString()),
            "list",
            "--json");
    assertThat(locator(list)).contains("model:of-xdg");
  }

  @Test
  void optionComesBeforePropertyBeforeFile() throws IOException {
    Files.writeString(file, "devices = model:of-file");
    System.setProperty(Setting.DEVICES.property(), "model:of-property");

    assertThat(locator(run("list", "--json"))).contains("model:of-property");
    assertThat(locator(run("list", "--json", "--devices=model:of-option")))
        .contains("model:of-option");
    assertThat(locator(run("--devices=model:of-option", "list", "--json")))
        .contains("model:of-option");
    assertThat(System.getProperty(Setting.DEVICES.property())).isEqualTo("model:of-property");
  }

  @Test
  void unknownKeyIsNamedWithItsLineAndTheNearest() throws IOException {
    assertRefused("# cards\nidz = 10ee:9038\n", ":2: unknown key 'idz': the nearest is 'ids'");
  }

  @Test
  void otherMistakesAreOneLineToo() throws IOException {
    assertRefused("ids\n", ":1: 'ids' is not key = value");
    assertRefused("jmx = true\njmx = false\n", ":2: jmx is there twice");
    assertRefused("log-format = xml\n", ":1: log-format must be text or json, not 'xml'");
    assertThat(run(Map.of(), "list", "--jmx=maybe").err())
        .isEqualTo("hghca: --jmx: jmx must be true or false, not 'maybe'\n");
  }

  @Test
  void fileThatCannotBeReadIsOneLine() throws IOException {
    Files.createDirectory(file);

    assertThat(run("list").err()).startsWith("hghca: cannot read " + file + ": ").hasLineCount(1);
  }

  @Test
  void homeWithoutAFileOrThatIsReadOnlyIsFine() {
    assertThat(home.toFile().setWritable(false)).isTrue();
    try {
      assertThat(run("list", "-V").exitCode()).isZero();
      assertThat(run(Map.of(), "model", "faults")).extracting(CommandLineRun::err).isEqualTo("");
    } finally {
      assertThat(home.toFile().setWritable(true)).isTrue();
    }
  }

  /** Services often have a HOME that is no folder, or one of another user. */
  @Test
  void homeThatCannotBeEnteredIsFine() throws IOException {
    assertThat(run(Map.of("HOME", "/dev/null"), "list", "-V").exitCode()).isZero();

    Files.writeString(file, "nonsense");
    Path closed = file.getParent();
    Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("---------"));
    try {
      assumeThat(Files.exists(file)).as("root enters all folders").isFalse();
      assertThat(run("list", "-V").exitCode()).isZero();
    } finally {
      Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("rwx------"));
    }
  }

  /** Who has a broken file must be able to read how to repair it. */
  @Test
  void helpIsPrintedInSpiteOfABrokenFile() throws IOException {
    Files.writeString(file, "nonsense");

    assertThat(run("list", "--help").exitCode()).isZero();
  }
}

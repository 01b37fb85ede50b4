package org.hghca.tools;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.hghca.programs.ExitCode;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An external backend is found, named and used, and replaces no existing one. */
class PluginTest {
  @TempDir static Path folder;
  private static Path jar;

  @TempDir Path machine;

  @BeforeAll
  static void build() throws IOException {
    jar = ExampleBackend.jar(folder);
  }

  private CommandLineRun run(int user, Map<String, String> environment, String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exitCode =
        Main.run(
            new MadeUpMachine(machine).user(user),
            environment,
            new PrintWriter(out),
            new PrintWriter(err),
            args);
    return new CommandLineRun(exitCode, out.toString(), err.toString());
  }

  private CommandLineRun run(String... args) {
    return run(0, Map.of(), args);
  }

  @Test
  void everyCommandUsesThePluginAndNamesItAtTheStart() {
    CommandLineRun demo =
        run(
            "demo",
            "--plugin=" + jar,
            "--seconds=0",
            "-d",
            "example:a?wire=w",
            "-d",
            "example:b?wire=w&slow=2");

    assertThat(demo.err()).isEqualTo("hghca: plugin example: from " + jar + "\n");
    assertThat(demo.out()).contains("All 10 checks held");
    assertThat(demo.exitCode()).isZero();

    CommandLineRun bringup = run("--plugin=" + jar, "bringup", "-d", "example:c", "--seconds=0");
    assertThat(bringup.out())
        .contains(
            " 0 failed",
            "OPEN  the function has no interrupt vectors that the driver can use: event.interrupt,"
                + " event.ring\n")
        .containsOnlyOnce("OPEN  ");
    assertThat(bringup.exitCode()).as(bringup.out()).isEqualTo(ExitCode.INCOMPLETE.code());
  }

  @Test
  void infoNamesThePlugin() throws IOException {
    assertThat(run("--plugin=" + jar, "info", "-d", "example:a").out())
        .startsWith("plugin:\texample: from " + jar + "\nhca_id:\texample:a\n");
    String json = run("--plugin=" + jar, "info", "--json", "-d", "example:a").out();
    assertThat(JSON.std.mapFrom(json))
        .containsEntry(
            "plugins", List.of(Map.of("jar", jar.toString(), "schemes", List.of("example"))));
  }

  @Test
  void pluginIsLoadedForOneCommandOnly() {
    assertThat(run("--plugin=" + jar, "info", "-d", "example:a").exitCode()).isZero();

    CommandLineRun run = run("info", "-d", "example:a").assertExit(3);
    assertThat(run.err()).contains("no backend for locator 'example:a'", "--plugin");
  }

  @Test
  void environmentIsUsedForUsersAndNotForRoot() {
    Map<String, String> environment = Map.of(Main.ENVIRONMENT, jar + ":");

    assertThat(run(1000, environment, "info", "-d", "example:a").err())
        .isEqualTo("hghca: plugin example: from " + jar + "\n");

    CommandLineRun root = run(0, environment, "info", "-d", "example:a").assertExit(3);
    assertThat(root.err()).startsWith("hghca: HGHCA_PLUGINS is ignored for root: use --plugin\n");
    assertThat(run(0, environment, "info", "--plugin", jar.toString(), "-d", "example:a").out())
        .contains("hca_id:\texample:a");
  }

  @Test
  void existingSchemeCannotBeReplaced() throws IOException {
    for (String scheme : List.of("pci", "vfio-user", "model", "example")) {
      Path thief = thief(scheme);
      CommandLineRun run =
          run("info", "--plugin=" + jar, "--plugin=" + thief, "-d", "model:x").assertExit(2);
      assertThat(run.out()).isEmpty();
      assertThat(run.err())
          .startsWith("hghca: plugin " + thief)
          .contains("Thief cannot take over the scheme " + scheme + ":, which belongs to org.")
          .hasLineCount(1);
    }
  }

  private static Path thief(String scheme) throws IOException {
    Path source =
        Files.writeString(
            Files.createDirectories(folder.resolve(scheme)).resolve("Thief.java"),
            """
            public final class Thief implements org.hghca.vfio.PciFunctionProvider {
              public String scheme() {
                return "%s";
              }
              public java.util.List<org.hghca.vfio.Locator> enumerate() {
                return java.util.List.of();
              }
              public org.hghca.vfio.PciFunction open(org.hghca.vfio.Locator locator) {
                throw new AssertionError();
              }
            }
            """
                .formatted(scheme));
    return ExampleBackend.jar(folder, "thief-" + scheme + ".jar", List.of(source), "Thief");
  }

  @Test
  void faultOfAPluginIsOneMessage() throws IOException {
    assertRefused(folder.resolve("none.jar"), "does not exist");
    assertRefused(Files.writeString(folder.resolve("text.jar"), "text"), "is not a jar");
    assertRefused(
        Files.createDirectories(folder.resolve("classes")),
        "contains no backend: name it in " + ExampleBackend.SERVICES);
    Path missing = Files.createDirectories(folder.resolve("missing"));
    Files.createDirectories(missing.resolve("META-INF/services"));
    Files.writeString(missing.resolve(ExampleBackend.SERVICES), "com.example.Nowhere");
    assertRefused(missing, "com.example.Nowhere not found");
  }

  private void assertRefused(Path plugin, String why) {
    CommandLineRun run = run("info", "--plugin=" + plugin, "-d", "model:x").assertExit(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err()).startsWith("hghca: plugin " + plugin).contains(why).hasLineCount(1);
  }
}

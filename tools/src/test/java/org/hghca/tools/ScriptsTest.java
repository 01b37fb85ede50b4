package org.hghca.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The help of the project's scripts, and their refusals, before they build anything. */
class ScriptsTest {
  private static final Path PROJECT = Path.of("").toAbsolutePath().getParent();

  /** Git as on an unconfigured machine, with an author. */
  private static final Map<String, String> GIT =
      Map.of(
          "GIT_CONFIG_GLOBAL", "/dev/null",
          "GIT_AUTHOR_NAME", "author",
          "GIT_AUTHOR_EMAIL", "author@example.org",
          "GIT_COMMITTER_NAME", "author",
          "GIT_COMMITTER_EMAIL", "author@example.org");

  @TempDir Path folder;

  private CommandLineRun run(Path root, String... command) throws Exception {
    List<String> shell = new ArrayList<>(List.of(command));
    shell.set(0, root.resolve(command[0]).toString());
    Path out = folder.resolve("out");
    Path err = folder.resolve("err");
    ProcessBuilder builder = new ProcessBuilder(shell).directory(folder.toFile());
    builder.environment().putAll(GIT);
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("PATH", stubs() + ":" + builder.environment().get("PATH"));
    Process process = builder.redirectOutput(out.toFile()).redirectError(err.toFile()).start();
    try {
      assertThat(process.waitFor(30, TimeUnit.SECONDS)).as(String.join(" ", command)).isTrue();
      return new CommandLineRun(process.exitValue(), Files.readString(out), Files.readString(err));
    } finally {
      process.destroyForcibly();
    }
  }

  /** A folder with a Maven that builds nothing. */
  private Path stubs() throws IOException {
    Path stubs = Files.createDirectories(folder.resolve("stubs"));
    Path mvn = stubs.resolve("mvn");
    Files.writeString(mvn, "#!/bin/sh\necho 'mvn was called' >&2\nexit 99\n");
    assertThat(mvn.toFile().setExecutable(true)).isTrue();
    return stubs;
  }

  @Test
  void javaIsThatOfTheJdkAndNotThatOfThePath() throws Exception {
    Path java = stubs().resolve("java");
    Files.writeString(java, "#!/bin/sh\nexit 98\n");
    assertThat(java.toFile().setExecutable(true)).isTrue();
    CommandLineRun run = run(PROJECT, "tools/sh/java", "--version").assertExit(0);
    assertThat(run.out()).contains(System.getProperty("java.version"));
  }

  @Test
  void noModuleStartsTheJavaOfThePath() throws IOException {
    try (Stream<Path> files = Files.list(PROJECT)) {
      List<Path> poms =
          files.map(module -> module.resolve("pom.xml")).filter(Files::exists).toList();
      assertThat(poms).hasSizeGreaterThan(10);
      for (Path pom : poms) {
        assertThat(pom).content().doesNotContain("<executable>java</executable>");
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "tools/api-check, exported packages",
    "tools/deb, Debian package",
    "tools/rpm, RPM package",
    "tools/tarball, tar ball",
    "tools/image, container image",
    "tools/release, publishes nothing",
    "tools/check-reproducible, byte by byte",
    "consumers/run, Builds the consumers",
  })
  void helpIsTheHeadOfTheScript(String script, String what) throws Exception {
    for (String option : List.of("--help", "-h")) {
      CommandLineRun run = run(PROJECT, script, option);
      assertThat(run.err()).isEmpty();
      assertThat(run.out()).contains(what).doesNotContain("#", "set -eu");
      assertThat(run.exitCode()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "tools/api-check --nonsense",
        "tools/api-check v0.1.0 v0.2.0",
        "tools/deb --nonsense",
        "tools/deb out.deb",
        "tools/rpm --nonsense",
        "tools/tarball out.tar.gz",
        "tools/image --nonsense",
        "tools/check-reproducible --nonsense",
        "tools/check-reproducible HEAD",
        "tools/release",
        "tools/release 0.1.0",
        "tools/release 0.1 0.2",
        "tools/release v0.1.0 v0.2.0",
        "tools/release 0.1.0 0.2.0 0.3.0",
        "tools/release --nonsense 0.1.0 0.2.0",
        "tools/release --sign",
        "tools/release --sign me@example.org",
        "consumers/run --nonsense",
        "consumers/run one two",
      })
  void unknownArgumentsAreRefusedWithTheUsage(String line) throws Exception {
    String[] command = line.split(" ");
    CommandLineRun run = run(PROJECT, command);

    assertThat(run.out()).isEmpty();
    assertThat(run.err()).startsWith("usage: " + command[0]).hasLineCount(1);
    assertThat(run.exitCode()).isEqualTo(2);
  }

  @Test
  void apiIsComparedWithATagThatExists() throws Exception {
    CommandLineRun run = run(PROJECT, "tools/api-check", "v99.99.99");

    assertThat(run.err()).isEqualTo("api-check: there is no tag v99.99.99: git tag --list\n");
    assertThat(run.exitCode()).isEqualTo(2);
  }

  @Test
  void consumersNeedARepositoryAndTheMessageNamesTheCommand() throws Exception {
    Path nowhere = folder.resolve("no/such/repository");
    CommandLineRun run = run(PROJECT, "consumers/run", nowhere.toString());

    assertThat(run.err())
        .startsWith("There is no org.hghca:hghca:")
        .contains("mvn", "deploy", "local::file:" + nowhere);
    assertThat(run.exitCode()).isEqualTo(1);
  }

  /** A repository of its own, with the files that the script reads before it builds. */
  private Path releasable() throws Exception {
    Path root = Files.createDirectories(folder.resolve("tree"));
    for (String file :
        List.of("tools/release", "tools/sh/jdk.sh", "tools/sh/arguments.sh", "tools/sh/stage.sh")) {
      Files.createDirectories(root.resolve(file).getParent());
      Files.copy(PROJECT.resolve(file), root.resolve(file));
    }
    Files.createDirectories(root.resolve("bom"));
    Files.writeString(
        root.resolve("bom/pom.xml"),
        "<artifactId>hghca-bom</artifactId>\n<version>0.1.0-SNAPSHOT</version>\n");
    Files.writeString(root.resolve("CHANGELOG.md"), "## [Unreleased]\n");
    assertThat(root.resolve("tools/release").toFile().setExecutable(true)).isTrue();
    git(root, "init", "-q");
    commit(root);
    return root;
  }

  private static void commit(Path root) throws Exception {
    git(root, "add", "-A");
    git(root, "commit", "-q", "-m", "all");
  }

  private static void git(Path root, String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of("git"));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).directory(root.toFile());
    builder.environment().putAll(GIT);
    Process git = builder.redirectErrorStream(true).redirectOutput(Redirect.DISCARD).start();
    assertThat(git.waitFor()).as(command.toString()).isZero();
  }

  private void assertNotReleased(Path root, String why) throws Exception {
    CommandLineRun run = run(root, "tools/release", "0.1.0", "0.2.0");

    assertThat(run.out()).isEmpty();
    assertThat(run.err()).isEqualTo("release: " + why + "\n");
    assertThat(run.exitCode()).isEqualTo(1);
  }

  @Test
  void releaseNeedsACleanTreeANewTagAndAChangelog() throws Exception {
    Path root = releasable();
    Files.writeString(root.resolve("new"), "not committed");
    assertNotReleased(root, "there are changes that are not committed: git status");
    Files.delete(root.resolve("new"));
    git(root, "tag", "v0.1.0");
    assertNotReleased(root, "v0.1.0 is a tag already");
    git(root, "tag", "-d", "v0.1.0");
    Files.writeString(root.resolve("CHANGELOG.md"), "# Changes\n");
    commit(root);
    assertNotReleased(root, "CHANGELOG.md has no section [Unreleased]");
  }

  @Test
  void failedReleaseLeavesTheTreeUnchanged() throws Exception {
    Path root = releasable();
    Files.writeString(root.resolve("pom.xml"), "<version>0.1.0-SNAPSHOT</version>\n");
    commit(root);
    CommandLineRun run = run(root, "tools/release", "--quick", "0.1.0", "0.2.0");

    assertThat(run.err())
        .contains("mvn was called\n", "release: failed; the tree is as it was before\n");
    assertThat(run.exitCode()).isEqualTo(99);
    assertThat(root.resolve("pom.xml")).content().contains("0.1.0-SNAPSHOT");
    assertThat(root.resolve("CHANGELOG.md")).hasContent("## [Unreleased]\n");
  }
}

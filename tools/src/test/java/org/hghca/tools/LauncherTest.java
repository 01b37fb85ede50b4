package org.hghca.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code tools/bin/hghca} as a shell starts it, in processes of its own. */
@Tag("long")
@Timeout(300)
class LauncherTest {
  @TempDir Path folder;

  private LauncherTree built() throws IOException {
    return new LauncherTree(Files.createDirectories(folder.resolve("tree"))).build();
  }

  private LauncherTree unbuilt() throws IOException {
    return new LauncherTree(Files.createDirectories(folder.resolve("tree")));
  }

  @Test
  void externalBackendWorksThroughTheLauncher() throws Exception {
    Path jar = ExampleBackend.jar(folder);
    CommandLineRun demo = built().run("$hghca demo --plugin=" + jar + " --seconds=0 -d example:a");

    assertThat(demo.err()).isEqualTo("hghca: plugin example: from " + jar + "\n");
    assertThat(demo.out()).contains("All 10 checks held");
    assertThat(demo.exitCode()).isZero();
  }

  @Test
  void failedOutputIsAnExitCodeAndAMessage() throws Exception {
    LauncherTree tree = built();
    CommandLineRun full = tree.run("$hghca list > /dev/full").assertExit(5);
    assertThat(full.err())
        .endsWith("hghca: the output could not be written: No space left on device\n");
  }

  /** The reader has ended before anything is written. */
  private static CommandLineRun unread(LauncherTree tree, String command) throws Exception {
    return tree.run("$hghca %s | true; exit ${PIPESTATUS[0]}".formatted(command));
  }

  @Test
  void readerThatEndsEarlyIsNoFailure() throws Exception {
    LauncherTree tree = built();
    CommandLineRun silent = new CommandLineRun(0, "", "");
    assertThat(unread(tree, "--help")).isEqualTo(silent);
    assertThat(unread(tree, "help perf")).isEqualTo(silent);
    assertThat(unread(tree, "info -v -d model:")).isEqualTo(silent);
    assertThat(unread(tree, "info --json -d model:")).isEqualTo(silent);
    assertThat(unread(tree, "card -d model: <<< help")).isEqualTo(silent);
    assertThat(unread(tree, "demo --seconds=0 -d model:")).isEqualTo(silent);
    assertThat(unread(tree, "decode " + captureOfFewPackets(tree))).isEqualTo(silent);
  }

  /** At full speed a capture may lose packets, and says so. */
  private Path captureOfFewPackets(LauncherTree tree) throws Exception {
    Path capture = folder.resolve("few.pcapng");
    tree.run("$hghca bringup --only rc.write --seconds=0 -d model:?capture=" + capture)
        .assertExit(0);
    return capture;
  }

  @Test
  void verdictIsKeptWhenNobodyReadsIt() throws Exception {
    LauncherTree tree = built();
    String bringup = "bringup -d model:?drop=1 --only rc.write --seconds=0";
    CommandLineRun read = tree.run("$hghca " + bringup);
    assertThat(read.exitCode()).isNotZero();
    assertThat(unread(tree, bringup)).isEqualTo(new CommandLineRun(read.exitCode(), "", ""));
  }

  @Test
  void endedSessionWritesItsResults() throws Exception {
    LauncherTree tree = built();
    Path json = folder.resolve("steps.json");
    Process process =
        tree.shell("exec $hghca bringup -d model: --seconds=60 --json=" + json)
            .redirectError(folder.resolve("err").toFile())
            .start();
    try {
      var lines = process.inputReader();
      while (!lines.readLine().contains("rc.write")) {
        // The steps before; speed would take minutes.
      }
      process.toHandle().destroy();
      while (lines.readLine() != null) {
        // The report of the end.
      }
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).isEqualTo(130);
      assertThat(JSON.std.mapFrom(Files.readString(json)))
          .containsEntry("exit_code", 130)
          .containsEntry("outcome", "INTERRUPTED");
      assertThat(Files.readString(json)).contains("\"open\"", "interrupted");
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void servedSocketsAreTheOwnersAloneWhateverTheUmask() throws Exception {
    LauncherTree tree = built();
    Path socket = folder.resolve("a.sock");
    for (String umask : List.of("0000", "0077")) {
      Process process =
          tree.shell("umask %s; exec $hghca model serve --socket %s".formatted(umask, socket))
              .start();
      try {
        assertThat(process.inputReader().readLine())
            .startsWith("serving")
            .contains(" on " + socket);
        for (Path file : List.of(socket, folder.resolve("a.sock.capture"))) {
          assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
              .as("%s with umask %s", file, umask)
              .isEqualTo("rw-------");
        }
        process.toHandle().destroy();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
      } finally {
        process.destroyForcibly();
      }
    }
  }

  /** The superuser may give files to any group, unless it lacks the capability. */
  @Test
  void socketOfAGroupThatTheUserIsNotInIsAFailure() throws Exception {
    boolean isRoot = "root".equals(System.getProperty("user.name"));
    Path socket = folder.resolve("a.sock");
    CommandLineRun run =
        built()
            .run(
                "exec %s $hghca model serve --socket %s --socket-group 4242"
                    .formatted(
                        isRoot ? "setpriv --bounding-set=-chown --clear-groups" : "", socket))
            .assertExit(1);
    assertThat(run.err())
        .isEqualTo(
            ("hghca: cannot set who may connect to '%s': Operation not permitted: this user must be"
                    + " a member of the group '4242'\n")
                .formatted(socket));
    assertThat(socket).doesNotExist();
  }

  @Test
  void tooFewOpenFilesAreReported() throws Exception {
    CommandLineRun run = built().run("ulimit -n 20; $hghca list").assertExit(1);
    assertThat(run.err())
        .startsWith("hghca: this shell allows 20 open files and hghca needs ")
        .hasLineCount(1);
  }

  @Test
  void softLimitOfOpenFilesIsRaised() throws Exception {
    assertThat(built().run("ulimit -Sn 20; $hghca info -d model:").exitCode()).isZero();
  }

  @Test
  void failedBuildShowsMavensErrorLines() throws Exception {
    CommandLineRun run =
        unbuilt()
            .program("mvn", "echo '[INFO] much'; echo '[ERROR] no such thing'; exit 1")
            .run("$hghca list")
            .assertExit(1);
    assertThat(run.err())
        .contains("\n[ERROR] no such thing\nhghca: the build failed; its whole log is in ")
        .doesNotContain("much");
  }

  @Test
  void buildSaysWhatItIsDoing() throws Exception {
    String maven =
        """
        echo 'Downloading from central: https://repo.example/a.pom'
        echo 'Downloaded from central: https://repo.example/a.pom (1 kB)'
        echo '[INFO] Building hghca-abi 0.1.0-SNAPSHOT               [2/22]'
        echo '[INFO] --- compiler:3.15.0:compile (default-compile) @ hghca-abi ---'
        echo '[INFO] Building hghca-linux 0.1.0-SNAPSHOT             [4/22]'
        echo '[ERROR] and then it fails'
        exit 1
        """;
    CommandLineRun run = unbuilt().program("mvn", maven).run("$hghca list").assertExit(1);

    assertThat(run.err())
        .containsSubsequence(
            "hghca: building (first use",
            "\nhghca: fetching what Maven needs",
            "\nhghca: building hghca-abi (2 of 22)",
            "\nhghca: building hghca-linux (4 of 22)",
            "\n[ERROR] and then it fails",
            "\nhghca: the build failed;")
        .doesNotContain("\r", "\033", "compiler");
  }

  @Test
  void homeThatMavenCannotWriteToIsReported() throws Exception {
    LauncherTree tree = unbuilt().program("mvn", "exit 99");
    Path home = Files.createFile(folder.resolve("home")); // root writes to any folder
    CommandLineRun run = tree.run("HOME=%s $hghca list".formatted(home)).assertExit(1);

    assertThat(run.err())
        .startsWith("hghca must be built first, and Maven cannot write to " + home)
        .hasLineCount(1);
  }

  @Test
  void failedBuildWithoutErrorLinesShowsTheLastLines() throws Exception {
    CommandLineRun run =
        unbuilt()
            .program("mvn", "seq 100; echo 'Killed by something'; exit 137")
            .run("$hghca list")
            .assertExit(1);
    assertThat(run.err())
        .contains("\n72\n", "\n100\nKilled by something\nhghca: the build failed;")
        .doesNotContain("\n71\n");
  }

  @Test
  void unwritableFolderIsReported() throws Exception {
    LauncherTree tree = unbuilt();
    Path target = tree.root().resolve("tools/target");
    Files.writeString(target, "a file stands where the folder should");
    CommandLineRun run = tree.run("$hghca list").assertExit(1);
    assertThat(run.err())
        .matches("hghca must be built first, and \\S+ cannot write to " + target + ": .*\n");
  }

  @Test
  void folderOfAnotherUserIsReported() throws Exception {
    assumeFalse(System.getProperty("user.name").equals("root"), "root writes everywhere");
    LauncherTree tree = unbuilt();
    assertThat(tree.root().resolve("tools").toFile().setWritable(false)).isTrue();

    assertThat(tree.run("$hghca list").err())
        .startsWith("hghca must be built first, and ")
        .hasLineCount(1);
  }
}

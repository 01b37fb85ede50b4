package org.hghca.tools;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A copy of the parts of the project that the launcher reads: the scripts themselves, and the
 * modules of these tests instead of those of the build.
 */
final class LauncherTree {
  private static final List<String> MODULES =
      List.of(
          "bom",
          "abi",
          "linux",
          "log",
          "vfio",
          "mailbox",
          "icm-manager",
          "uar",
          "verbs",
          "provider-base",
          "virtio",
          "virtio-abi",
          "virtio-driver",
          "wire",
          "device-model",
          "hghca-driver",
          "connection-manager",
          "sockets",
          "programs",
          "tools");

  /** Files of the tests, which are no part of the command line. */
  private static final String OF_TESTS =
      ".*(test-classes|-tests[.]jar|junit|assertj|opentest4j|apiguardian|byte-buddy|surefire"
          + "|jspecify).*";

  private final Path root;

  /** A tree without a build. */
  LauncherTree(Path root) throws IOException {
    this.root = root;
    Path project = Path.of("").toAbsolutePath().getParent();
    try (Stream<Path> launchers = Files.list(project.resolve("tools/bin"))) {
      for (Path launcher : launchers.toList()) {
        copy(project, "tools/bin/" + launcher.getFileName());
      }
    }
    copy(project, "tools/sh/jdk.sh");
    copy(project, "tools/sh/build.sh");
    copy(project, "tools/sh/start.sh");
    Files.createFile(root.resolve("pom.xml"));
    for (String module : MODULES) {
      Files.createDirectories(root.resolve(module).resolve("src/main"));
      Files.createFile(root.resolve(module).resolve("pom.xml"));
    }
  }

  private void copy(Path project, String file) throws IOException {
    Path copy = root.resolve(file);
    Files.createDirectories(copy.getParent());
    Files.copy(project.resolve(file), copy);
    copy.toFile().setExecutable(true);
  }

  /**
   * Adds the build's modules, newer than all sources. A test is skipped where the class path holds
   * no modules, because something else than the build has compiled them.
   */
  LauncherTree build() throws IOException {
    Path libraries = Files.createDirectories(root.resolve("tools/target/lib"));
    assumeTrue(Files.exists(Path.of("target/classes/module-info.class")), "no modules");
    int number = 0;
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      Path path = Path.of(entry).toAbsolutePath();
      if (entry.matches(OF_TESTS)) {
        continue;
      }
      if (Files.isDirectory(path)) {
        Jars.of(path, libraries.resolve("module" + number++ + ".jar"));
      } else {
        Files.copy(path, libraries.resolve(path.getFileName()));
      }
    }
    Files.createFile(root.resolve("tools/target/lib.complete"));
    Files.createFile(cache()); // empty, as where it could not be made: it takes some seconds
    Files.copy(Path.of(System.getProperty("java.home"), "release"), release());
    return this;
  }

  /** What the first start makes for later ones. */
  Path cache() {
    return root.resolve("tools/target/hghca.aot");
  }

  /** Which JDK has made it. */
  Path release() {
    return root.resolve("tools/target/hghca.aot.release");
  }

  Path root() {
    return root;
  }

  Path launcher() {
    return root.resolve("tools/bin/hghca");
  }

  /** Writes a program that is first on the path. */
  LauncherTree program(String name, String script) throws IOException {
    Path program = Files.createDirectories(root.resolve("programs")).resolve(name);
    Files.writeString(program, "#!/bin/sh\n" + script);
    program.toFile().setExecutable(true);
    return this;
  }

  /** A shell in which {@code $hghca} is the launcher. */
  ProcessBuilder shell(String script) {
    ProcessBuilder shell = new ProcessBuilder("bash", "-c", script);
    Map<String, String> environment = shell.environment();
    environment.put("hghca", launcher().toString());
    environment.put("JAVA_HOME", System.getProperty("java.home"));
    environment.put("PATH", root.resolve("programs") + ":" + environment.get("PATH"));
    environment.remove("HGHCA_PLUGINS");
    environment.remove("JDK_JAVA_OPTIONS");
    return shell;
  }

  /** Runs a script in the shell, to its end. */
  CommandLineRun run(String script) throws IOException, InterruptedException {
    Path out = Files.createTempFile(root, "out", "");
    Path err = Files.createTempFile(root, "err", "");
    Process process =
        shell(script).redirectOutput(out.toFile()).redirectError(err.toFile()).start();
    try {
      if (!process.waitFor(120, TimeUnit.SECONDS)) {
        throw new AssertionError("no end: " + script);
      }
      return new CommandLineRun(process.exitValue(), text(out), text(err));
    } finally {
      List<ProcessHandle> all = new ArrayList<>(process.descendants().toList());
      all.forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }

  private static String text(Path file) throws IOException {
    return Files.readString(file, StandardCharsets.UTF_8);
  }
}

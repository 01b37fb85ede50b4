package org.hghca.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The cache of a tree's starts: whatever state it is in, a command prints the same. */
@Tag("long")
@Timeout(300)
class StartCacheTest {
  private static final String COMMAND = "$hghca info --json -d model:";

  @TempDir static Path folder;
  private static LauncherTree tree;
  private static byte[] good;

  /** A tree whose first start has made the cache. */
  @BeforeAll
  static void start() throws Exception {
    tree = new LauncherTree(folder).build();
    Files.delete(tree.cache());
    tree.run(COMMAND).assertExit(0);
    assertThat(tree.cache()).isNotEmptyFile();
    good = Files.readAllBytes(tree.cache());
  }

  @BeforeEach
  void restore() throws IOException {
    Files.write(tree.cache(), good);
  }

  /** Where the class of the command line came from. */
  private static String source() throws Exception {
    Path classes = Files.createTempFile(tree.root(), "classes", "");
    tree.run("JDK_JAVA_OPTIONS=-Xlog:class+load:file=%s %s".formatted(classes, COMMAND));
    try (Stream<String> lines = Files.lines(classes)) {
      return lines
          .filter(line -> line.contains(" " + Main.class.getName() + " "))
          .toList()
          .getFirst();
    }
  }

  private static void assertUsed() throws Exception {
    assertThat(source()).contains("shared objects file");
    assertThat(tree.run(COMMAND)).isEqualTo(withoutCache());
  }

  private static void assertNotUsed() throws Exception {
    assertThat(source()).doesNotContain("shared objects file");
    assertThat(tree.run(COMMAND)).isEqualTo(withoutCache());
  }

  /** As in a tree that cannot have one. */
  private static CommandLineRun withoutCache() throws Exception {
    Files.write(tree.cache(), new byte[0]);
    CommandLineRun run = tree.run(COMMAND).assertExit(0);
    assertThat(run.err()).isEmpty();
    return run;
  }

  private static String flags(String arguments) throws Exception {
    return tree.run("JDK_JAVA_OPTIONS=-XX:+PrintCommandLineFlags $hghca " + arguments).out();
  }

  /** An option may come before the command. */
  @Test
  void whatMovesDataHasBothCompilers() throws Exception {
    String one = "-XX:TieredStopAtLevel=1";
    assertThat(flags("list")).contains("-XX:", one);
    assertThat(flags("--version")).contains(one);
    assertThat(flags("demo --help")).contains("-XX:").doesNotContain(one);
    assertThat(flags("--debug demo --help")).contains("-XX:").doesNotContain(one);
  }

  @Test
  void firstStartMakesItAndLaterOnesUseIt() throws Exception {
    assertUsed();
  }

  /**
   * Java itself would crash on the last, and say of the others on standard output what is wrong.
   */
  @Test
  void damagedOneIsNotUsed() throws Exception {
    byte[] cut = Arrays.copyOf(good, good.length / 2);
    byte[] beginning = good.clone();
    beginning[0] ^= 1;
    byte[] middle = good.clone();
    for (int i = 8192; i < middle.length; i += 65536) {
      middle[i] ^= 0x55;
    }
    for (byte[] damaged : List.of(cut, beginning, middle)) {
      Files.write(tree.cache(), damaged);
      assertNotUsed();
    }
  }

  @Test
  void oneOfAnotherJvmIsNotUsed() throws Exception {
    byte[] cache = good.clone();
    String text = new String(cache, StandardCharsets.ISO_8859_1);
    int build = text.indexOf(System.getProperty("java.vm.version"));
    assertThat(build).isPositive();
    cache[build] ^= 1;
    Files.write(tree.cache(), cache);
    assertNotUsed();
  }

  @Test
  void otherJdkMakesItsOwn() throws Exception {
    String release = Files.readString(tree.release());
    Files.writeString(tree.release(), "JAVA_VERSION=\"99\"\n");
    Files.write(tree.cache(), new byte[] {1});
    assertUsed();
    assertThat(tree.release()).hasContent(release);
  }

  private static Path jar() throws IOException {
    try (Stream<Path> jars = Files.list(tree.root().resolve("tools/target/lib"))) {
      return jars.sorted().toList().getFirst();
    }
  }

  @Test
  void touchedJarMakesItNew() throws Exception {
    FileTime before = Files.getLastModifiedTime(jar());
    FileTime first = Files.getLastModifiedTime(tree.cache());
    Files.setLastModifiedTime(jar(), FileTime.from(first.toInstant().plusMillis(1)));
    assertUsed();
    Files.setLastModifiedTime(jar(), before);
  }

  /** As a copy of an old file does. */
  @Test
  void jarOfAnOlderDayIsNoticedByJava() throws Exception {
    FileTime before = Files.getLastModifiedTime(jar());
    Files.setLastModifiedTime(jar(), FileTime.from(Instant.parse("2020-01-01T00:00:00Z")));
    assertNotUsed();
    Files.setLastModifiedTime(jar(), before);
  }
}

package org.hghca.tools;

import static java.util.function.Predicate.not;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.hghca.tools.CommandPlan.Kind;
import org.hghca.tools.CommandPlan.Section;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every command line of the pages works as it stands, from the launchers of {@code tools/bin} in a
 * shell: in a network namespace that has the addresses and interfaces of the pages, with a folder
 * in the place of /tmp. What the file {@link CommandPlan#FILE} excepts is only parsed.
 */
@Tag("long")
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT) // it waits for processes of its own
class DocumentedCommandsTest {
  private static final Path PROJECT = Path.of("").toAbsolutePath().getParent();
  private static final CommandPlan PLAN = CommandPlan.read();
  private static final long MOST_SECONDS = 200;

  /** A JVM that starts fast, and sees no card of this machine. */
  private static final String OPTIONS = "-XX:TieredStopAtLevel=1 -Dhghca.ids=ffff:ffff";

  /** The programs of a launcher of {@code tools/bin}, as words of the command line. */
  private static final Pattern LAUNCHES = Pattern.compile("/hghca\" (.*) ?\"\\$@\"");

  /** What is said of a run that works: which devices it has, and where its trace is. */
  private static final Pattern NOTICE =
      Pattern.compile("using .*embedded software HCA|hghca: trace \\S+: \\d+ (events|lines)");

  @TempDir static Path folder;
  private static List<DocumentedCommand> documented;
  private static LauncherTree tree;

  @TempDir Path here;

  @BeforeAll
  static void read() throws IOException {
    documented = DocumentedCommand.ofPages(PROJECT);
    tree = new LauncherTree(Files.createDirectories(folder.resolve("tree"))).build();
    tree.program("sudo", "exec \"$@\"\n");
    tree.program("tshark", "exec cat > /dev/null\n");
  }

  private static String places(String line) {
    return documented.stream()
            .filter(each -> each.line().equals(line))
            .map(DocumentedCommand::place)
            .toList()
        + " "
        + line;
  }

  @Test
  void everyProgramIsOursOrAnotherOne() {
    List<String> others = PLAN.documented(Kind.OTHERS);

    assertThat(documented).hasSizeGreaterThan(50);
    assertThat(documented)
        .filteredOn(each -> !each.programs().stream().allMatch(program -> isKnown(program, others)))
        .as("lines of unknown programs: correct them, or name the program in " + CommandPlan.FILE)
        .isEmpty();
  }

  private static boolean isKnown(String program, List<String> others) {
    return DocumentedCommand.isOurs(program) || others.contains(program);
  }

  @Test
  void everyLineOfThePlanIsOnAPage() {
    List<String> lines = documented.stream().map(DocumentedCommand::line).toList();

    assertThat(PLAN.sections())
        .filteredOn(section -> section.kind() != Kind.OTHERS)
        .flatExtracting(section -> section.documented().toList())
        .as("lines of %s", CommandPlan.FILE)
        .doesNotHaveDuplicates()
        .isSubsetOf(lines);
  }

  static Stream<String> notRun() {
    return PLAN.documented(Kind.NOT_RUN).stream();
  }

  @ParameterizedTest
  @MethodSource("notRun")
  void lineThatIsNotRunIsParsed(String line) throws Exception {
    for (List<String> words : DocumentedCommand.words(line)) {
      String program = words.getFirst();
      List<String> arguments = words.subList(1, words.size());
      if (program.startsWith("tools/bin/")) {
        List<String> all = new ArrayList<>(launched(program));
        all.addAll(arguments);
        assertThatCode(() -> Main.commandLine().parseArgs(all.toArray(String[]::new)))
            .as(places(line))
            .doesNotThrowAnyException();
      } else if (DocumentedCommand.isOurs(program)) {
        assertScriptAccepts(line, program, arguments);
      }
    }
  }

  /** What a launcher puts before the words. */
  private static List<String> launched(String program) throws IOException {
    Matcher matcher = LAUNCHES.matcher(Files.readString(PROJECT.resolve(program)));
    return matcher.find() ? Arrays.asList(matcher.group(1).strip().split(" ")) : List.of();
  }

  /** Its help, behind the arguments, is printed when they have been accepted. */
  private void assertScriptAccepts(String line, String script, List<String> arguments)
      throws Exception {
    List<String> command = new ArrayList<>(List.of(PROJECT.resolve(script).toString()));
    command.addAll(arguments);
    command.add("--help");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(here.resolve("out").toFile())
            .start();
    assertThat(process.waitFor()).as(places(line)).isZero();
  }

  /** Lines that run by themselves, and those that run together. */
  static Stream<Section> run() throws IOException {
    Set<String> planned = new HashSet<>();
    for (Kind kind : List.of(Kind.NOT_RUN, Kind.TOGETHER, Kind.MAY_FAIL)) {
      planned.addAll(PLAN.documented(kind));
    }
    Stream<Section> alone =
        Stream.concat(
            DocumentedCommand.ofPages(PROJECT).stream()
                .filter(DocumentedCommand::isOurs)
                .map(DocumentedCommand::line)
                .distinct()
                .filter(not(planned::contains))
                .map(line -> new Section(Kind.TOGETHER, line, List.of(line))),
            PLAN.documented(Kind.MAY_FAIL).stream()
                .map(line -> new Section(Kind.MAY_FAIL, line, List.of(line))));
    return Stream.concat(alone, PLAN.of(Kind.TOGETHER));
  }

  @ParameterizedTest
  @MethodSource("run")
  @Execution(ExecutionMode.SAME_THREAD) // two at a time leave the other tests no processor
  void lineWorks(Section section) throws Exception {
    assumeNamespaces();
    assumeTrue(
        section.lines().stream().noneMatch(line -> line.contains("tap:"))
            || Files.isWritable(Path.of("/dev/net/tun")),
        "no TAP devices here");
    List<String> lines = section.lines();
    boolean ended = runAll(lines);

    String transcript = transcript(lines);
    for (int at = 0; at < lines.size(); at++) {
      if (!lines.get(at).equals("stop")) {
        assertWorked(section.kind(), lines.get(at), at, transcript);
      }
    }
    assertThat(ended).as("%s: the end of its processes", section.why()).isTrue();
  }

  private static void assumeNamespaces() throws InterruptedException {
    boolean has;
    try {
      has = new ProcessBuilder("unshare", "-rn", "ip", "link").start().waitFor() == 0;
    } catch (IOException e) {
      has = false; // there is no such program
    }
    assumeTrue(has, "no network namespaces here: they need unshare, ip and the permission");
  }

  private boolean runAll(List<String> lines) throws IOException, InterruptedException {
    Files.createDirectory(here.resolve("tmp"));
    Path script =
        Files.writeString(here.resolve("run.sh"), CommandPlan.resource("run-commands.sh"));
    List<String> command =
        new ArrayList<>(List.of("unshare", "-rn", "bash", script.toString(), here.toString()));
    lines.stream()
        .map(line -> line.replace("/tmp/", here.resolve("tmp") + "/"))
        .map(line -> line.replace("<locator>", "'model:a?net=udp:192.0.2.1'"))
        .forEach(command::add);
    ProcessBuilder builder = tree.shell("").command(command).directory(tree.root().toFile());
    builder.environment().put("USER", "root");
    builder.environment().put("JDK_JAVA_OPTIONS", OPTIONS);
    Process process = builder.redirectErrorStream(true).redirectOutput(file("log")).start();
    try {
      return process.waitFor(MOST_SECONDS, TimeUnit.SECONDS);
    } finally {
      List<ProcessHandle> all = process.descendants().toList();
      all.forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }

  private File file(String name) {
    return here.resolve(name).toFile();
  }

  private String text(int number, String what) throws IOException {
    Path file = here.resolve(number + what);
    return Files.exists(file) ? Files.readString(file) : "";
  }

  private String transcript(List<String> lines) throws IOException {
    StringBuilder all = new StringBuilder();
    for (int at = 0; at < lines.size(); at++) {
      all.append("$ " + lines.get(at) + "\n" + text(at, ".out") + text(at, ".err"));
    }
    return all + Files.readString(here.resolve("log"));
  }

  private void assertWorked(Kind kind, String line, int number, String transcript)
      throws IOException {
    String as =
        places(line.replaceFirst(" &$", ""))
            + "\nfails, or does not end: correct it or the program, or say in "
            + CommandPlan.FILE
            + " with which lines it runs or why it does not run\n"
            + transcript;
    assertThat(text(number, ".code"))
        .as(as)
        .isIn(kind == Kind.MAY_FAIL ? List.of("0\n", "1\n") : List.of("0\n"));
    assertThat(text(number, ".err").lines())
        .as(as)
        .filteredOn(said -> !NOTICE.matcher(said).find())
        .noneMatch(said -> said.startsWith("hghca:"));
  }
}

package org.hghca.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/** What {@code --help} and {@code --help-all} print. */
class HelpTest {
  static Stream<String> commands() {
    return with(Main.commandLine()).stream().map(each -> each.getCommandSpec().qualifiedName());
  }

  private static List<CommandLine> with(CommandLine command) {
    List<CommandLine> all = new ArrayList<>(List.of(command));
    command.getSubcommands().values().forEach(sub -> all.addAll(with(sub)));
    return all;
  }

  private static String[] args(String command, String more) {
    List<String> words = new ArrayList<>(Arrays.asList(command.split(" ")));
    words.removeFirst();
    words.add(more);
    return words.toArray(String[]::new);
  }

  @ParameterizedTest
  @MethodSource("commands")
  void helpFitsOnAScreenAndHasAnExample(String command) {
    CommandLineRun run = CommandLineRun.of(args(command, "--help")).assertExit(0);

    assertThat(run.err()).isEmpty();
    assertThat(run.out().lines()).hasSizeLessThanOrEqualTo(25);
    assertThat(run.out().lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(80));
    assertThat(run.out())
        .startsWith("Usage: " + command + " ")
        .contains("Examples:\n  ", "'" + command + " --help-all' lists all options")
        .doesNotContain("@|", "${");
  }

  @ParameterizedTest
  @MethodSource("commands")
  void wholeHelpHasAllOptionsAndExitCodes(String command) {
    CommandLineRun run = CommandLineRun.of(args(command, "--help-all")).assertExit(0);

    assertThat(run.out())
        .startsWith("Usage: " + command)
        .contains("Exit codes:", "--log-format", "--ids")
        .doesNotContain("\033");
  }

  /** An example that is no longer valid misleads. */
  @ParameterizedTest
  @MethodSource("commands")
  void examplesAreAccepted(String command) {
    for (String example : ShortHelp.examples(command)) {
      String line = example.replaceFirst("\\s+#.*", "").replaceFirst("^sudo ", "");
      assertThat(line).startsWith("hghca ");
      String[] args = line.substring("hghca ".length()).split(" +");

      var parsed = Main.commandLine().parseArgs(args);

      assertThat(parsed.errors()).as(example).isEmpty();
    }
  }

  /** Picocli takes it for a placeholder, and prints a warning of its own. */
  @ParameterizedTest
  @MethodSource("commands")
  void noDescriptionHasAPercentSign(String command) {
    CommandLine found = Main.commandLine();
    for (String name : args(command, "")) {
      found = name.isEmpty() ? found : found.getSubcommands().get(name);
    }
    assertThat(found.getCommandSpec().usageMessage().description()).noneMatch(HelpTest::percent);
    assertThat(found.getCommandSpec().args())
        .allSatisfy(arg -> assertThat(arg.description()).noneMatch(HelpTest::percent));
  }

  private static boolean percent(String text) {
    return text.replaceAll("%[n%]", "").contains("%");
  }

  @Test
  void everyExampleBelongsToACommand() {
    assertThat(
            ShortHelp.allExamples().stream()
                .filter(line -> line.endsWith(":") && !line.startsWith(" "))
                .map(line -> line.substring(0, line.length() - 1)))
        .containsExactlyInAnyOrderElementsOf(commands().toList());
  }

  @Test
  void wrongUsageSaysWhatIsWrongAndFitsOnAScreen() {
    CommandLineRun run = CommandLineRun.of("info", "--jsn").assertExit(2);

    assertThat(run.out()).isEmpty();
    assertThat(run.err()).startsWith("Unknown option: '--jsn'").contains("--json");
    assertThat(run.err().lines()).hasSizeLessThanOrEqualTo(30);
  }
}

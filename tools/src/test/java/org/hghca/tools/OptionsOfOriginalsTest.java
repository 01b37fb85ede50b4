package org.hghca.tools;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.hghca.programs.UnsupportedOptions;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.PerfTest;
import org.hghca.programs.perf.command.PerfTestCommand;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/** Each option of the originals works, or is refused by its name; none is ignored. */
class OptionsOfOriginalsTest {
  /** What they do is not a parameter of the measurement. */
  private static final Set<String> ELSEWHERE =
      Set.of("-p", "-d", "-F", "-h", "-V", "--out_json", "--out_json_file");

  /**
   * A line of a list.
   *
   * @param needed what precedes it on the command line, or the programs that have it
   */
  private record Line(List<String> names, List<String> value, List<String> needed) {
    static Stream<Line> of(String list) throws IOException {
      try (InputStream in = OptionsOfOriginalsTest.class.getResourceAsStream(list)) {
        return new String(in.readAllBytes(), UTF_8)
            .lines()
            .filter(line -> !line.startsWith("#"))
            .map(Line::parse);
      }
    }

    private static Line parse(String line) {
      String[] parts = line.split("\\|");
      return new Line(words(parts, 0), words(parts, 1), words(parts, 2));
    }

    private static List<String> words(String[] parts, int index) {
      String text = index < parts.length ? parts[index].trim() : "";
      return text.isEmpty() ? List.of() : List.of(text.split(" "));
    }

    List<String> with(String name) {
      List<String> words = new ArrayList<>(needed);
      words.add(name);
      words.addAll(value);
      return words;
    }
  }

  private static boolean isRefusal(OptionSpec option) {
    return option.description()[0].startsWith(UnsupportedOptions.START);
  }

  private static boolean isNamed(String message, Line line, List<String> others) {
    return Stream.concat(line.names.stream(), others.stream().filter(word -> word.startsWith("-")))
        .anyMatch(name -> Arrays.asList(message.split("[^-\\w]+")).contains(name));
  }

  /** The first line of the refusal. */
  private static String refusal(int exitCode, List<String> words) {
    CommandLineRun run = CommandLineRun.of(words.toArray(String[]::new)).assertExit(exitCode);
    return run.err().lines().findFirst().orElse("");
  }

  @ParameterizedTest
  @EnumSource
  void ofPerftest(PerfTest test) throws IOException {
    CommandLine perf = Main.commandLine().getSubcommands().get("perf");
    CommandSpec spec = perf.getSubcommands().get(test.program()).getCommandSpec();
    SoftAssertions softly = new SoftAssertions();
    Line.of("perftest-options.txt")
        .forEach(
            line ->
                line.names.forEach(
                    name -> {
                      OptionSpec option = spec.findOption(name);
                      softly.assertThat(option).as(name).isNotNull();
                      if (option != null && isRefusal(option)) {
                        if (test != PerfTest.IB_SEND_BW) {
                          return; // all have the same refusals
                        }
                        List<String> words = new ArrayList<>(List.of("perf", test.program()));
                        words.addAll(line.with(name));
                        softly
                            .assertThat(refusal(2, words))
                            .startsWith(option.shortestName() + " is not supported: ");
                      } else if (option != null && !ELSEWHERE.contains(option.shortestName())) {
                        softly.assertThat(effect(test, line, name)).as(name).isEmpty();
                      }
                    }));
    softly.assertAll();
  }

  /** What is wrong with it: nothing, if the measurement is another, or the refusal names it. */
  private static String effect(PerfTest test, Line line, String name) {
    try {
      Parameters without = PerfTestCommand.parameters(test, line.needed.toArray(String[]::new));
      Parameters with = PerfTestCommand.parameters(test, line.with(name).toArray(String[]::new));
      return with.equals(without) ? "is ignored" : "";
    } catch (ParameterException e) {
      return isNamed(e.getMessage(), line, line.needed) ? "" : "is not named: " + e.getMessage();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"rc", "uc", "ud", "srq"})
  void ofPingpongs(String variant) throws IOException {
    String command = variant + "_pingpong";
    CommandSpec spec = Main.commandLine().getSubcommands().get(command).getCommandSpec();
    SoftAssertions softly = new SoftAssertions();
    Line.of("pingpong-options.txt")
        .filter(line -> line.needed.contains(variant))
        .forEach(
            line ->
                line.names.forEach(
                    name -> {
                      OptionSpec option = spec.findOption(name);
                      softly.assertThat(option).as(name).isNotNull();
                      if (option != null && isRefusal(option)) {
                        softly
                            .assertThat(refusal(1, List.of(command, name)))
                            .startsWith(option.shortestName() + " is not supported: ");
                      } else if (option != null) {
                        softly.assertThat(option.arity().max()).isEqualTo(line.value.size());
                      }
                    }));
    softly.assertAll();
  }
}

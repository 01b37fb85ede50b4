package org.hghca.tools;

import java.util.ArrayList;
import java.util.List;
import org.hghca.programs.CompletedValues;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.OptionSpec;

/** What fish completes: commands, options and their values, which picocli has for bash only. */
final class FishCompletion {
  private static final String HEAD =
      """
      function __hghca_words
          set -l words (commandline -opc)
          string match -v -- '-*' $words[2..]
      end

      # Whether these are the commands so far, and no other word.
      function __hghca_at
          test "$(__hghca_words)" = "$argv"
      end

      # Whether the words so far begin with these commands.
      function __hghca_in
          set -l words (__hghca_words)
          test (count $words) -ge (count $argv); or return 1
          test (count $argv) -eq 0; and return 0
          test "$words[1..$(count $argv)]" = "$argv"
      end

      function __hghca_devices
          set -l words (commandline -opc)
          $words[1] list 2>/dev/null | awk 'NR > 2 { print $1 }'
      end

      function __hghca_steps
          set -l words (commandline -opc)
          $words[1] bringup --list -d model: 2>/dev/null | awk '/^[a-z]/ && !seen[$1]++ { print $1 }'
      end

      """;

  private final StringBuilder text = new StringBuilder(HEAD);

  FishCompletion(CommandLine hghca) {
    add(hghca, List.of());
  }

  String text() {
    return text.toString();
  }

  private void add(CommandLine command, List<String> path) {
    for (OptionSpec option : command.getCommandSpec().options()) {
      if (!option.hidden() && !option.inherited()) {
        add(option, path);
      }
    }
    command
        .getSubcommands()
        .forEach(
            (name, sub) -> {
              line(
                  "__hghca_at",
                  path,
                  "-f -a " + name,
                  sub.getCommandSpec().usageMessage().description());
              List<String> deeper = new ArrayList<>(path);
              deeper.add(name);
              add(sub, deeper);
            });
  }

  private void add(OptionSpec option, List<String> path) {
    StringBuilder words = new StringBuilder();
    for (String name : option.names()) {
      if (name.startsWith("--")) {
        words.append(" -l ").append(name.substring(2));
      } else {
        words.append(name.length() == 2 ? " -s " : " -o ").append(name.substring(1));
      }
    }
    if (option.arity().max() > 0) {
      words.append(values(option));
    }
    line("__hghca_in", path, words.toString().strip(), option.description());
  }

  private static String values(OptionSpec option) {
    if (option.completionCandidates() == null) {
      return " -r";
    }
    String all = String.join(" ", option.completionCandidates());
    return switch (all) {
      case CompletedValues.DEVICES -> " -x -a '(__hghca_devices)'";
      case CompletedValues.STEPS -> " -x -a '(__hghca_steps)'";
      default -> " -x -a '%s'".formatted(all);
    };
  }

  private void line(String where, List<String> path, String what, String... description) {
    String condition = (where + " " + String.join(" ", path)).strip();
    text.append("complete -c hghca -n '").append(condition).append("' ").append(what);
    if (description.length > 0) {
      String first = ManPage.summary(Ansi.OFF.string(description[0]));
      text.append(" -d '").append(first.replace("\\", "\\\\").replace("'", "\\'")).append('\'');
    }
    text.append('\n');
  }
}

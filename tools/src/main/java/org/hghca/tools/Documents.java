package org.hghca.tools;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.hghca.programs.CompletedValues;
import picocli.AutoComplete;
import picocli.CommandLine;

/**
 * Writes what a shell and {@code man} know of the command line; the build calls it.
 *
 * <pre>
 * bash-completion/completions/hghca
 * zsh/site-functions/_hghca
 * fish/vendor_completions.d/hghca.fish
 * man/man1/hghca.1, hghca-demo.1 ...
 * </pre>
 */
final class Documents {

  /** Zsh runs the completion of bash, which lies beside it. */
  private static final String ZSH =
      """
      #compdef hghca
      local file=${(%):-%x}
      autoload -U +X bashcompinit && bashcompinit
      source ${file:A:h:h:h}/bash-completion/completions/hghca
      _bash_complete -o default -F _complete_hghca
      """;

  private Documents() {}

  /**
   * Writes everything.
   *
   * @param args the folder
   */
  public static void main(String[] args) throws IOException {
    write(Path.of(args[0]));
  }

  static void write(Path folder) throws IOException {
    CommandLine commandLine = Main.commandLine();
    write(folder, "bash-completion/completions/hghca", bash(commandLine));
    write(folder, "zsh/site-functions/_hghca", ZSH);
    write(folder, "fish/vendor_completions.d/hghca.fish", new FishCompletion(commandLine).text());
    writePages(Files.createDirectories(folder.resolve("man/man1")), commandLine);
  }

  private static void write(Path folder, String name, String text) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  /** What picocli makes, which knows words only, with values that the program is asked for. */
  private static String bash(CommandLine commandLine) {
    String words = AutoComplete.bash(commandLine.getCommandName(), commandLine);
    return words
            .replace("(\"%s\")".formatted(CompletedValues.DEVICES), "($(_hghca_devices))")
            .replace("(\"%s\")".formatted(CompletedValues.STEPS), "($(_hghca_steps))")
        + """

        function _hghca_devices() {
          "${COMP_WORDS[0]}" list 2> /dev/null | awk 'NR > 2 { print $1 }'
        }

        function _hghca_steps() {
          "${COMP_WORDS[0]}" bringup --list -d model: 2> /dev/null | awk '/^[a-z]/ && !seen[$1]++ { print $1 }'
        }
        """;
  }

  private static void writePages(Path folder, CommandLine command) throws IOException {
    ManPage page = new ManPage(command);
    Files.writeString(folder.resolve(page.name() + ".1"), page.text());
    for (CommandLine subcommand : command.getSubcommands().values()) {
      writePages(folder, subcommand);
    }
  }
}

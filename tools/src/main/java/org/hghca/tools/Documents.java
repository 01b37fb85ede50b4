package org.hghca.tools;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.AutoComplete;
import picocli.CommandLine;

/**
 * Writes what a shell and {@code man} know of the command line; the build calls it.
 *
 * <pre>
 * bash-completion/completions/hghca
 * man/man1/hghca.1, hghca-demo.1 ...
 * </pre>
 */
final class Documents {

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
    Path completions = Files.createDirectories(folder.resolve("bash-completion/completions"));
    String script = AutoComplete.bash(commandLine.getCommandName(), commandLine);
    Files.writeString(completions.resolve(commandLine.getCommandName()), script);
    writePages(Files.createDirectories(folder.resolve("man/man1")), commandLine);
  }

  private static void writePages(Path folder, CommandLine command) throws IOException {
    ManPage page = new ManPage(command);
    Files.writeString(folder.resolve(page.name() + ".1"), page.text());
    for (CommandLine subcommand : command.getSubcommands().values()) {
      writePages(folder, subcommand);
    }
  }
}

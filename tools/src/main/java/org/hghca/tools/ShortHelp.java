package org.hghca.tools;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * What {@code --help} prints: how a command is called, examples, and its first options, on one
 * screen. {@code --help-all} has the rest.
 */
final class ShortHelp {
  static final int MOST_LINES = 25;
  static final int WIDTH = 80;

  /** Commands up to this number have a line each; more are names only. */
  private static final int FEW = 6;

  /** The option that prints the whole help. */
  static final String ALL = "--help-all";

  private final CommandLine command;
  private final CommandSpec spec;
  private final List<String> lines = new ArrayList<>();

  private ShortHelp(CommandLine command) {
    this.command = command;
    this.spec = command.getCommandSpec();
  }

  /** The lines for a command. */
  static List<String> of(CommandLine command) {
    return new ShortHelp(command).lines();
  }

  private List<String> lines() {
    lines.add(cut("Usage: " + usage()));
    wrap("", ManPage.summary(plain(spec.usageMessage().description()[0])) + ".");
    List<String> examples = examples(spec.qualifiedName());
    if (!examples.isEmpty()) {
      lines.add("Examples:");
      examples.forEach(example -> lines.add("  " + example));
    }
    commands();
    options();
    lines.add(
        cut("'%s %s' lists all options and exit codes.".formatted(spec.qualifiedName(), ALL)));
    return lines;
  }

  private String usage() {
    StringBuilder usage = new StringBuilder(spec.qualifiedName()).append(" [OPTIONS]");
    for (PositionalParamSpec parameter : spec.positionalParameters()) {
      String label = parameter.paramLabel();
      usage.append(parameter.required() ? " " + label : " [" + label + "]");
    }
    return command.getSubcommands().isEmpty()
        ? usage.toString()
        : usage.append(" COMMAND").toString();
  }

  private void commands() {
    var commands = command.getSubcommands();
    if (commands.isEmpty()) {
      return;
    }
    if (commands.size() > FEW) {
      wrap("Commands: ", String.join(", ", commands.keySet()));
      return;
    }
    lines.add("Commands:");
    commands.forEach(
        (name, sub) ->
            lines.add(
                cut(
                    "  %-14s%s"
                        .formatted(
                            name,
                            ManPage.summary(
                                plain(sub.getCommandSpec().usageMessage().description()[0]))))));
  }

  /** As many as there is room for; those of every command are in the whole help. */
  private void options() {
    List<OptionSpec> own =
        spec.options().stream()
            .filter(option -> !option.inherited() && !option.usageHelp() && !option.versionHelp())
            .filter(option -> option.scopeType() == CommandLine.ScopeType.LOCAL)
            .filter(option -> option.description().length > 0)
            .toList();
    int room = MOST_LINES - lines.size() - 2;
    if (own.isEmpty() || room < 1) {
      return;
    }
    lines.add("Options:");
    own.stream().limit(room).forEach(option -> lines.add(cut(line(option))));
  }

  private static String line(OptionSpec option) {
    String value = option.arity().max() == 0 ? "" : "=" + option.paramLabel();
    return "  %-27s %s"
        .formatted(
            String.join(", ", option.names()) + value,
            ManPage.summary(plain(option.description()[0])));
  }

  private static String plain(String text) {
    return Ansi.OFF.string(text.replaceAll("\\$\\{[A-Z-]+}", "…"));
  }

  private static String cut(String line) {
    return line.length() <= WIDTH ? line : line.substring(0, WIDTH - 1) + "…";
  }

  private void wrap(String head, String text) {
    StringBuilder line = new StringBuilder(head);
    for (String word : text.split(" ")) {
      if (line.length() + word.length() + 1 > WIDTH) {
        lines.add(line.toString().stripTrailing());
        line = new StringBuilder(head.isEmpty() ? "" : "  ");
      }
      line.append(word).append(' ');
    }
    lines.add(line.toString().stripTrailing());
  }

  /** The examples of a command, such as {@code hghca model serve}. */
  static List<String> examples(String qualifiedName) {
    List<String> found = new ArrayList<>();
    String current = "";
    for (String line : allExamples()) {
      if (line.endsWith(":") && !line.startsWith(" ")) {
        current = line.substring(0, line.length() - 1);
      } else if (current.equals(qualifiedName) && !line.isBlank()) {
        found.add(line.strip());
      }
    }
    return found;
  }

  static List<String> allExamples() {
    try (InputStream text = ShortHelp.class.getResourceAsStream("examples.txt")) {
      return new String(text.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e); // it is in this jar
    }
  }
}

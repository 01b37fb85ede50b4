package org.hghca.tools;

import java.util.List;
import java.util.Locale;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The manual page of a command, from its help text, in the macros of man(7). */
final class ManPage {
  private final CommandLine command;
  private final CommandSpec spec;
  private final StringBuilder text = new StringBuilder();

  ManPage(CommandLine command) {
    this.command = command;
    this.spec = command.getCommandSpec();
  }

  /** Such as {@code hghca-model-serve}. */
  String name() {
    return name(spec);
  }

  private static String name(CommandSpec spec) {
    return spec.qualifiedName("-");
  }

  String text() {
    line(".TH \"%s\" 1 \"\" \"hghca\" \"hghca\"".formatted(name().toUpperCase(Locale.ROOT)));
    section("NAME");
    String[] description = spec.usageMessage().description();
    line("%s \\- %s".formatted(escaped(name()), escaped(summary(description[0]))));
    section("SYNOPSIS");
    line(".nf");
    line(escaped(command.getHelp().synopsis(0).strip()));
    line(".fi");
    section("DESCRIPTION");
    for (String paragraph : description) {
      line(".PP");
      line(escaped(paragraph));
    }
    arguments();
    commands();
    examples();
    section("EXIT STATUS");
    spec.usageMessage().exitCodeList().forEach((code, meaning) -> item(code, List.of(meaning)));
    return text.toString();
  }

  /** The first sentence, without its full stop. */
  static String summary(String description) {
    int end = description.indexOf(". ");
    String sentence = end < 0 ? description : description.substring(0, end);
    return sentence.endsWith(".") ? sentence.substring(0, sentence.length() - 1) : sentence;
  }

  private void arguments() {
    section("OPTIONS");
    for (PositionalParamSpec parameter : spec.positionalParameters()) {
      item(parameter.paramLabel(), lines(parameter));
    }
    for (OptionSpec option : spec.options()) {
      String names = String.join(", ", option.names());
      String value = option.arity().max() == 0 ? "" : "=" + option.paramLabel();
      item(names + value, lines(option));
    }
  }

  private static List<String> lines(ArgSpec argument) {
    return List.of(argument.description());
  }

  private void commands() {
    if (command.getSubcommands().isEmpty()) {
      return;
    }
    section("COMMANDS");
    for (CommandLine subcommand : command.getSubcommands().values()) {
      CommandSpec sub = subcommand.getCommandSpec();
      item(name(sub) + "(1)", List.of(sub.usageMessage().description()));
    }
  }

  private void examples() {
    List<String> examples = ShortHelp.examples(spec.qualifiedName());
    if (!examples.isEmpty()) {
      section("EXAMPLES");
      line(".nf");
      examples.forEach(example -> line(escaped(example)));
      line(".fi");
    }
  }

  private void section(String title) {
    line(".SH " + title);
  }

  private void item(String head, List<String> body) {
    line(".TP");
    line("\\fB" + escaped(head) + "\\fR");
    body.forEach(paragraph -> line(escaped(paragraph)));
  }

  private void line(String line) {
    text.append(line).append('\n');
  }

  /**
   * Plain text escaped for roff: backslashes and hyphens are kept, and no line is interpreted as a
   * request.
   */
  private static String escaped(String plain) {
    String escaped =
        Ansi.OFF.string(plain).replace("\\", "\\e").replace("-", "\\-").replace("\n", "\n\\&");
    return escaped.startsWith(".") || escaped.startsWith("'") ? "\\&" + escaped : escaped;
  }
}

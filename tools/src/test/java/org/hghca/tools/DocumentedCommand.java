package org.hghca.tools;

import static java.util.function.Predicate.not;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A command line in a block of a page.
 *
 * @param place the page and the number of the line
 * @param line without its prompt and its comment
 */
record DocumentedCommand(String place, String line) {
  private static final int DEPTH = 4;
  private static final String FENCE = "```";
  private static final String PROMPT = "$ ";
  private static final String CONSOLE = "console";
  private static final Set<String> LANGUAGES = Set.of("", CONSOLE, "sh", "bash");

  /** A placeholder that the shell would take for a redirection. */
  private static final String LOCATOR = "<locator>";

  /** A program of this project, by its path or by the name under which it is installed. */
  private static final Pattern OURS =
      Pattern.compile(
          "(?:tools|conformance-tests|examples|consumers|benchmarks|[.]ci)/.*|hghca.*|ibv?_.*"
              + "|rping|ucmatose|udaddy|mckey|rdma_(?:client|server)");

  /** Those of all pages but the decisions, which keep what was once true. */
  static List<DocumentedCommand> ofPages(Path project) throws IOException {
    List<DocumentedCommand> all = new ArrayList<>();
    for (Path page : pages(project)) {
      all.addAll(of(project.relativize(page).toString(), Files.readString(page)));
    }
    return all;
  }

  private static List<Path> pages(Path project) throws IOException {
    try (Stream<Path> files = Files.walk(project, DEPTH)) {
      return files
          .filter(file -> file.toString().endsWith(".md"))
          .filter(not(file -> file.startsWith(project.resolve("docs/adr"))))
          .filter(not(file -> project.relativize(file).toString().contains("target/")))
          .sorted()
          .toList();
    }
  }

  /** Those of a page: behind a prompt, or, in a block without one, those of our programs. */
  static List<DocumentedCommand> of(String page, String text) {
    List<DocumentedCommand> all = new ArrayList<>();
    List<DocumentedCommand> block = null;
    String language = "";
    List<String> lines = text.lines().toList();
    for (int at = 0; at < lines.size(); at++) {
      String line = lines.get(at);
      if (line.startsWith(FENCE)) {
        if (block != null && LANGUAGES.contains(language)) {
          all.addAll(commands(block, language.equals(CONSOLE)));
        }
        language = line.substring(FENCE.length()).strip();
        block = block == null ? new ArrayList<>() : null;
      } else if (block != null) {
        String place = page + ":" + (at + 1);
        while (line.endsWith("\\") && at + 1 < lines.size()) {
          line = line.substring(0, line.length() - 1) + lines.get(++at).strip();
        }
        block.add(new DocumentedCommand(place, line));
      }
    }
    return all;
  }

  private static List<DocumentedCommand> commands(List<DocumentedCommand> block, boolean console) {
    boolean prompts = console || block.stream().anyMatch(each -> each.line.startsWith(PROMPT));
    String begin = prompts ? PROMPT : "";
    return block.stream()
        .filter(each -> prompts ? each.line.startsWith(PROMPT) : isOurs(firstWord(each.line)))
        .map(each -> new DocumentedCommand(each.place, bare(each.line.substring(begin.length()))))
        .toList();
  }

  private static String firstWord(String line) {
    return line.split(" ", 2)[0];
  }

  private static String bare(String line) {
    return line.replaceFirst("(^| +)# .*$", "").replaceFirst(" &$", "");
  }

  /**
   * The words of its commands, without {@code sudo}, variables and the file that it writes; the
   * locator is one.
   */
  static List<List<String>> words(String line) {
    return ShellWords.commands(line.replace(LOCATOR, "model:").replaceFirst(" > [^ ]+$", ""))
        .stream()
        .map(
            words ->
                words.stream()
                    .dropWhile(word -> word.equals("sudo") || word.matches("[A-Z_]+=.*"))
                    .toList())
        .toList();
  }

  /** The programs that it starts. */
  List<String> programs() {
    return words(line).stream().map(List::getFirst).toList();
  }

  boolean isOurs() {
    return programs().stream().anyMatch(DocumentedCommand::isOurs);
  }

  static boolean isOurs(String program) {
    return OURS.matcher(program).matches();
  }
}

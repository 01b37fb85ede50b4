package org.hghca.tools;

import java.util.ArrayList;
import java.util.List;

/** A line of the shell as words: quotes, and what stands between commands; nothing is expanded. */
final class ShellWords {
  private static final String BETWEEN_COMMANDS = "|&;<>";

  private final List<List<String>> commands = new ArrayList<>();
  private List<String> words = new ArrayList<>();
  private final StringBuilder word = new StringBuilder();
  private boolean inWord;

  private ShellWords() {}

  /** The words of each command of a line. */
  static List<List<String>> commands(String line) {
    ShellWords shell = new ShellWords();
    char quote = 0;
    for (int at = 0; at < line.length(); at++) {
      char c = line.charAt(at);
      if (c == quote) {
        quote = 0;
      } else if (quote == 0 && (c == '\'' || c == '"')) {
        quote = c;
        shell.inWord = true;
      } else if (quote == 0 && c == ' ') {
        shell.endWord();
      } else if (quote == 0 && BETWEEN_COMMANDS.indexOf(c) >= 0) {
        shell.endCommand();
      } else {
        shell.word.append(c);
        shell.inWord = true;
      }
    }
    if (quote != 0) {
      throw new IllegalArgumentException("a quote is open: " + line);
    }
    shell.endCommand();
    return shell.commands;
  }

  private void endWord() {
    if (inWord) {
      words.add(word.toString());
      word.setLength(0);
      inWord = false;
    }
  }

  private void endCommand() {
    endWord();
    if (!words.isEmpty()) {
      commands.add(words);
      words = new ArrayList<>();
    }
  }
}

package org.hghca.tools.card;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** The words of a line: between spaces, or in quotes; a word that begins with # is a comment. */
final class Words {
  private final List<String> words;

  private Words(List<String> words) {
    this.words = words;
  }

  /**
   * Splits a line.
   *
   * @throws RequestFailedException when a quote is not closed
   */
  static Words of(String line) {
    List<String> words = new ArrayList<>();
    StringBuilder word = new StringBuilder();
    char quote = 0;
    boolean begun = false;
    for (char c : (line + " ").toCharArray()) {
      if (quote != 0) {
        if (c == quote) {
          quote = 0;
        } else {
          word.append(c);
        }
      } else if (c == '"' || c == '\'') {
        quote = c;
        begun = true;
      } else if (!Character.isWhitespace(c)) {
        if (c == '#' && !begun) {
          return new Words(words);
        }
        word.append(c);
        begun = true;
      } else if (begun) {
        words.add(word.toString());
        word.setLength(0);
        begun = false;
      }
    }
    if (quote != 0) {
      throw new RequestFailedException("the quote %c is not closed".formatted(quote));
    }
    return new Words(words);
  }

  boolean isEmpty() {
    return words.isEmpty();
  }

  /** The next word, which is taken. */
  String next() {
    return words.removeFirst();
  }

  /** The next word, which is taken; refuses a line that has none. */
  String next(String missing) {
    if (isEmpty()) {
      throw new RequestFailedException(missing);
    }
    return next();
  }

  /** The next word, which stays; empty when there is none. */
  String peek() {
    return isEmpty() ? "" : words.getFirst();
  }

  /** Takes an option wherever it is; returns whether it was there. */
  boolean take(String option) {
    boolean taken = false;
    for (Iterator<String> all = words.iterator(); all.hasNext(); ) {
      if (all.next().equals(option)) {
        all.remove();
        taken = true;
      }
    }
    return taken;
  }

  /** Refuses words that are left. */
  void end(String usage) {
    if (!isEmpty()) {
      throw new RequestFailedException("'%s' is too much: %s".formatted(peek(), usage));
    }
  }
}

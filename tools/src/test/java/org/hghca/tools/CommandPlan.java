package org.hghca.tools;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The sections of {@code documented-commands.txt}: what is done with which command lines. */
record CommandPlan(List<Section> sections) {
  static final String FILE = "documented-commands.txt";

  /** What is done with the lines of a section. */
  enum Kind {
    NOT_RUN("not run"),
    MAY_FAIL("may fail"),
    TOGETHER("together"),
    OTHERS("others");

    private final String text;

    Kind(String text) {
      this.text = text;
    }

    private static Kind of(String text) {
      return Stream.of(values()).filter(kind -> kind.text.equals(text)).findFirst().orElseThrow();
    }
  }

  /**
   * A section.
   *
   * @param why the rest of its heading
   * @param steps its lines
   */
  record Section(Kind kind, String why, List<String> steps) {
    private static final String STOP = "stop";
    private static final String OF_NO_PAGE = "+ ";

    /** The lines that pages have. */
    Stream<String> documented() {
      return steps.stream()
          .filter(step -> !step.equals(STOP) && !step.startsWith(OF_NO_PAGE))
          .map(step -> step.replaceFirst(" &$", ""));
    }

    /** The lines as they run. */
    List<String> lines() {
      return steps.stream().map(step -> step.replaceFirst("^[+] ", "")).toList();
    }
  }

  /** Reads the file. */
  static CommandPlan read() {
    List<Section> sections = new ArrayList<>();
    for (String line : resource(FILE).lines().toList()) {
      if (line.startsWith("  ")) {
        sections.getLast().steps.add(line.strip());
      } else if (!line.isEmpty() && !line.startsWith("#")) {
        String[] heading = line.split(": ", 2);
        sections.add(new Section(Kind.of(heading[0]), heading[1], new ArrayList<>()));
      }
    }
    return new CommandPlan(sections);
  }

  static String resource(String name) {
    try (InputStream in = CommandPlan.class.getResourceAsStream(name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Stream<Section> of(Kind kind) {
    return sections.stream().filter(section -> section.kind == kind);
  }

  /** The documented lines, or the programs, of the sections of a kind. */
  List<String> documented(Kind kind) {
    return of(kind).flatMap(Section::documented).toList();
  }
}

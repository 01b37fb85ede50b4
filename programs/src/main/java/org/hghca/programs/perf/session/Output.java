package org.hghca.programs.perf.session;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.result.Course;
import org.hghca.programs.perf.result.Figure;

/** What one run prints and keeps. Not thread-safe. */
final class Output {
  private Parameters asked;
  private final PrintWriter out;
  private final PrintWriter err;
  private final Consumer<Figure> figures;
  private final PerfDocument document = new PerfDocument();
  private final List<Course> courses = new ArrayList<>();
  private boolean withinLimits = true;

  /**
   * Of a run that has printed nothing.
   *
   * @param out gets header and rows
   * @param err gets warnings
   * @param figures gets each row
   */
  Output(Parameters asked, PrintWriter out, PrintWriter err, Consumer<Figure> figures) {
    this.asked = asked;
    this.out = out;
    this.err = err;
    this.figures = figures;
  }

  /** From here on it is of a run with these parameters. */
  void of(Parameters measured) {
    asked = measured;
  }

  /** Whether header and rows are printed, not one number alone. */
  boolean isFull() {
    return asked.report().only().isEmpty();
  }

  /** Prints a line that one number alone does not need. */
  void print(String line) {
    if (isFull()) {
      show(line);
    }
  }

  /** Prints a line. */
  void show(String line) {
    if (!asked.report().silent()) {
      out.println(line);
      out.flush();
    }
  }

  /** Prints a warning. */
  void warn(String what) {
    err.println("%s: %s".formatted(asked.test().program(), what));
  }

  /** Keeps a row, and warns of the limits that it misses. */
  void record(Figure figure) {
    figures.accept(figure);
    document.add(figure);
    for (String what : asked.report().limits().missedBy(figure)) {
      withinLimits = false;
      warn(what);
    }
  }

  /** Keeps the rate over the time of a measurement, unless that never ends. */
  void keep(Course course) {
    if (asked.amount().span().filter(span -> !span.endless()).isPresent()) {
      courses.add(course);
    }
  }

  /** What was measured so far. */
  PerfDocument document() {
    return document;
  }

  /** The rates over the time that were kept. */
  List<Course> courses() {
    return courses;
  }

  /** Whether all rows reached the limits. */
  boolean isWithinLimits() {
    return withinLimits;
  }
}

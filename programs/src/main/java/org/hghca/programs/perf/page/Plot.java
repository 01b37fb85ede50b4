package org.hghca.programs.perf.page;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.DoubleStream;

/**
 * A diagram of lines over one axis.
 *
 * @param caption what it shows
 * @param across the axis of x
 * @param title of the axis of y, with the unit
 * @param lines at most {@link #MOST_LINES}
 */
record Plot(String caption, Axis across, String title, List<Line> lines) {
  /** Styles for lines. */
  static final int MOST_LINES = 6;

  private static final int WIDTH = 760;
  private static final int HEIGHT = 320;
  private static final int LEFT = 66;
  private static final int RIGHT = 34;
  private static final int TOP = 36;
  private static final int BOTTOM = 46;
  private static final int CHARACTER = 7;
  private static final int SWATCH = 26;
  private static final int GAP = 18;

  /** More points have no dots. */
  private static final int DOTS = 40;

  /**
   * A line.
   *
   * @param name in the legend
   * @param xs increasing
   * @param ys as many
   */
  record Line(String name, double[] xs, double[] ys) {}

  /** Writes it as a figure. */
  void write(Markup page) {
    Axis up = Axis.amounts(title, values());
    page.open("figure");
    page.element("figcaption", caption);
    page.open(
        "svg",
        "viewBox",
        "0 0 %d %d".formatted(WIDTH, HEIGHT),
        "role",
        "img",
        "aria-label",
        caption);
    for (Axis.Tick tick : up.ticks()) {
      String y = number(y(up, tick.value()));
      page.empty("line", "class", "grid", "x1", "" + LEFT, "x2", "" + right(), "y1", y, "y2", y);
      page.element(
          "text",
          tick.label(),
          "class",
          "tick",
          "x",
          "" + (LEFT - 8),
          "y",
          y,
          "dy",
          "0.35em",
          "text-anchor",
          "end");
    }
    for (Axis.Tick tick : across.ticks()) {
      String x = number(x(tick.value()));
      page.empty("line", "class", "grid", "x1", x, "x2", x, "y1", "" + TOP, "y2", "" + bottom());
      page.element(
          "text",
          tick.label(),
          "class",
          "tick",
          "x",
          x,
          "y",
          "" + (bottom() + 17),
          "text-anchor",
          "middle");
    }
    page.empty(
        "path", "class", "axis", "d", "M%d %dV%dH%d".formatted(LEFT, TOP, bottom(), right()));
    page.element("text", title, "class", "title", "x", "8", "y", "18");
    page.element(
        "text",
        across.title(),
        "class",
        "title",
        "x",
        "" + (LEFT + right()) / 2,
        "y",
        "" + (HEIGHT - 8),
        "text-anchor",
        "middle");
    legend(page);
    for (int i = 0; i < lines.size(); i++) {
      draw(page, lines.get(i), up, "line" + i);
    }
    page.close();
    page.close();
  }

  private double[] values() {
    return lines.stream().flatMapToDouble(line -> DoubleStream.of(line.ys)).toArray();
  }

  private static int right() {
    return WIDTH - RIGHT;
  }

  private static int bottom() {
    return HEIGHT - BOTTOM;
  }

  private double x(double value) {
    return LEFT + across.at(value) * (right() - LEFT);
  }

  private static double y(Axis up, double value) {
    return bottom() - up.at(value) * (bottom() - TOP);
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }

  private void legend(Markup page) {
    int x = right();
    for (int i = lines.size() - 1; i >= 0; i--) {
      String name = lines.get(i).name;
      x -= CHARACTER * name.length() + SWATCH;
      page.empty(
          "line",
          "class",
          "line line" + i,
          "x1",
          "" + x,
          "x2",
          "" + (x + SWATCH - 6),
          "y1",
          "14",
          "y2",
          "14");
      page.element("text", name, "class", "title", "x", "" + (x + SWATCH), "y", "18");
      x -= GAP;
    }
  }

  private void draw(Markup page, Line line, Axis up, String style) {
    List<String> points = new ArrayList<>();
    for (int i = 0; i < line.xs.length; i++) {
      points.add(number(x(line.xs[i])) + "," + number(y(up, line.ys[i])));
    }
    page.empty("polyline", "class", "line " + style, "points", String.join(" ", points));
    if (line.xs.length > DOTS) {
      return;
    }
    for (int i = 0; i < line.xs.length; i++) {
      page.open(
          "circle",
          "class",
          "dot " + style,
          "cx",
          number(x(line.xs[i])),
          "cy",
          number(y(up, line.ys[i])),
          "r",
          "3");
      page.element(
          "title",
          "%s: %s at %s".formatted(line.name, Axis.number(line.ys[i]), Axis.number(line.xs[i])));
      page.close();
    }
  }
}

package org.hghca.tools.demo;

import java.io.PrintWriter;
import java.io.Writer;
import java.util.ArrayList;
import java.util.List;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.DeviceQuirk;

/** Prints the steps, and records the passed checks. */
final class Journal {
  private final PrintWriter out;
  private final List<String> checks = new ArrayList<>();

  Journal(PrintWriter out) {
    this.out = out;
  }

  /** One that prints nothing. */
  Journal() {
    this(new PrintWriter(Writer.nullWriter()));
  }

  /** A step of one side. */
  void step(Side side, String what) {
    step(side.role(), what);
  }

  private void step(String role, String what) {
    out.println("%-7s %s".formatted(role, what));
  }

  /**
   * Reports a feature that a side's card lacks.
   *
   * @param role of the side
   * @param instead what happens instead
   */
  void missing(String role, DeviceFeature feature, String instead) {
    step(role, "not supported by this card: %s; %s".formatted(feature, instead));
  }

  /** Reports a quirk of a side's card. */
  void missing(Side side, DeviceQuirk quirk, String instead) {
    step(side, "a quirk of this card: %s; %s".formatted(quirk, instead));
  }

  /** A line of its own. */
  void line(String text) {
    out.println(text);
  }

  /** A check that held. */
  void held(String check) {
    checks.add(check);
  }

  /** The passed checks, in order. */
  List<String> checks() {
    return List.copyOf(checks);
  }
}

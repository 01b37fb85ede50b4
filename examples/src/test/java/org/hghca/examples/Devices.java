package org.hghca.examples;

import java.util.stream.Stream;

/** Command lines with devices. */
final class Devices {
  private static final String[] FIRST_RTL = {
    "-d", "model:a?cable=rtl&profile=r1", "-d", "model:b?cable=rtl&profile=r1"
  };

  private Devices() {}

  /** A command line on two cards of the makers' first RTL, on a cable. */
  static String[] ofTheFirstRtl(String... words) {
    return Stream.of(words, FIRST_RTL).flatMap(Stream::of).toArray(String[]::new);
  }
}

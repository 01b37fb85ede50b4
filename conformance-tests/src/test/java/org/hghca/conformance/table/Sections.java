package org.hghca.conformance.table;

import java.util.Map;

/** What tags are about that are no line of what breaks a card. */
final class Sections {
  private static final Map<String, String> TITLES =
      Map.ofEntries(
          Map.entry("1.1", "where the registers are"),
          Map.entry("1.2", "the HCR takes aligned accesses of 32 bits only"),
          Map.entry("1.3", "only a reset at PCIe level clears the card"),
          Map.entry("1.4", "doorbells beyond 63 are lost; BAR2 is never read"),
          Map.entry("1.5", "no interrupt ever comes"),
          Map.entry("2.2", "what a command's status says"),
          Map.entry("2.3", "commands that hang the HCR"),
          Map.entry("3.2", "tables and their strides"),
          Map.entry("3.3", "one entry of one table in each MAP_ICM"),
          Map.entry("4.1", "no more than 255 entries in each WRITE_MTT"),
          Map.entry("4.2", "regions are of whole pages"),
          Map.entry("4.3", "keys"),
          Map.entry("5.2", "positions of a completion queue survive it"),
          Map.entry("5.3", "what completions say, and what they do not"),
          Map.entry("5.4", "how a failed request shows, and that a flush does not"),
          Map.entry("5.5", "resizing"),
          Map.entry("5.6", "event queues do nothing"),
          Map.entry("6.1", "every MODIFY_QP replaces all; sequence numbers are never rewound"),
          Map.entry("6.2", "fields of a queue pair; rings and strides"),
          Map.entry("6.3", "states and what the card does in them"),
          Map.entry("6.5", "what QUERY_QP may be asked for"),
          Map.entry("6.6", "positions of a queue pair survive it"),
          Map.entry("7.1", "a WQE lies in one piece in its ring"),
          Map.entry("7.2", "units of a WQE"),
          Map.entry("7.3", "what each operation is made of"),
          Map.entry("7.4", "how a receive must look in its ring"),
          Map.entry("8", "what a doorbell says"),
          Map.entry("9", "what the transport has, and what it has not"),
          Map.entry("10", "what the card says of itself"));

  private Sections() {}

  /** Of a section, or of an item of the list of what suits all cards. */
  static String of(String line) {
    String title = line.startsWith("11.") ? "what suits all three readings" : TITLES.get(line);
    if (title == null) {
      throw new IllegalArgumentException(
          "no line '%s': a tag is hazard-12.n, or one of %s".formatted(line, TITLES.keySet()));
    }
    return title;
  }
}

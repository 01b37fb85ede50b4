package org.hghca.conformance.table;

import java.util.Map;

/** The subjects of tags that are not a line of what breaks a card. */
final class Sections {
  private static final Map<String, String> TITLES =
      Map.ofEntries(
          Map.entry("1.1", "where the registers are"),
          Map.entry("1.2", "the HCR takes aligned accesses of 32 bits only"),
          Map.entry("1.3", "only a reset at PCIe level clears the card"),
          Map.entry("1.4", "doorbells beyond 63 are lost; BAR2 is never read"),
          Map.entry("1.5", "no interrupt ever arrives"),
          Map.entry("2.2", "the meaning of a command's status"),
          Map.entry("2.3", "commands that hang the HCR"),
          Map.entry("3.2", "tables and their strides"),
          Map.entry("3.3", "one entry of one table per MAP_ICM"),
          Map.entry("4.1", "at most 255 entries per WRITE_MTT"),
          Map.entry("4.2", "regions are of whole pages"),
          Map.entry("4.3", "keys"),
          Map.entry("5.2", "positions of a completion queue survive its end"),
          Map.entry("5.3", "contents of completions"),
          Map.entry("5.4", "completions of failed requests; none for flushed ones"),
          Map.entry("5.5", "resizing"),
          Map.entry("5.6", "event queues have no effect"),
          Map.entry("6.1", "every MODIFY_QP replaces all fields; PSNs are never rewound"),
          Map.entry("6.2", "fields of a queue pair; rings and strides"),
          Map.entry("6.3", "the card's behavior in each state"),
          Map.entry("6.5", "permitted use of QUERY_QP"),
          Map.entry("6.6", "positions of a queue pair survive its end"),
          Map.entry("7.1", "a WQE is contiguous in its ring"),
          Map.entry("7.2", "units of a WQE"),
          Map.entry("7.3", "the units of each operation"),
          Map.entry("7.4", "layout of a receive in its ring"),
          Map.entry("8", "contents of a doorbell"),
          Map.entry("9", "features of the transport"),
          Map.entry("10", "what the card reports about itself"));

  private Sections() {}

  /** Of a section, or of an item of the list of rules for all cards. */
  static String of(String line) {
    String title = line.startsWith("11.") ? "common rules of all three readings" : TITLES.get(line);
    if (title == null) {
      throw new IllegalArgumentException(
          "no line '%s': a tag is hazard-12.n, or one of %s".formatted(line, TITLES.keySet()));
    }
    return title;
  }
}

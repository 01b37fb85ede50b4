package org.hghca.conformance.table;

import java.util.Comparator;
import java.util.List;

/**
 * A use that breaks the makers' card, or a deviation of that card, and the driver's workaround. The
 * tests that guard it carry the tag {@code hazard-} and its line.
 *
 * @param line as in tags: 12.n is line n of what breaks a card, in {@code docs/hardware.md};
 *     anything else a rule
 * @param what breaks it
 * @param workaround what the driver does
 */
record Hazard(String line, String what, String workaround) {
  /** Tags of tests begin with it. */
  static final String TAG = "hazard-";

  static final Comparator<String> ORDER =
      Comparator.comparing((String line) -> !line.startsWith("12."))
          .thenComparingInt(line -> Integer.parseInt(line.split("\\.")[0]))
          .thenComparingInt(
              line -> line.contains(".") ? Integer.parseInt(line.split("\\.")[1]) : 0);

  static List<Hazard> all() {
    return List.of(
        new Hazard(
            "12.1",
            "a message or an element of no bytes",
            "empty elements are dropped; a message of nothing is EOPNOTSUPP"),
        new Hazard(
            "12.2",
            "data that cross a page unevenly: fewer than 33 bytes in the last words on both sides",
            "such a destination is EINVAL: receives, READ results, targets of WRITEs"),
        new Hazard(
            "12.3",
            "a bad local key, bound or right in the last element of a send",
            "every element is checked when it is posted, EINVAL; a region that a request names"
                + " does not go away, EBUSY"),
        new Hazard(
            "12.4",
            "a message that is longer than its receive",
            "the number of that queue pair is not used again; the requester's time-out ends it"),
        new Hazard(
            "12.5",
            "a message that finds no receive",
            "no shared receive queues; the number of that queue pair is not used again; the"
                + " requester's time-out ends it"),
        new Hazard(
            "12.6",
            "a READ that the responder refuses",
            "keys of the same device are checked when it is posted"),
        new Hazard(
            "12.7",
            "atomics, unknown opcodes, a wrong size, a WQE across the end of its ring, a doorbell"
                + " of a queue pair that there is not",
            "EOPNOTSUPP; rings of whole slots; doorbells in RTS only, of 8 bytes"),
        new Hazard("12.8", "receives that are linked", "none is: nds is 0"),
        new Hazard(
            "12.9",
            "a page of MPT or MTT that is not mapped",
            "tables are mapped before use, and never unmapped while the card runs"),
        new Hazard(
            "12.10",
            "RESIZE_CQ, MODIFY_QP without inbox, QUERY_QP of an unmapped page, MAP_ICM of many"
                + " entries, WRITE_MTT of 256",
            "none is ever given"),
        new Hazard(
            "12.11",
            "an access to BAR0+10000h to 9FFFFh, a read of BAR2",
            "the HCR is looked for at 0 first; BAR2 is written only"),
        new Hazard(
            "12.12",
            "a message to a receiver in INIT: acknowledged, and lost",
            "sends in RTS only; the tools have the receiver in RTR before the peer sends; for INIT"
                + " the card is told ERR, in which it refuses what comes too early"),
        new Hazard(
            "12.13",
            "a receive without data unit, unless it is the card's first",
            "it has one, with a key of the driver's own that has no right"),
        new Hazard(
            "12.14",
            "two doorbells behind a chain, one of them for a chain: executed alternately",
            "nothing is chained: each request has its own doorbell"),
        new Hazard(
            "12.15",
            "a fence behind a READ: SENDs carry what was there before, others do not wait",
            "it is never set; the request waits in the ring"),
        new Hazard(
            "12.16",
            "more than 1024 bytes of READs to answer beside payload of the card's own",
            "READs fetch 1024 bytes at a time on the whole device"),
        new Hazard(
            "12.17",
            "MODIFY_QP to ERR or RESET in the middle of a message",
            "the queue pair's packets have left before, or it is given up for dead"),
        new Hazard(
            "12.18",
            "a request that is rung just when the last one of its queue pair is released",
            "one request of a queue pair is under way at a time"),
        new Hazard(
            "12.19",
            "a receive with a data unit without right behind one with",
            "every element is checked; the driver's own unit stands alone"),
        new Hazard(
            "12.20",
            "a message to a queue pair in RST",
            "the card stays in ERR, with peer and sequence numbers, until the next RTR"));
  }

  /** What is known of a line. */
  static Hazard of(String line) {
    return all().stream()
        .filter(hazard -> hazard.line().equals(line))
        .findFirst()
        .orElseGet(() -> new Hazard(line, Sections.of(line), ""));
  }
}

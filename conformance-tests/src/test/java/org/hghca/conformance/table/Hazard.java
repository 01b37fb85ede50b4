package org.hghca.conformance.table;

import java.util.Comparator;
import java.util.List;

/**
 * A use that breaks the makers' card, or a deviation of that card, and the driver's workaround. The
 * tests that guard it have the tag {@code hazard-} with its line.
 *
 * @param line as in tags: 12.n is line n of what breaks a card, in {@code docs/hardware.md};
 *     anything else a rule
 * @param what the use that breaks it
 * @param workaround what the driver does
 */
record Hazard(String line, String what, String workaround) {
  /** The prefix of the tags of tests. */
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
            "an empty message or element",
            "empty elements are dropped; an empty message is EOPNOTSUPP"),
        new Hazard(
            "12.2",
            "data that crosses a page unevenly: fewer than 33 bytes in the last words on both"
                + " sides",
            "such a destination is EINVAL: receives, READ results, targets of WRITEs"),
        new Hazard(
            "12.3",
            "a bad local key, bound or access right in the last element of a send",
            "every element is checked at the post, EINVAL; a region that a request uses"
                + " cannot be deregistered, EBUSY"),
        new Hazard(
            "12.4",
            "a message that is longer than its receive",
            "the number of that queue pair is not used again; the requester's time-out ends it"),
        new Hazard(
            "12.5",
            "a message without a receive",
            "no shared receive queues; the number of that queue pair is not used again; the"
                + " requester's time-out ends it"),
        new Hazard(
            "12.6",
            "a READ that the responder refuses, but for one of a packet with PSN 0",
            "keys of the same device are checked at the post"),
        new Hazard(
            "12.7",
            "atomics, unknown opcodes, a wrong size, a WQE across the end of its ring, a doorbell"
                + " of an unknown queue pair",
            "EOPNOTSUPP; rings of whole slots; doorbells in RTS only, of 8 bytes"),
        new Hazard("12.8", "linked receives", "receives are not linked: nds is 0"),
        new Hazard(
            "12.9",
            "a page of MPT or MTT that is not mapped",
            "tables are mapped before use, and never unmapped while the card runs"),
        new Hazard(
            "12.10",
            "RESIZE_CQ, MODIFY_QP without inbox, QUERY_QP of an unmapped page, MAP_ICM of many"
                + " entries, WRITE_MTT of 256",
            "the driver never issues them"),
        new Hazard(
            "12.11",
            "an access to BAR0+10000h to 9FFFFh, a read of BAR2",
            "the HCR is probed at 0 first; BAR2 is only written"),
        new Hazard(
            "12.12",
            "a message to a receiver in INIT: acknowledged but lost",
            "sends in RTS only; the tools have the receiver in RTR before the peer sends; for INIT"
                + " the card gets ERR, in which it refuses early messages"),
        new Hazard(
            "12.13",
            "a receive without data unit, unless it is the card's first",
            "it has one, with a key of the driver's own without access rights"),
        new Hazard(
            "12.14",
            "two doorbells behind a chain, one of them for a chain: executed alternately",
            "nothing is chained: each request has its own doorbell"),
        new Hazard(
            "12.15",
            "a fence behind a READ: SENDs carry the old data, others do not wait",
            "it is never set; the request waits in the ring"),
        new Hazard(
            "12.16",
            "two cards that both have more than 50 requests in flight, or READs beside 8000 bytes"
                + " and more of their own",
            "at most 40 requests in flight on the whole device; READs fetch 896 bytes at a time,"
                + " and beside them all requests move 4 KiB or one goes alone"),
        new Hazard(
            "12.17",
            "MODIFY_QP to ERR or RESET in the middle of a message",
            "the driver waits until the queue pair's packets have left, else the device goes to the"
                + " error state"),
        new Hazard(
            "12.18",
            "a doorbell in the moment in which the last request of its queue pair is released",
            "one request of a queue pair is in flight at a time"),
        new Hazard(
            "12.19",
            "a receive with a data unit without access right behind one with access right",
            "every element is checked; the driver's own unit is the only one"),
        new Hazard(
            "12.20",
            "a message to a queue pair in RST",
            "the card stays in ERR, with peer and sequence numbers, until the next RTR"),
        new Hazard(
            "12.21",
            "a SEND or WRITE of a connection that has PSN FFFFFFh",
            "READs from memory that the peer's driver offers carry the PSN over it; without such"
                + " memory the queue pair ends in order before it"));
  }

  /** The hazard of a line. */
  static Hazard of(String line) {
    return all().stream()
        .filter(hazard -> hazard.line().equals(line))
        .findFirst()
        .orElseGet(() -> new Hazard(line, Sections.of(line), ""));
  }
}

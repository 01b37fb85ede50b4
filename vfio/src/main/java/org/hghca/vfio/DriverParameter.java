package org.hghca.vfio;

import java.util.Arrays;
import java.util.List;

/**
 * The parameters of a locator that belong to the driver of the function, whatever backend opens it:
 * a backend accepts them, and has no parameter of its own with such a name. {@link
 * Locator#checkParameters} accepts them.
 */
public enum DriverParameter {
  /** The profile of the card. */
  AS("as", "`s`, `r1` or `r2`", "profile of the card; detected by default"),

  /** Position of the command register. */
  HCR("hcr", "an offset in BAR0", "position of the command register; detected by default"),

  /** Whether the profile and the offset of the locator are used without a probe at 0h. */
  ASSUME_PROFILE(
      "assumeProfile",
      "`true` or `false`",
      "`as=` and `hcr=` are used without a probe at offset 0 before; a wrong one can cut off the"
          + " host's access to a card of the makers' RTL until its bitstream is loaded again"),

  /** Whether a card without a reset is in its initial state. */
  ASSUME_CLEAN(
      "assumeClean",
      "`true` or `false`",
      "a card without a reset has not been used since its bitstream was loaded"),

  /** How the driver is notified of completions and events. */
  EVENTS(
      "events",
      "`eq` or `poll`",
      "whether the driver uses event queues or interrupts, or polls the completion queues itself"),

  /** Size of the event queues of completions. */
  EVENT_ENTRIES(
      "eqEntries",
      "a power of two, 64 to 65536",
      "entries of each event queue of completions; 4096 by default"),

  /** Maximum time of a command. */
  LIMIT("limit", "a duration, `PT5M`", "longest time of a command; 10 s times `slow=` by default"),

  /** Maximum number of requests in flight on a card. */
  IN_FLIGHT(
      "inflight",
      "1 to 63",
      "how many requests of all queue pairs are in flight on a card of the makers' RTL; 40 by"
          + " default on R1, more can stop it and its peer"),

  /** Maximum number of outstanding requests of a queue pair on a card. */
  OUTSTANDING(
      "outstanding",
      "1 to `inflight`",
      "how many requests of a queue pair are outstanding on a card of the makers' RTL; 1 by"
          + " default, more can lose completions"),

  /** {@link TimeScale}. */
  SLOW(
      "slow",
      "1 to 1000000",
      "how many times slower than a card the device is, such as a logic simulator; multiplies every"
          + " time-out"),

  /** The file of {@link org.hghca.vfio.trace.TraceFile}. */
  TRACE(
      "trace",
      "`FILE` or `FILE,full`",
      "where a time line of commands, doorbells, completions, events, interrupts and mappings is"
          + " written when the device closes; with `,full` everything that a replay needs, as it"
          + " goes"),

  /** Whether queue pairs pass the PSN wrap on a card that does not. */
  WRAP(
      "wrap",
      "`on` or `off`",
      "whether connections on a card of the makers' first RTL offer each other memory for READs"
          + " that take their PSNs over the wrap; `on` by default"),

  /** {@link LinkAddress#mac}. */
  MAC("mac", "`02:00:00:00:00:01`", "the Ethernet address of its port"),

  /** {@link LinkAddress#addresses}. */
  IP("ip", "`10.0.0.1,fd00::1`", "the IP addresses of its port");

  private final String key;
  private final String form;
  private final String meaning;

  DriverParameter(String key, String form, String meaning) {
    this.key = key;
    this.form = form;
    this.meaning = meaning;
  }

  /** Its form in a locator, before the equals sign. */
  public String key() {
    return key;
  }

  /** The values after the equals sign, in the words of the documentation. */
  public String form() {
    return form;
  }

  /** What it does, in the words of the documentation. */
  public String meaning() {
    return meaning;
  }

  static List<String> keys() {
    return Arrays.stream(values()).map(DriverParameter::key).toList();
  }
}

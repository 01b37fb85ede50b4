package org.hghca.programs.perf.medium;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.PerfException;

/**
 * The parameters that both sides must have in common, which two of this program exchange after
 * their versions: a fixed number of bytes with lines {@code name=value}.
 *
 * @param values by the name for people
 */
public record Agreement(Map<String, String> values) {
  /** Bytes of a message. */
  static final int LENGTH = 512;

  /** Words of a value. */
  static final String ALL = "all";

  static final String ENDLESS = "endless";
  static final String ITERATIONS = " iterations";
  static final String SECONDS = " s";

  private static final String PROGRAM = "program";
  private static final String SIZE = "message size (-s, -a)";
  private static final String EXTENT = "extent (-n, -D, --run_infinitely)";
  private static final String WRAP_MEMORY = "memory for the PSN wrap";

  public static Agreement of(Parameters parameters) {
    Parameters.Amount amount = parameters.amount();
    Map<String, String> values = new LinkedHashMap<>();
    values.put(PROGRAM, parameters.test().program());
    values.put("connection type (-c)", parameters.type().name());
    values.put(
        SIZE, amount.all() ? ALL : amount.adaptable() ? "default" : Long.toString(amount.size()));
    values.put(
        EXTENT,
        amount
            .span()
            .map(span -> span.endless() ? ENDLESS : span.whole().toSeconds() + SECONDS)
            .orElse(amount.iterations() + ITERATIONS));
    values.put("queue pairs (-q)", Integer.toString(parameters.queues().pairs()));
    values.put("bidirectional (-b)", parameters.isBidirectional() ? "yes" : "no");
    boolean connects = parameters.route().meeting().connects();
    values.put("queue pairs by rdma_cm (-R)", connects ? "yes" : "no");
    values.put("multicast (-g)", parameters.route().multicast().isPresent() ? "yes" : "no");
    return new Agreement(values);
  }

  /**
   * The same of a side that offers memory for the PSN wrap of each queue pair, in a line more. It
   * does where its device needs it, and the peer need not.
   */
  public Agreement withWrapMemory() {
    Map<String, String> more = new LinkedHashMap<>(values);
    more.put(WRAP_MEMORY, "offered");
    return new Agreement(more);
  }

  /** Whether this side offers memory, so that offers are exchanged if the other one does, too. */
  public boolean offersWrapMemory() {
    return values.containsKey(WRAP_MEMORY);
  }

  /** Whether both are of the same program. */
  public boolean isOfTheProgramOf(Agreement peer) {
    return values.get(PROGRAM).equals(peer.values.get(PROGRAM));
  }

  /** How much this side transfers. */
  public ClientAmount amount() {
    return ClientAmount.of(values.getOrDefault(SIZE, ""), values.getOrDefault(EXTENT, ""));
  }

  byte[] toMessage() {
    StringBuilder text = new StringBuilder();
    values.forEach((name, value) -> text.append(name).append('=').append(value).append('\n'));
    return Arrays.copyOf(text.toString().getBytes(US_ASCII), LENGTH);
  }

  /** Reads a message; what is no line of a parameter counts as missing. */
  static Agreement parse(byte[] message) {
    int end = 0;
    while (end < message.length && message[end] != 0) {
      end++;
    }
    Map<String, String> values = new LinkedHashMap<>();
    for (String line : new String(message, 0, end, US_ASCII).split("\n")) {
      int equals = line.indexOf('=');
      if (equals > 0) {
        values.put(line.substring(0, equals), line.substring(equals + 1));
      }
    }
    return new Agreement(values);
  }

  /**
   * Compares them.
   *
   * @throws PerfException when they differ, with all differences
   */
  public void check(Agreement peer) {
    List<String> differences = new ArrayList<>();
    values.forEach(
        (name, own) -> {
          String other = peer.values.getOrDefault(name, "unknown");
          if (!other.equals(own) && !name.equals(WRAP_MEMORY)) {
            differences.add("%s: here %s, there %s".formatted(name, own, other));
          }
        });
    if (!differences.isEmpty()) {
      throw new PerfException("the two sides differ: " + String.join("; ", differences));
    }
  }
}

package org.hghca.programs.perf.medium;

import java.util.OptionalInt;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.PerfException;

/**
 * How much a client transfers, for a server that leaves that to it; what it does not say is empty.
 *
 * @param size bytes of a message
 * @param all whether all sizes are measured
 * @param iterations messages of a queue pair
 * @param seconds of a measurement by time
 * @param endless whether only an interrupt ends it
 */
public record ClientAmount(
    OptionalInt size, boolean all, OptionalInt iterations, OptionalInt seconds, boolean endless) {

  /** What a server does with it. */
  @FunctionalInterface
  public interface Taker {
    /**
     * The server's parameters, with the client's amount where its own options name none.
     *
     * @throws PerfException when its other options exclude that
     */
    Parameters take(ClientAmount amount);
  }

  /** Reads the words of an {@link Agreement}. */
  static ClientAmount of(String size, String extent) {
    return new ClientAmount(
        number(size),
        size.equals(Agreement.ALL),
        before(extent, Agreement.ITERATIONS),
        before(extent, Agreement.SECONDS),
        extent.equals(Agreement.ENDLESS));
  }

  private static OptionalInt before(String text, String unit) {
    return text.endsWith(unit)
        ? number(text.substring(0, text.length() - unit.length()))
        : OptionalInt.empty();
  }

  private static OptionalInt number(String text) {
    try {
      return OptionalInt.of(Integer.parseInt(text));
    } catch (NumberFormatException _) {
      return OptionalInt.empty();
    }
  }
}

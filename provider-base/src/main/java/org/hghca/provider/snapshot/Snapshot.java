package org.hghca.provider.snapshot;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The counters of one device of one program at one moment. Immutable.
 *
 * @param locator of the device
 * @param time of the copy, in milliseconds since 1970
 */
public record Snapshot(Program program, String device, String locator, long time, List<Row> rows) {

  /**
   * A process.
   *
   * @param pid in its own namespace of processes
   * @param start when it began, in milliseconds since 1970
   * @param name the last part of the name of what its JVM runs
   */
  public record Program(long pid, long start, String name) {}

  /**
   * What a row is about.
   *
   * @param context the number of the opening of a device in its process, from 1; 0 of a port or
   *     link
   * @param number of a queue on its device, or of a port
   * @param others how many things the row sums up that have none of their own; 0 of a single one
   * @param type of a queue pair, such as RC; empty for anything else
   * @param state of a queue pair, such as RTS; of a context {@code failed} when its device is dead;
   *     otherwise empty
   * @param peer the address that a queue pair is connected to; empty for none
   * @param peerNumber that of the peer's queue pair
   */
  public record Subject(
      Kind kind,
      long context,
      int number,
      int others,
      String type,
      String state,
      String peer,
      int peerNumber) {

    static Subject of(Kind kind, int number) {
      return new Subject(kind, 0, number, 0, "", "", "", 0);
    }

    /** A context, or a completion queue of one. */
    public static Subject of(Kind kind, long context, int number, String state) {
      return new Subject(kind, context, number, 0, "", state, "", 0);
    }

    /** Things that have no rows of their own. */
    public static Subject others(Kind kind, int count) {
      return new Subject(kind, 0, 0, count, "", "", "", 0);
    }
  }

  /**
   * What was counted of one thing.
   *
   * @param values of all metrics of its kind, by name
   */
  public record Row(Subject subject, Map<String, Long> values) {
    /** One value, 0 for a name that its kind does not have. */
    public long value(String name) {
      return values.getOrDefault(name, 0L);
    }
  }

  /**
   * Reads what {@link SnapshotEncoder} has written.
   *
   * @throws IOException saying what is wrong with it
   */
  public static Snapshot of(ByteBuffer encoded) throws IOException {
    return SnapshotDecoder.decode(encoded);
  }

  /** The rows of a kind. */
  public Stream<Row> rows(Kind kind) {
    return rows.stream().filter(row -> row.subject().kind() == kind);
  }
}

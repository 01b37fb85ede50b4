package org.hghca.provider.snapshot;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.zip.CRC32C;
import org.hghca.provider.counters.Tally;
import org.hghca.provider.snapshot.Snapshot.Program;
import org.hghca.provider.snapshot.Snapshot.Subject;
import org.hghca.verbs.Counter;

/**
 * Writes snapshots of a device in {@link SnapshotLayout}, one after another in the same memory:
 * each begins with {@link #begin}, has rows, and ends with {@link #end}. Not thread-safe.
 */
public final class SnapshotEncoder {
  private final Program program;
  private final String device;
  private final String locator;
  private ByteBuffer to = buffer(4096);
  private int rowsAt;
  private int rows;

  public SnapshotEncoder(Program program, String device, String locator) {
    this.program = program;
    this.device = device;
    this.locator = locator;
  }

  private static ByteBuffer buffer(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  public void begin() {
    to.clear().position(SnapshotLayout.HEADER);
    put(program.name());
    put(device);
    put(locator);
    rowsAt = to.position();
    rows = 0;
    room(Integer.BYTES).putInt(0);
  }

  /** A row of a kind that has counters. */
  public void row(Subject subject, Tally values) {
    put(subject, subject.kind().counters().size());
    for (Counter counter : subject.kind().counters()) {
      room(Long.BYTES).putLong(values.get(counter));
    }
  }

  /**
   * The rows of a port and its link.
   *
   * @param values by name, with the prefix of the kind
   */
  public void ports(Map<String, Long> values) {
    for (Kind kind : new Kind[] {Kind.PORT, Kind.LINK}) {
      if (values.keySet().stream().anyMatch(name -> name.startsWith(kind.prefix()))) {
        put(Subject.of(kind, 1), kind.metrics().size());
        for (Metric metric : kind.metrics()) {
          room(Long.BYTES).putLong(values.getOrDefault(kind.prefix() + metric.name(), 0L));
        }
      }
    }
  }

  private void put(Subject subject, int values) {
    rows++;
    room(1 + Long.BYTES + 3 * Integer.BYTES)
        .put((byte) subject.kind().ordinal())
        .putLong(subject.context())
        .putInt(subject.number())
        .putInt(subject.others())
        .putInt(subject.peerNumber());
    put(subject.type());
    put(subject.state());
    put(subject.peer());
    room(Short.BYTES).putShort((short) values);
  }

  /**
   * Makes no copy of a text of ASCII, as nearly all are: thousands of rows are written twice a
   * second.
   */
  private void put(String text) {
    int length = Math.min(text.length(), SnapshotLayout.MOST_TEXT);
    ByteBuffer into = room(Short.BYTES + length);
    int start = into.position();
    into.putShort((short) length);
    for (int i = 0; i < length; i++) {
      char c = text.charAt(i);
      if (c >= 0x80) {
        into.position(start);
        put(text.getBytes(StandardCharsets.UTF_8));
        return;
      }
      into.put((byte) c);
    }
  }

  private void put(byte[] text) {
    int length = Math.min(text.length, SnapshotLayout.MOST_TEXT);
    room(Short.BYTES + length).putShort((short) length).put(text, 0, length);
  }

  private ByteBuffer room(int bytes) {
    if (to.remaining() < bytes) {
      to = buffer(2 * to.capacity()).put(to.flip());
    }
    return to;
  }

  /**
   * The snapshot, with the sequence 0; valid until the next one begins.
   *
   * @param time of the copy, in milliseconds since 1970
   */
  public ByteBuffer end(long time) {
    to.putInt(rowsAt, rows).flip();
    int length = to.limit() - SnapshotLayout.HEADER;
    CRC32C crc = new CRC32C();
    crc.update(to.slice(SnapshotLayout.HEADER, length));
    return to.putLong(0, SnapshotLayout.MAGIC)
        .putInt(SnapshotLayout.VERSION_AT, SnapshotLayout.VERSION)
        .putInt(SnapshotLayout.HEADER_AT, SnapshotLayout.HEADER)
        .putLong(SnapshotLayout.SEQUENCE_AT, 0)
        .putLong(SnapshotLayout.TIME_AT, time)
        .putInt(SnapshotLayout.LENGTH_AT, length)
        .putInt(SnapshotLayout.CRC_AT, (int) crc.getValue())
        .putLong(SnapshotLayout.PID_AT, program.pid())
        .putLong(SnapshotLayout.START_AT, program.start())
        .putLong(SnapshotLayout.START_AT + Long.BYTES, 0);
  }
}

package org.hghca.provider.snapshot;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import org.hghca.provider.snapshot.Snapshot.Program;
import org.hghca.provider.snapshot.Snapshot.Row;
import org.hghca.provider.snapshot.Snapshot.Subject;

/** Reads a snapshot in {@link SnapshotLayout}, of which it believes nothing. */
final class SnapshotDecoder {
  /** The bytes of a row without texts and values. */
  private static final int LEAST_ROW = 29;

  private final ByteBuffer from;

  private SnapshotDecoder(ByteBuffer from) {
    this.from = from;
  }

  /**
   * Reads a whole snapshot.
   *
   * @throws IOException saying what is wrong with it
   */
  static Snapshot decode(ByteBuffer file) throws IOException {
    ByteBuffer header = file.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    int length = bodyLength(header);
    if (header.remaining() < SnapshotLayout.HEADER + length) {
      throw cut();
    }
    ByteBuffer body = header.slice(SnapshotLayout.HEADER, length).order(ByteOrder.LITTLE_ENDIAN);
    CRC32C crc = new CRC32C();
    crc.update(body.duplicate());
    if ((int) crc.getValue() != header.getInt(SnapshotLayout.CRC_AT)) {
      throw new IOException("is damaged: its checksum is that of another content");
    }
    try {
      return new SnapshotDecoder(body).snapshot(header);
    } catch (BufferUnderflowException e) {
      throw cut();
    }
  }

  /**
   * Checks a header; returns the bytes of the body.
   *
   * @param header from position 0 on
   */
  static int bodyLength(ByteBuffer header) throws IOException {
    if (header.limit() < SnapshotLayout.HEADER) {
      throw cut();
    }
    if (header.getLong(0) != SnapshotLayout.MAGIC) {
      throw new IOException("is no snapshot of counters");
    }
    int version = header.getInt(SnapshotLayout.VERSION_AT);
    if (version != SnapshotLayout.VERSION
        || header.getInt(SnapshotLayout.HEADER_AT) != SnapshotLayout.HEADER) {
      throw new IOException(
          "has layout %d, of another version of hghca than this one, which reads layout %d"
              .formatted(version, SnapshotLayout.VERSION));
    }
    int length = header.getInt(SnapshotLayout.LENGTH_AT);
    if (length < 0 || length > SnapshotLayout.MOST_BODY) {
      throw new IOException(
          "is damaged: a body of %s bytes".formatted(Integer.toUnsignedString(length)));
    }
    return length;
  }

  static IOException cut() {
    return new IOException("is cut short");
  }

  private Snapshot snapshot(ByteBuffer header) throws IOException {
    Program program =
        new Program(
            header.getLong(SnapshotLayout.PID_AT), header.getLong(SnapshotLayout.START_AT), text());
    String device = text();
    String locator = text();
    int count = from.getInt();
    if (count < 0 || count > from.remaining() / LEAST_ROW) {
      throw new IOException("is damaged: %s rows".formatted(Integer.toUnsignedString(count)));
    }
    List<Row> rows = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      rows.add(row());
    }
    return new Snapshot(
        program,
        device,
        locator,
        header.getLong(SnapshotLayout.TIME_AT),
        Collections.unmodifiableList(rows));
  }

  private Row row() throws IOException {
    int code = from.get();
    if (code < 0 || code >= Kind.values().length) {
      throw new IOException("is damaged: a row of kind %d".formatted(code));
    }
    Kind kind = Kind.values()[code];
    long context = from.getLong();
    int number = from.getInt();
    int others = from.getInt();
    int peerNumber = from.getInt();
    Subject subject =
        new Subject(kind, context, number, others, text(), text(), text(), peerNumber);
    int values = Short.toUnsignedInt(from.getShort());
    if (values != kind.metrics().size()) {
      throw new IOException("is damaged: a %s of %d values".formatted(kind, values));
    }
    Map<String, Long> byName = new LinkedHashMap<>();
    for (Metric metric : kind.metrics()) {
      byName.put(metric.name(), from.getLong());
    }
    return new Row(subject, Collections.unmodifiableMap(byName));
  }

  /** A text without what would control a terminal. */
  private String text() throws IOException {
    int length = Short.toUnsignedInt(from.getShort());
    if (length > SnapshotLayout.MOST_TEXT) {
      throw new IOException("is damaged: a text of %d bytes".formatted(length));
    }
    byte[] bytes = new byte[length];
    from.get(bytes);
    return new String(bytes, StandardCharsets.UTF_8).replaceAll("\\p{Cc}", "?");
  }
}

package org.hghca.provider.snapshot;

/**
 * The layout of a snapshot's file, little-endian:
 *
 * <pre>
 *   0   8  "HGHCACTR"
 *   8   4  version
 *  12   4  bytes of this header
 *  16   8  sequence: odd while the file is being written, another one after each time
 *  24   8  time of the copy, milliseconds since 1970
 *  32   4  bytes of the body, which follows
 *  36   4  CRC-32C of the body
 *  40   8  process id
 *  48   8  start of the process, milliseconds since 1970
 *  56   8  0
 * </pre>
 *
 * The body is the texts program, device and locator, then the number of rows (4), then the rows: 1
 * byte kind (the order of {@link Kind}), 8 context, 4 number, 4 others, 4 number of the peer, the
 * texts type, state and peer, 2 number of values, 8 for each value. A text is 2 bytes of length and
 * UTF-8.
 *
 * <p>The version changes with any of this, and with the metrics of {@link Kind}.
 */
final class SnapshotLayout {
  static final long MAGIC = 0x5254_4341_4348_4748L;
  static final int VERSION = 1;
  static final int HEADER = 64;

  static final int VERSION_AT = 8;
  static final int HEADER_AT = 12;
  static final int SEQUENCE_AT = 16;
  static final int TIME_AT = 24;
  static final int LENGTH_AT = 32;
  static final int CRC_AT = 36;
  static final int PID_AT = 40;
  static final int START_AT = 48;

  /** The longest text, in bytes. */
  static final int MOST_TEXT = 1024;

  /** The longest body that a reader takes. */
  static final int MOST_BODY = 16 << 20;

  private SnapshotLayout() {}
}

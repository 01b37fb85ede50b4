package org.hghca.wire.capture;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The bytes of a capture, read in parts of limited size. Used by one thread. */
final class CaptureInput implements AutoCloseable {
  /** The largest part: a longer block is not valid. */
  static final int MOST = 1 << 20;

  /** The longest frame, as Wireshark has it. */
  private static final int MOST_FRAME = 1 << 18;

  private final InputStream in;
  private byte[] bytes = new byte[1 << 12];
  private ByteOrder order = ByteOrder.BIG_ENDIAN;
  private long taken;

  CaptureInput(InputStream in) {
    this.in = new BufferedInputStream(in, 1 << 16);
  }

  /** The order of the numbers in all parts from now on. */
  void order(ByteOrder now) {
    order = now;
  }

  ByteOrder order() {
    return order;
  }

  /** Whether there is more. */
  boolean hasMore() throws IOException {
    in.mark(1);
    boolean more = in.read() >= 0;
    in.reset();
    return more;
  }

  /**
   * The first four bytes as a big-endian number, without consuming them.
   *
   * @throws CaptureException when there are fewer
   */
  int peek() throws IOException {
    in.mark(4);
    byte[] first = in.readNBytes(4);
    in.reset();
    if (first.length < 4) {
      throw new CaptureException(
          first.length == 0
              ? "the file is empty"
              : "neither pcapng nor pcap: it has only %d bytes".formatted(first.length));
    }
    return ByteBuffer.wrap(first).getInt();
  }

  /**
   * Reads a part, which is valid until the next one is read.
   *
   * @param length up to {@link #MOST}
   * @throws CaptureException when there is less
   */
  ByteBuffer take(int length) throws IOException {
    if (bytes.length < length) {
      bytes = new byte[Math.max(length, Math.min(2 * bytes.length, MOST))];
    }
    int got = in.readNBytes(bytes, 0, length);
    taken += got;
    if (got < length) {
      throw new CaptureException(
          "cut off after %d bytes, in the middle of a block".formatted(taken));
    }
    return ByteBuffer.wrap(bytes, 0, length).order(order);
  }

  /** Skips bytes. */
  void skip(long length) throws IOException {
    for (long left = length; left > 0; left -= Math.min(left, bytes.length)) {
      take((int) Math.min(left, bytes.length));
    }
  }

  /** The frame at the offset at which a part is read. */
  byte[] frame(ByteBuffer piece, long length) throws IOException {
    if (length > Math.min(piece.remaining(), MOST_FRAME)) {
      throw wrong("a packet of %d bytes".formatted(length));
    }
    byte[] frame = new byte[(int) length];
    piece.get(frame);
    return frame;
  }

  /** Checks the length of a frame that is to be read. */
  int frameLength(long length) throws CaptureException {
    if (length > MOST_FRAME) {
      throw wrong("a packet of %d bytes".formatted(length));
    }
    return (int) length;
  }

  /** The bytes read last are malformed. */
  CaptureException wrong(String what) {
    return new CaptureException("malformed before byte %d: %s".formatted(taken, what));
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}

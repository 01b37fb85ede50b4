package org.hghca.jgroups;

import java.io.DataInput;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * Reads a bundle where the card has put it, without a copy. Re-pointed for each; not thread-safe.
 */
final class SegmentInput implements DataInput {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private MemorySegment memory = MemorySegment.NULL;
  private long at;
  private long end;

  /** Points at a part of memory. */
  SegmentInput of(MemorySegment source, long offset, long size) {
    Objects.checkFromIndexSize(offset, size, source.byteSize());
    memory = source;
    at = offset;
    end = offset + size;
    return this;
  }

  /** Where the next bytes are; fails when there are not so many. */
  private long take(int bytes) throws EOFException {
    if (bytes > end - at) {
      throw new EOFException("%d bytes are left, not %d".formatted(end - at, bytes));
    }
    long taken = at;
    at += bytes;
    return taken;
  }

  @Override
  public void readFully(byte[] to) throws IOException {
    readFully(to, 0, to.length);
  }

  @Override
  public void readFully(byte[] to, int offset, int length) throws IOException {
    MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, take(length), to, offset, length);
  }

  @Override
  public int skipBytes(int count) {
    int skipped = Math.clamp(end - at, 0, Math.max(count, 0));
    at += skipped;
    return skipped;
  }

  @Override
  public boolean readBoolean() throws IOException {
    return readByte() != 0;
  }

  @Override
  public byte readByte() throws IOException {
    return memory.get(ValueLayout.JAVA_BYTE, take(Byte.BYTES));
  }

  @Override
  public int readUnsignedByte() throws IOException {
    return Byte.toUnsignedInt(readByte());
  }

  @Override
  public short readShort() throws IOException {
    return memory.get(SHORT, take(Short.BYTES));
  }

  @Override
  public int readUnsignedShort() throws IOException {
    return Short.toUnsignedInt(readShort());
  }

  @Override
  public char readChar() throws IOException {
    return (char) readShort();
  }

  @Override
  public int readInt() throws IOException {
    return memory.get(INT, take(Integer.BYTES));
  }

  @Override
  public long readLong() throws IOException {
    return memory.get(LONG, take(Long.BYTES));
  }

  @Override
  public float readFloat() throws IOException {
    return Float.intBitsToFloat(readInt());
  }

  @Override
  public double readDouble() throws IOException {
    return Double.longBitsToDouble(readLong());
  }

  @Override
  public String readLine() {
    throw new UnsupportedOperationException("a bundle has no lines");
  }

  @Override
  public String readUTF() throws IOException {
    return DataInputStream.readUTF(this);
  }
}

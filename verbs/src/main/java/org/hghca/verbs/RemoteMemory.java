package org.hghca.verbs;

import java.nio.BufferOverflowException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * Memory of a peer: the target of RDMA WRITE, RDMA READ and atomics.
 *
 * <p>It is transferred as {@link #BYTES} bytes, in network byte order, independent of the buffer's
 * order:
 *
 * <table>
 * <caption>Layout</caption>
 * <tr><th>bytes</th><th>what</th></tr>
 * <tr><td>0 to 7</td><td>address</td></tr>
 * <tr><td>8 to 15</td><td>length</td></tr>
 * <tr><td>16 to 19</td><td>rkey</td></tr>
 * </table>
 *
 * @param address of the first byte
 * @param rkey the peer's key
 * @param length in bytes, at least 0
 */
public record RemoteMemory(long address, int rkey, long length) {
  /** Bytes of the layout. */
  public static final int BYTES = 20;

  /**
   * Memory.
   *
   * @throws VerbsException EINVAL when the length is negative
   */
  public RemoteMemory {
    if (length < 0) {
      throw new VerbsException(
          Errno.EINVAL, "the length of remote memory cannot be %d".formatted(length));
    }
  }

  /**
   * Writes it at the buffer's position, and advances that.
   *
   * @throws BufferOverflowException when there is no room; nothing is written
   */
  public void writeTo(ByteBuffer buffer) {
    ByteOrder order = buffer.order();
    if (buffer.remaining() < BYTES) {
      throw new BufferOverflowException();
    }
    buffer.order(ByteOrder.BIG_ENDIAN);
    buffer.putLong(address).putLong(length).putInt(rkey);
    buffer.order(order);
  }

  /**
   * Reads what {@link #writeTo} wrote from the buffer's position, and advances that.
   *
   * @throws BufferUnderflowException when there are fewer bytes; nothing is read
   * @throws VerbsException EINVAL when the bytes are none of such memory
   */
  public static RemoteMemory readFrom(ByteBuffer buffer) {
    ByteOrder order = buffer.order();
    if (buffer.remaining() < BYTES) {
      throw new BufferUnderflowException();
    }
    buffer.order(ByteOrder.BIG_ENDIAN);
    long address = buffer.getLong();
    long length = buffer.getLong();
    int rkey = buffer.getInt();
    buffer.order(order);
    return new RemoteMemory(address, rkey, length);
  }

  /** The bytes of the layout. */
  public byte[] toBytes() {
    ByteBuffer buffer = ByteBuffer.allocate(BYTES);
    writeTo(buffer);
    return buffer.array();
  }

  /**
   * Reads {@link #toBytes}.
   *
   * @throws VerbsException EINVAL when there are not {@link #BYTES} bytes, or they are none of such
   *     memory
   */
  public static RemoteMemory of(byte[] bytes) {
    if (bytes.length != BYTES) {
      throw new VerbsException(
          Errno.EINVAL, "remote memory has %d bytes, not %d".formatted(BYTES, bytes.length));
    }
    return readFrom(ByteBuffer.wrap(bytes));
  }

  /**
   * A part of it.
   *
   * @param offset in this memory, in bytes
   * @throws IndexOutOfBoundsException when the part reaches beyond it
   */
  public RemoteMemory slice(long offset, long length) {
    Objects.checkFromIndexSize(offset, length, this.length);
    return new RemoteMemory(address + offset, rkey, length);
  }

  @Override
  public String toString() {
    return "%d bytes at 0x%x rkey 0x%08x".formatted(length, address, rkey);
  }
}

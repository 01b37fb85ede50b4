package org.hghca.sockets.stream;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.hghca.verbs.MemoryRegion;

/**
 * Memory that each end of a stream lets the other one write, beside the stream: what librdmacm
 * calls {@code riomap} and {@code riowrite}. A stream of a device is one; both ends say in {@link
 * StreamOptions} how many pieces of memory they may be told of. One thread at a time.
 */
public interface MappedStream {
  /**
   * Tells the peer of memory, before all that is written to the stream afterwards.
   *
   * @param region with REMOTE_WRITE, open until the peer writes no more
   * @param index of the peer's entry, which it takes the place of
   * @param offset by which the peer names the first byte
   * @return false when there is no room now, as for {@link ByteStream#write}
   * @throws IndexOutOfBoundsException when one of the ends has no such entry
   * @throws IOException as {@link ByteStream#write}
   */
  boolean map(MemoryRegion region, int index, long offset) throws IOException;

  /**
   * Writes into the peer's memory, of which its program is not told. The bytes are copied, and
   * arrive in their order, before what is written to the stream afterwards.
   *
   * @param offset as the peer has said
   * @return how many bytes; 0 when there is no room now, or the peer has told of no memory there
   * @throws IOException as {@link ByteStream#write}
   */
  int writeMapped(ByteBuffer source, long offset) throws IOException;
}

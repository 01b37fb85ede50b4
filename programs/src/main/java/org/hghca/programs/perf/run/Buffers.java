package org.hghca.programs.perf.run;

import org.hghca.programs.perf.medium.Conversation;
import org.hghca.verbs.GlobalRouteHeader;

/**
 * Where messages are in the memory of a side: first what each queue pair sends, then what each
 * receives. Messages of at most half a block follow each other in it; larger ones share a place.
 *
 * @param pairs queue pairs
 * @param largest bytes of the largest message
 * @param layout of both sides
 * @param header bytes before each received message
 */
public record Buffers(int pairs, long largest, Conversation.Layout layout, int header) {
  /** Bytes before a received datagram. */
  public static final int DATAGRAM_HEADER = GlobalRouteHeader.LENGTH;

  /** Bytes of one queue pair, one way. */
  private long block() {
    return Math.max(layout.block(), roundUp(largest + header));
  }

  private long roundUp(long bytes) {
    return (bytes + layout.cacheLine() - 1) / layout.cacheLine() * layout.cacheLine();
  }

  /** Bytes of all of them. */
  long bytes() {
    return 2L * pairs * block();
  }

  long sendOffset(int pair) {
    return pair * block();
  }

  public long receiveOffset(int pair) {
    return (pairs + pair) * block();
  }

  /** Number of places for messages of a size; the peer's memory has as many. */
  int places(long size) {
    return size <= layout.block() / 2 ? (int) (layout.block() / stride(size)) : 1;
  }

  /** Number of places for received messages of a size. */
  int receivePlaces(long size) {
    return places(size + header);
  }

  /** Bytes from one place to the next. */
  long stride(long size) {
    return Math.max(layout.cacheLine(), roundUp(size));
  }

  /** Bytes from one place for a received message to the next. */
  long receiveStride(long size) {
    return stride(size + header);
  }
}

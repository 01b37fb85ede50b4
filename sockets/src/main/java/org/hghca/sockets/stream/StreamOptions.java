package org.hghca.sockets.stream;

import org.hghca.sockets.protocol.MappingEntry;

/**
 * How a connection is made. Immutable.
 *
 * @param receiveBuffer bytes that may wait to be read, from {@link #MIN_BUFFER} to {@link
 *     #MAX_BUFFER}
 * @param sendBuffer bytes that may wait to be sent, in the same range
 * @param receiveQueue messages that the peer may have under way, from {@link #MIN_QUEUE} to {@link
 *     #MAX_QUEUE}
 * @param sendQueue messages that this end may have under way, in the same range
 * @param inline the longest message that is sent inline, in bytes; the device may take less
 * @param keepAlive whether an idle connection is tested
 * @param keepIdleSeconds how often, at least 1
 * @param mappings pieces of memory that the peer may tell of, up to {@link MappingEntry#MOST}
 */
public record StreamOptions(
    int receiveBuffer,
    int sendBuffer,
    int receiveQueue,
    int sendQueue,
    int inline,
    boolean keepAlive,
    int keepIdleSeconds,
    int mappings) {
  public static final int MIN_BUFFER = 4096;
  public static final int MAX_BUFFER = 1 << 26;
  public static final int MIN_QUEUE = 16;
  public static final int MAX_QUEUE = 0xfffe;

  public static final StreamOptions DEFAULT =
      new StreamOptions(1 << 17, 1 << 17, 64, 64, 64, false, 7200, 0);

  /** Brings each value into its range; buffers are even. */
  public StreamOptions {
    receiveBuffer = Math.clamp(receiveBuffer, MIN_BUFFER, MAX_BUFFER) & ~1;
    sendBuffer = Math.clamp(sendBuffer, MIN_BUFFER, MAX_BUFFER) & ~1;
    receiveQueue = Math.clamp(receiveQueue, MIN_QUEUE, MAX_QUEUE);
    sendQueue = Math.clamp(sendQueue, MIN_QUEUE, MAX_QUEUE);
    inline = Math.max(inline, 0);
    keepIdleSeconds = Math.max(keepIdleSeconds, 1);
    mappings = Math.clamp(mappings, 0, MappingEntry.MOST);
  }

  public StreamOptions withReceiveBuffer(int bytes) {
    return new StreamOptions(
        bytes, sendBuffer, receiveQueue, sendQueue, inline, keepAlive, keepIdleSeconds, mappings);
  }

  public StreamOptions withSendBuffer(int bytes) {
    return new StreamOptions(
        receiveBuffer,
        bytes,
        receiveQueue,
        sendQueue,
        inline,
        keepAlive,
        keepIdleSeconds,
        mappings);
  }

  public StreamOptions withKeepAlive(boolean on, int idleSeconds) {
    return new StreamOptions(
        receiveBuffer, sendBuffer, receiveQueue, sendQueue, inline, on, idleSeconds, mappings);
  }

  public StreamOptions withMappings(int count) {
    return new StreamOptions(
        receiveBuffer,
        sendBuffer,
        receiveQueue,
        sendQueue,
        inline,
        keepAlive,
        keepIdleSeconds,
        count);
  }
}

package org.hghca.programs.perf.medium;

import java.time.Duration;
import org.hghca.programs.peer.PeerException;

/**
 * What carries the messages between the two sides: a TCP connection, or with {@code -z} and {@code
 * -R} a connection of the connection manager. One thread at a time. Every method throws {@link
 * PeerException} when the peer has gone, or sends something else.
 */
public interface Medium extends AutoCloseable {
  /** Address and port of the other side. */
  String peer();

  /** Changes the longest wait for a message. */
  void limit(Duration limit);

  /** Sends a message. */
  void write(byte[] message) throws InterruptedException;

  /**
   * Waits for a message.
   *
   * @param what the message is, for errors
   * @return its bytes, all of them
   */
  byte[] read(String what, int length) throws InterruptedException;

  /** Sends the address of a queue pair, unless the medium has another format: as a structure. */
  default void writeAddress(PeerAddress own) throws InterruptedException {
    write(own.toStructure());
  }

  /** Waits for the address of a queue pair. */
  default PeerAddress readAddress() throws InterruptedException {
    return PeerAddress.ofStructure(read("its address", PeerAddress.STRUCTURE));
  }

  @Override
  void close();
}

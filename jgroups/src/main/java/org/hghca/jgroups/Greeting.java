package org.hghca.jgroups;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.jgroups.stack.IpAddress;

/**
 * What two members tell each other when they connect: the private data of request and answer, 44
 * bytes of the 56 that fit.
 *
 * <pre>
 *   0  magic (4)            4  version (1)    5  length of the address, 4 or 16 (1)
 *   6  port (2)             8  address (16)   24 incarnation (8)
 *  32  attempt (4)         36  bytes of a buffer (4)   40 buffers (4)
 * </pre>
 *
 * @param address where the member listens, by which others know it
 * @param incarnation a random number, which another start of the same member does not have
 * @param attempt the number of the member's last attempt to connect to this peer
 * @param bufferSize bytes of a receive
 * @param buffers receives that it has posted: the frames that the peer may send
 */
record Greeting(IpAddress address, long incarnation, int attempt, int bufferSize, int buffers) {
  static final int VERSION = 1;
  private static final int MAGIC = 0x4847_4a47;
  private static final int BYTES = 44;
  private static final int ADDRESS = 8;
  private static final int INCARNATION = 24;
  private static final int IPV4 = 4;
  private static final int IPV6 = 16;

  /** A frame must carry a header and something more, and a peer must be able to send. */
  static final int LEAST_BUFFER = 256;

  /** Credits are 16 bits of a frame. */
  static final int MOST_BUFFERS = 4096;

  byte[] toBytes() {
    byte[] ip = address.getIpAddress().getAddress();
    return ByteBuffer.allocate(BYTES)
        .putInt(MAGIC)
        .put((byte) VERSION)
        .put((byte) ip.length)
        .putShort((short) address.getPort())
        .put(ip)
        .position(INCARNATION)
        .putLong(incarnation)
        .putInt(attempt)
        .putInt(bufferSize)
        .putInt(buffers)
        .array();
  }

  /** Reads private data; empty if a member of this version has not sent it. */
  static Optional<Greeting> of(byte[] bytes) {
    if (bytes.length < BYTES) {
      return Optional.empty();
    }
    ByteBuffer in = ByteBuffer.wrap(bytes);
    boolean known = in.getInt() == MAGIC && in.get() == VERSION;
    byte length = in.get();
    if (!known || length != IPV4 && length != IPV6) {
      return Optional.empty();
    }
    int port = in.getShort() & 0xffff;
    byte[] ip = new byte[length];
    in.get(ADDRESS, ip).position(INCARNATION);
    Greeting greeting =
        new Greeting(address(ip, port), in.getLong(), in.getInt(), in.getInt(), in.getInt());
    return Optional.of(greeting).filter(Greeting::isUsable);
  }

  private boolean isUsable() {
    return bufferSize >= LEAST_BUFFER && buffers > 0 && buffers <= MOST_BUFFERS;
  }

  private static IpAddress address(byte[] ip, int port) {
    try {
      return new IpAddress(InetAddress.getByAddress(ip), port);
    } catch (UnknownHostException e) {
      throw new AssertionError("4 or 16 bytes are an address", e);
    }
  }
}

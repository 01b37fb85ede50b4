package org.hghca.cm.mad;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.verbs.Gid;

/**
 * The header that names addresses, before the private data of REQ and SIDR_REQ: 0 version, 1[7:4]
 * IP version, 2 source port, 4 source address, 20 destination address. An IPv4 address is in the
 * last four of its 16 bytes, with zeros before.
 *
 * @param sourcePort 16 bits
 * @param source the address of the sender
 * @param destination the address of the receiver, of the same kind
 */
public record CmaHeader(int sourcePort, InetAddress source, InetAddress destination) {
  /** Bytes of the header. */
  public static final int LENGTH = 36;

  private static final int VERSION = 0;
  private static final int IPV4 = 4;
  private static final int IPV6 = 6;

  /** The header of two addresses. */
  public static CmaHeader of(InetSocketAddress source, InetSocketAddress destination) {
    return new CmaHeader(source.getPort(), source.getAddress(), destination.getAddress());
  }

  /** Reads the header; empty when it is not one. */
  public static Optional<CmaHeader> read(PrivateData data) {
    if (data.length() < LENGTH) {
      return Optional.empty();
    }
    ByteBuffer bytes = ByteBuffer.wrap(data.toArray());
    int version = bytes.get(1) >>> 4 & 0xf;
    if (bytes.get(0) != VERSION || version != IPV4 && version != IPV6) {
      return Optional.empty();
    }
    return Optional.of(
        new CmaHeader(
            bytes.getShort(2) & 0xffff, address(version, bytes, 4), address(version, bytes, 20)));
  }

  private static InetAddress address(int version, ByteBuffer bytes, int at) {
    Gid gid =
        version == IPV4
            ? Gid.ofIpv4(bytes.getInt(at + 12))
            : new Gid(bytes.getLong(at), bytes.getLong(at + Long.BYTES));
    return gid.address();
  }

  /** The data of the application behind the header. */
  public static PrivateData rest(PrivateData data) {
    byte[] bytes = data.toArray();
    return PrivateData.of(Arrays.copyOfRange(bytes, LENGTH, bytes.length));
  }

  /**
   * The header and the data of the application.
   *
   * @throws IllegalArgumentException when the two addresses are not of one kind
   */
  public PrivateData before(PrivateData data) {
    boolean ipv4 = source instanceof Inet4Address;
    if (ipv4 != destination instanceof Inet4Address) {
      throw new IllegalArgumentException(
          "%s and %s are not both IPv4 or both IPv6".formatted(source, destination));
    }
    ByteBuffer bytes = ByteBuffer.allocate(LENGTH + data.length());
    bytes.put(0, (byte) VERSION).put(1, (byte) ((ipv4 ? IPV4 : IPV6) << 4));
    bytes.putShort(2, (short) sourcePort);
    put(bytes, 4, source);
    put(bytes, 20, destination);
    bytes.put(LENGTH, data.toArray());
    return PrivateData.of(bytes.array());
  }

  private static void put(ByteBuffer bytes, int at, InetAddress address) {
    byte[] value = address.getAddress();
    bytes.put(at + 16 - value.length, value);
  }
}

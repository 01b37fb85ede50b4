package org.hghca.wire.link;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.stream.LongStream;
import org.hghca.wire.IpAddress;

/** The addresses of this machine at one time: what is sent there does not leave it. Immutable. */
final class MachineAddresses {
  private static final int LOOPBACK_NET = 127;

  /** Their halves, in pairs; without those of the net 127.0.0.0/8, which all belong to it. */
  private final long[] halves;

  private MachineAddresses(long... halves) {
    this.halves = halves;
  }

  /** The present ones; none but 127.0.0.0/8 where the system does not tell them. */
  static MachineAddresses now() {
    try {
      return new MachineAddresses(
          NetworkInterface.networkInterfaces()
              .flatMap(NetworkInterface::inetAddresses)
              .map(InetAddress::getAddress)
              .map(ByteBuffer::wrap)
              .flatMapToLong(
                  bytes ->
                      bytes.capacity() == Integer.BYTES
                          ? LongStream.of(0, IpAddress.lowOfIpv4(bytes.getInt()))
                          : LongStream.of(bytes.getLong(), bytes.getLong()))
              .toArray());
    } catch (SocketException e) {
      return new MachineAddresses();
    }
  }

  /** Whether an address, in halves as {@link IpAddress} has, is one of them. */
  boolean has(long high, long low) {
    if (IpAddress.isIpv4(high, low) && (int) low >>> 24 == LOOPBACK_NET) {
      return true;
    }
    for (int i = 0; i < halves.length; i += 2) {
      if (halves[i] == high && halves[i + 1] == low) {
        return true;
      }
    }
    return false;
  }
}

package org.hghca.wire.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SocketFile;
import org.hghca.wire.link.LinkException.Reason;

/**
 * The address of a stream of frames: a Unix socket or a TCP port.
 *
 * @param text the specification
 * @param listens whether to wait there for the peer, or to connect
 * @param path of a Unix socket
 * @param name {@code struct sockaddr} of the address
 */
record StreamAddress(String text, boolean listens, Optional<String> path, MemorySegment name) {
  private static final String LISTEN = "listen:";

  private static final int LAST_PORT = 0xffff;

  /**
   * Reads {@code [listen:]/path} or {@code [listen:]host:port}; a host is looked up.
   *
   * @throws LinkException INVALID
   */
  static StreamAddress parse(String text) {
    boolean listens = text.startsWith(LISTEN);
    String place = listens ? text.substring(LISTEN.length()) : text;
    int colon = place.lastIndexOf(':');
    if (place.startsWith("/")) {
      return new StreamAddress(text, listens, Optional.of(place), unix(text, place));
    }
    if (colon <= 0) {
      throw malformed(text);
    }
    return new StreamAddress(text, listens, Optional.empty(), inet(text, place, colon));
  }

  private static LinkException malformed(String text) {
    return new LinkException(
        Reason.INVALID,
        "stream:%s: give stream:/path, stream:host:port, or either with listen: in front of the place"
            .formatted(text));
  }

  private static MemorySegment unix(String text, String path) {
    byte[] bytes = path.getBytes(StandardCharsets.UTF_8);
    if (bytes.length > SocketFile.LONGEST_PATH) {
      throw new LinkException(
          Reason.INVALID,
          "stream:%s: the path of a Unix socket has up to %d bytes"
              .formatted(text, SocketFile.LONGEST_PATH));
    }
    return SocketFile.name(bytes, Arena.ofAuto());
  }

  private static MemorySegment inet(String text, String place, int colon) {
    String host = place.substring(0, colon).replaceAll("^\\[|\\]$", "");
    int port;
    byte[] address;
    try {
      port = Integer.parseInt(place.substring(colon + 1));
      address = InetAddress.getByName(host).getAddress();
    } catch (NumberFormatException e) {
      throw malformed(text);
    } catch (UnknownHostException e) {
      throw new LinkException(
          Reason.INVALID, "stream:%s: no address is known of host '%s'".formatted(text, host));
    }
    if (port < 1 || port > LAST_PORT) {
      throw malformed(text);
    }
    ByteBuffer bytes = ByteBuffer.wrap(address);
    boolean ipv4 = address.length == Integer.BYTES;
    MemorySegment name = Arena.ofAuto().allocate(SocketName.SPACE, 8);
    if (ipv4) {
      SocketName.writeIpv4(name, 0, bytes.getInt(), port);
    } else {
      SocketName.write(name, 0, bytes.getLong(), bytes.getLong(), port, 0);
    }
    return name.asSlice(0, SocketName.size(ipv4));
  }

  int family() {
    return name.get(ValueLayout.JAVA_SHORT, 0);
  }

  boolean isTcp() {
    return path.isEmpty();
  }

  /** The exception when the kernel refuses to connect or listen there. */
  LinkException refused(long answer) {
    String link = "stream:" + text;
    if (LinuxErrno.ENOENT.is(answer) || LinuxErrno.ECONNREFUSED.is(answer)) {
      return new LinkException(
          Reason.INVALID,
          "%s: no peer listens there: start it first, QEMU for instance with".formatted(link)
              + " '-netdev stream,server=on,...', or wait for it with stream:listen:");
    }
    if (LinuxErrno.EADDRINUSE.is(answer)) {
      return new LinkException(
          Reason.BUSY,
          "%s: another process listens there already: end it, or give another address%s"
              .formatted(link, isTcp() ? "" : "; remove the file if it is left over"));
    }
    if (LinuxErrno.EACCES.is(answer) || LinuxErrno.EPERM.is(answer)) {
      return new LinkException(
          Reason.NO_PERMISSION,
          "%s: this user may not: change the owner or the mode of the socket".formatted(link));
    }
    return new LinkException(Reason.SYSTEM, "%s: %s".formatted(link, LinuxErrno.describe(answer)));
  }
}

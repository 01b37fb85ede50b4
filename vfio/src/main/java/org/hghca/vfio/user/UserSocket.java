package org.hghca.vfio.user;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SocketFile;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/** UNIX stream sockets by path (unix(7)). */
final class UserSocket {
  private static final int AF_UNIX = 1;
  private static final int SOCK_STREAM = 1;
  private static final int SOCK_NONBLOCK = 0x800;
  static final int SOCK_CLOEXEC = 0x8_0000;
  private static final int F_SETFL = 4;
  private static final int SOL_SOCKET = 1;
  private static final int SO_PEERCRED = 17;

  /** {@code struct ucred}: process, user, group. */
  private static final int CREDENTIALS_BYTES = 12;

  private UserSocket() {}

  /** Makes an unconnected, non-blocking socket. */
  static int create(SystemCalls system) {
    int socket = system.socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket < 0) {
      throw new VfioException(
          Reason.NO_MEMORY,
          "cannot make a socket: %s; raise ulimit -n".formatted(LinuxErrno.describe(socket)));
    }
    return socket;
  }

  /** The process at the other end of a connected socket; 0 where the system does not say. */
  static int peerProcess(SystemCalls system, int socket) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment credentials = arena.allocate(CREDENTIALS_BYTES, 4);
      int answer = system.getsockopt(socket, SOL_SOCKET, SO_PEERCRED, credentials);
      return answer < 0 ? 0 : credentials.get(ValueLayout.JAVA_INT, 0);
    }
  }

  /** Makes a socket blocking. */
  static void block(SystemCalls system, int socket) {
    system.fcntl(socket, F_SETFL, 0);
  }

  /**
   * The address of a path.
   *
   * @throws VfioException {@code INVALID} if it is empty or too long
   */
  static MemorySegment address(Arena arena, String path) {
    byte[] bytes = path.getBytes(StandardCharsets.UTF_8);
    if (bytes.length == 0 || bytes.length > SocketFile.LONGEST_PATH || path.indexOf('\0') >= 0) {
      throw new VfioException(
          Reason.INVALID,
          "'%s' cannot be the path of a socket: it has %d bytes, and must have 1 to %d; use a"
                  .formatted(path, bytes.length, SocketFile.LONGEST_PATH)
              + " shorter one");
    }
    return SocketFile.name(bytes, arena);
  }

  /**
   * Connects to a server.
   *
   * @throws VfioException {@code NOT_FOUND} when no server listens there, {@code NO_PERMISSION},
   *     {@code BUSY} when too many clients are waiting, {@code INVALID} for an invalid path
   */
  static int connect(SystemCalls system, String path) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment address = address(arena, path);
      int socket = create(system);
      int answer = system.connect(socket, address);
      if (answer < 0) {
        system.close(socket);
        throw refused(path, answer);
      }
      block(system, socket);
      return socket;
    }
  }

  private static VfioException refused(String path, int answer) {
    String why = LinuxErrno.describe(answer);
    if (LinuxErrno.EACCES.is(answer) || LinuxErrno.EPERM.is(answer)) {
      return new VfioException(
          Reason.NO_PERMISSION,
          "no permission to connect to '%s' (%s): 'ls -l %s' shows the permissions"
              .formatted(path, why, path));
    }
    if (LinuxErrno.EAGAIN.is(answer)) {
      return new VfioException(
          Reason.BUSY,
          "too many clients already wait for the server of '%s' (%s)".formatted(path, why));
    }
    boolean stale = LinuxErrno.ECONNREFUSED.is(answer);
    return new VfioException(
        Reason.NOT_FOUND,
        "%s at '%s' (%s): start the server first, such as 'hghca model serve --socket %s'"
            .formatted(
                stale ? "no server listens any more" : "there is no socket to connect to",
                path,
                why,
                path));
  }
}

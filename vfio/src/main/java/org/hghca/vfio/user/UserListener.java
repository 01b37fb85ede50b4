package org.hghca.vfio.user;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.GroupPrincipal;
import java.util.Optional;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SocketFile;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/** A socket at a path that clients connect to. For one thread, except for {@link #stop}. */
final class UserListener implements AutoCloseable {
  private static final int SHUT_RDWR = 2;
  private static final int F_DUPFD_CLOEXEC = 1030;
  private static final int S_IFMT = 0xf000;
  private static final int S_IFSOCK = 0xc000;
  private static final String NOT_RESTRICTED = "cannot set who may connect to '%s': %s";

  /** Number of clients that may wait for the current one to leave. */
  private static final int BACKLOG = 16;

  private final SystemCalls system;
  private final Path path;
  private final int socket;
  private final Object file;

  /**
   * A descriptor that is released for a client when there is no other, so that the client gets an
   * error; negative where there is none.
   */
  private int spare;

  private boolean closed;

  private UserListener(SystemCalls system, Path path, int socket) {
    this.system = system;
    this.path = path;
    this.socket = socket;
    this.file = attribute(path, "unix:ino");
    keepSpare();
  }

  private void keepSpare() {
    spare = system.fcntl(socket, F_DUPFD_CLOEXEC, 0);
  }

  /**
   * Listens at a path, for clients of this user and of a group. The socket file of a dead server is
   * replaced.
   *
   * @throws VfioException {@code BUSY} when a server listens there, {@code INVALID} when another
   *     file has the path, {@code NO_PERMISSION} or {@code NOT_FOUND} by its folder, {@code
   *     NO_PERMISSION} when the socket cannot be given to the group
   */
  static UserListener open(SystemCalls system, String path, Optional<GroupPrincipal> group) {
    UserListener listener = new UserListener(system, Path.of(path), listen(system, path));
    try {
      group.ifPresent(listener::share);
      return listener;
    } catch (RuntimeException e) {
      listener.close();
      throw e;
    }
  }

  private static int listen(SystemCalls system, String path) {
    int socket = UserSocket.create(system);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment address = UserSocket.address(arena, path);
      int answer = SocketFile.restrictToOwner(system, socket);
      if (answer < 0) {
        throw new VfioException(
            Reason.NO_PERMISSION, NOT_RESTRICTED.formatted(path, LinuxErrno.describe(answer)));
      }
      answer = system.bind(socket, address);
      if (LinuxErrno.EADDRINUSE.is(answer)) {
        removeDead(system, path, address);
        answer = system.bind(socket, address);
      }
      if (answer == 0) {
        answer = listen(system, socket, path);
      }
      if (answer < 0) {
        throw failed(path, answer);
      }
      UserSocket.block(system, socket);
      return socket;
    } catch (RuntimeException e) {
      system.close(socket);
      throw e;
    }
  }

  /** Listens on a bound socket; the file that bind has made goes when that fails. */
  private static int listen(SystemCalls system, int socket, String path) {
    int answer = system.listen(socket, BACKLOG);
    if (answer < 0) {
      delete(Path.of(path));
    }
    return answer;
  }

  private static void delete(Path path) {
    try {
      Files.deleteIfExists(path);
    } catch (IOException e) {
      // It stays; the next server replaces it.
    }
  }

  private void share(GroupPrincipal group) {
    try {
      SocketFile.share(system, path, group);
    } catch (IOException e) {
      throw new VfioException(
          Reason.NO_PERMISSION, NOT_RESTRICTED.formatted(path, e.getMessage()), e);
    }
  }

  private static void removeDead(SystemCalls system, String path, MemorySegment address) {
    if (!(attribute(Path.of(path), "unix:mode") instanceof Integer mode)
        || (mode & S_IFMT) != S_IFSOCK) {
      throw new VfioException(
          Reason.INVALID, "'%s' exists and is no socket: name another path".formatted(path));
    }
    int probe = UserSocket.create(system);
    int answer = system.connect(probe, address);
    system.close(probe);
    if (!LinuxErrno.ECONNREFUSED.is(answer)) {
      throw new VfioException(
          Reason.BUSY,
          "a server already listens at '%s' : end that server ('ss -xlp src %s' shows it), or name"
                  .formatted(path, path)
              + " another path");
    }
    try {
      Files.deleteIfExists(Path.of(path));
    } catch (IOException e) {
      throw new VfioException(
          Reason.NO_PERMISSION,
          "cannot remove the socket of a dead server: 'rm %s' (%s)".formatted(path, e.getMessage()),
          e);
    }
  }

  private static VfioException failed(String path, int answer) {
    Reason reason =
        LinuxErrno.ENOENT.is(answer)
            ? Reason.NOT_FOUND
            : LinuxErrno.EADDRINUSE.is(answer) ? Reason.BUSY : Reason.NO_PERMISSION;
    return new VfioException(
        reason,
        "cannot make a socket at '%s': %s; its folder must exist and be writable"
            .formatted(path, LinuxErrno.describe(answer)));
  }

  private static Object attribute(Path path, String name) {
    try {
      return Files.getAttribute(path, name, LinkOption.NOFOLLOW_LINKS);
    } catch (IOException e) {
      return "gone";
    }
  }

  /**
   * Waits for the next client.
   *
   * @return its socket, or a negative error number; one of them when this is closed
   */
  int accept() {
    if (spare < 0) {
      keepSpare();
    }
    int client = system.accept(socket, UserSocket.SOCK_CLOEXEC);
    if (spare >= 0 && (LinuxErrno.EMFILE.is(client) || LinuxErrno.ENFILE.is(client))) {
      system.close(spare);
      client = system.accept(socket, UserSocket.SOCK_CLOEXEC);
      keepSpare();
    }
    return client;
  }

  /** Whether the process has no descriptors for the client that was accepted last. */
  boolean isOutOfDescriptors() {
    return spare < 0;
  }

  /** Ends {@link #accept}; {@link #close} follows when no thread is in it any longer. */
  void stop() {
    system.shutdown(socket, SHUT_RDWR);
  }

  /** Removes the socket's file, if it is still this one's. Idempotent. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    if (attribute(path, "unix:ino").equals(file)) {
      delete(path);
    }
    system.close(socket);
    if (spare >= 0) {
      system.close(spare);
    }
  }
}

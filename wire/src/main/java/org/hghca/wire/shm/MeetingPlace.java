package org.hghca.wire.shm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.RuntimeDirectory;
import org.hghca.linux.SocketFile;
import org.hghca.linux.SystemCalls;

/**
 * The directory where the members of a medium meet: each listens on a socket there, and connects to
 * those that are there when it comes. Who comes holds the lock of the directory, so that of any two
 * one meets the other, and removes the sockets of those that are dead.
 */
final class MeetingPlace {
  private static final String LOCK = "lock";
  private static final String SOCKET = ".sock";
  private static final int BACKLOG = 1024;
  private static final AtomicLong NUMBERS = new AtomicLong();

  /** What was found and made: the listening socket, and a connection to each who is there. */
  record Arrival(Path file, int listener, List<Integer> connections) {}

  private final SystemCalls linux;
  private final Path directory;

  /**
   * @param name of the medium, that of a file
   * @throws IOException saying what is wrong with the directory, and the fix
   */
  MeetingPlace(SystemCalls linux, String name) throws IOException {
    this.linux = linux;
    this.directory = RuntimeDirectory.directory(linux, "shm", name);
  }

  /**
   * Comes to the place.
   *
   * @throws IOException when the system refuses it, with its words
   */
  Arrival come() throws IOException {
    synchronized (MeetingPlace.class) { // a lock of a file is the process's
      try (FileChannel file =
          FileChannel.open(
              directory.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
        file.lock(); // until it is closed
        List<Integer> connections = new ArrayList<>();
        try {
          connect(connections);
          Path own =
              directory.resolve(
                  ProcessHandle.current().pid() + "-" + NUMBERS.incrementAndGet() + SOCKET);
          return new Arrival(own, listen(own), connections);
        } catch (IOException | RuntimeException e) {
          connections.forEach(linux::close);
          throw e;
        }
      }
    }
  }

  private void connect(List<Integer> connections) throws IOException {
    try (DirectoryStream<Path> sockets = Files.newDirectoryStream(directory, "*" + SOCKET)) {
      for (Path file : sockets) {
        int socket = socket();
        int answer = linux.connect(socket, name(file));
        if (answer == 0) {
          connections.add(socket);
          continue;
        }
        linux.close(socket);
        if (LinuxErrno.ECONNREFUSED.is(answer)) {
          Files.deleteIfExists(file);
        } else if (!LinuxErrno.ENOENT.is(answer)) {
          throw new IOException(
              "%s does not answer: %s".formatted(file, LinuxErrno.describe(answer)));
        }
      }
    }
  }

  private int listen(Path file) throws IOException {
    Files.deleteIfExists(file); // of a dead process of the same number
    int listener = socket();
    int answer = SocketFile.restrictToOwner(linux, listener);
    if (answer == 0) {
      answer = linux.bind(listener, name(file));
    }
    if (answer == 0) {
      answer = linux.listen(listener, BACKLOG);
    }
    if (answer < 0) {
      linux.close(listener);
      throw new IOException("%s: %s".formatted(file, LinuxErrno.describe(answer)));
    }
    return listener;
  }

  private int socket() throws IOException {
    int socket =
        linux.socket(
            MemberSocket.UNIX, MemberSocket.SEQPACKET | MemberSocket.NONBLOCK_CLOSE_ON_EXEC, 0);
    if (socket < 0) {
      throw new IOException("socket: " + LinuxErrno.describe(socket));
    }
    return socket;
  }

  private static MemorySegment name(Path file) throws IOException {
    byte[] bytes = file.toString().getBytes(StandardCharsets.UTF_8);
    if (bytes.length > SocketFile.LONGEST_PATH) {
      throw new IOException(
          "%s: the path of a socket has up to %d bytes: %s, with a shorter path"
              .formatted(file, SocketFile.LONGEST_PATH, RuntimeDirectory.REMEDY));
    }
    return SocketFile.name(bytes, Arena.ofAuto());
  }
}

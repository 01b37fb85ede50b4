package org.hghca.model;

import java.io.Closeable;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.hghca.linux.Linux;
import org.hghca.linux.SocketFile;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.wire.capture.CaptureFile;

/**
 * A UNIX socket at which other processes see the packets of a software HCA's port: each connection
 * gets pcapng from then on, until the client shuts down its side of the connection; the rest and
 * the statistics follow. A client that does not keep up misses packets, which the statistics count;
 * one that does not take the rest within two seconds is disconnected. There are 16 clients at most.
 */
public final class CaptureSocket implements AutoCloseable {
  private static final ConditionLog LOG = ConditionLog.of(CaptureSocket.class);
  private static final int S_IFMT = 0xf000;
  private static final int S_IFSOCK = 0xc000;
  private static final FileAttribute<?> OWNER_ALONE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private static final Set<PosixFilePermission> OWNER =
      PosixFilePermissions.fromString("rw-------");

  /** The most connections at a time: each has a buffer of 8 MiB. */
  static final int MOST_CLIENTS = 16;

  private final Path path;
  private final SoftwareHca hca;
  private final ServerSocketChannel server;

  /** The connections, each with the thread that ends its capture. */
  private final Map<SocketChannel, Thread> clients = new ConcurrentHashMap<>();

  private volatile boolean closed;

  private CaptureSocket(Path path, SoftwareHca hca, ServerSocketChannel server) {
    this.path = path;
    this.hca = hca;
    this.server = server;
  }

  /** The capture socket of an HCA that is served at a socket: {@code PATH.capture}. */
  public static Path beside(String served) {
    return Path.of(served + ".capture");
  }

  /** Begins to listen, for this user, as {@link #open(Path, Optional, SoftwareHca)} does. */
  public static CaptureSocket open(Path path, SoftwareHca hca) {
    return open(path, Optional.empty(), hca);
  }

  /**
   * Begins to listen. A socket that a dead process has left there is replaced: the path belongs to
   * who serves the HCA.
   *
   * @param group whose members may connect as well as this user: the mode of the socket is 0660,
   *     without a group 0600, whatever the umask
   * @throws VfioException {@code INVALID} when a socket cannot be there, saying why
   */
  public static CaptureSocket open(Path path, Optional<GroupPrincipal> group, SoftwareHca hca) {
    try {
      removeDead(path);
      CaptureSocket socket = new CaptureSocket(path, hca, listen(path, group));
      Thread.ofPlatform().daemon().name("hghca-captures").start(socket::accept);
      return socket;
    } catch (IOException e) {
      throw new VfioException(
          Reason.INVALID, "captures: no socket at '%s': %s".formatted(path, why(e)), e);
    }
  }

  /**
   * The channel listens as soon as it is bound, with the mode that the umask leaves: therefore in a
   * folder that nobody else can enter. The socket moves to its path when its mode is right.
   */
  private static ServerSocketChannel listen(Path path, Optional<GroupPrincipal> group)
      throws IOException {
    // With the socket's name no longer than the shortest x.capture: a path has 107 bytes.
    String random = ".%06x".formatted(ThreadLocalRandom.current().nextInt(1 << 24));
    Path folder = Files.createDirectory(path.resolveSibling(random), OWNER_ALONE);
    try {
      return listen(folder.resolve("s"), path, group);
    } finally {
      Files.delete(folder);
    }
  }

  private static ServerSocketChannel listen(Path made, Path path, Optional<GroupPrincipal> group)
      throws IOException {
    ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      server.bind(UnixDomainSocketAddress.of(made));
      if (group.isPresent()) {
        SocketFile.share(Linux.system(), made, group.get());
      } else {
        Files.setPosixFilePermissions(made, OWNER);
      }
      Files.move(made, path);
      return server;
    } catch (IOException | RuntimeException | Error e) {
      server.close();
      Files.deleteIfExists(made);
      throw e;
    }
  }

  private static String why(IOException e) {
    return e instanceof FileSystemException ? e.toString() : e.getMessage();
  }

  private static void removeDead(Path path) throws IOException {
    try {
      int mode = (int) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
      if ((mode & S_IFMT) != S_IFSOCK) {
        throw new IOException("it exists and is no socket");
      }
      Files.delete(path);
    } catch (NoSuchFileException e) {
      LOG.debug(About.NOTHING, "{} is free", path);
    }
  }

  private void accept() {
    try {
      while (!closed) {
        begin(server.accept());
      }
    } catch (IOException e) {
      if (!closed) {
        LOG.warn(About.device(hca.name()), "{} takes no more captures: {}", path, e.getMessage());
        close(server);
      }
    }
  }

  /** Whoever closes the socket sees no thread that has not started. */
  private synchronized void begin(SocketChannel client) {
    if (closed) {
      close(client);
      return;
    }
    if (clients.size() == MOST_CLIENTS) {
      LOG.debug(
          About.device(hca.name()), "{}: a reader is refused: {} are the most", path, MOST_CLIENTS);
      close(client);
      return;
    }
    Thread thread =
        Thread.ofPlatform().daemon().name("hghca-capture-end").unstarted(() -> serve(client));
    clients.put(client, thread);
    thread.start();
  }

  private void serve(SocketChannel client) {
    try (client) {
      CaptureFile capture = hca.capture(client, path.toString());
      try {
        awaitEnd(client);
      } finally {
        hca.endCapture(capture);
      }
    } catch (IOException e) {
      LOG.debug(About.device(hca.name()), "{}: a reader has gone", path, e);
    } finally {
      clients.remove(client);
    }
  }

  private static void awaitEnd(SocketChannel client) throws IOException {
    ByteBuffer ignored = ByteBuffer.allocate(64);
    while (client.read(ignored.clear()) >= 0) {
      // A reader has nothing to say.
    }
  }

  /** Ends the captures, whose readers have two seconds to take the rest, and removes the socket. */
  @Override
  public void close() {
    Map<SocketChannel, Thread> ending;
    synchronized (this) {
      closed = true;
      ending = Map.copyOf(clients);
    }
    close(server);
    ending.keySet().forEach(this::shutdown);
    awaitEnd(ending.values());
    ending.keySet().forEach(this::close);
    try {
      Files.deleteIfExists(path);
    } catch (IOException e) {
      LOG.warn(About.device(hca.name()), "{} cannot be removed: {}", path, why(e));
    }
  }

  /**
   * Waits for all threads, even when interrupted: a capture gives up a client that does not read.
   */
  private static void awaitEnd(Collection<Thread> ending) {
    boolean interrupted = false;
    for (Thread thread : ending) {
      while (thread.isAlive()) {
        try {
          thread.join();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void shutdown(SocketChannel client) {
    try {
      client.shutdownInput();
    } catch (IOException e) {
      LOG.debug(About.device(hca.name()), "{}: a reader has gone", path, e);
    }
  }

  private void close(Closeable channel) {
    try {
      channel.close();
    } catch (IOException e) {
      LOG.warn(About.device(hca.name()), "a capture at {} is not closed: {}", path, e.getMessage());
    }
  }
}

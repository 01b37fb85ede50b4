package org.hghca.wire.link;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SocketFile;
import org.hghca.linux.SystemCalls;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.wire.link.LinkException.Reason;

/**
 * A connection that is re-established: the connecting side retries every second after its end, the
 * listening side accepts the next peer, which replaces one that has been silent. Nothing blocks
 * except the first connection. Opened and ended by one thread at a time; any thread may ask whether
 * it is up.
 */
final class StreamConnection {
  private static final ConditionLog LOG = ConditionLog.of(StreamConnection.class);

  /** Nanoseconds between two attempts. */
  static final long INTERVAL = 1_000_000_000L;

  private static final int STREAM = 1;
  private static final int NONBLOCK_CLOSE_ON_EXEC = 0x800 | 0x80000;
  private static final int FIRST_MILLIS = 5_000;
  private static final int POLL_OUT = 4;

  /** A peer that was silent for this long is replaced by the next one, in nanoseconds. */
  static final long SILENCE = 3_000_000_000L;

  private static final int NONE = -1;

  private final SystemCalls linux;
  private final StreamAddress address;
  private LinkWatch watch;
  private int listener = NONE;

  /** The connection, or the attempt to establish one. */
  private volatile int socket = NONE;

  private volatile boolean up;

  /** When the peer of an established connection last sent something. */
  private long heard;

  /** The peer that connected while the one before, which was silent, was still connected. */
  private int successor = NONE;

  /**
   * When the next attempt is due, or the current one times out; on the listening side, when the
   * listener is watched again after {@code accept4} has failed.
   */
  private volatile long due = Long.MAX_VALUE;

  /**
   * Connects, or starts to listen.
   *
   * @throws LinkException with the fix
   */
  StreamConnection(SystemCalls linux, StreamAddress address) {
    this.linux = linux;
    this.address = address;
    if (address.listens()) {
      listen();
    } else {
      connectFirst();
    }
  }

  private int create() {
    int created = linux.socket(address.family(), STREAM | NONBLOCK_CLOSE_ON_EXEC, 0);
    LinuxFailures.check(created, "stream:" + address.text(), "socket");
    return created;
  }

  private void listen() {
    listener = create();
    if (address.path().isPresent()) {
      restrict();
    }
    int answer = linux.bind(listener, address.name());
    if (answer < 0) {
      linux.close(listener);
      throw address.refused(answer);
    }
    answer = linux.listen(listener, 1);
    if (answer < 0) {
      close();
      throw address.refused(answer);
    }
  }

  /** What the port sends and receives is nobody else's business. */
  private void restrict() {
    int answer = SocketFile.restrictToOwner(linux, listener);
    if (answer < 0) {
      linux.close(listener);
      throw new LinkException(
          Reason.NO_PERMISSION,
          "stream:%s: the mode of the socket cannot be set: %s"
              .formatted(address.text(), LinuxErrno.describe(answer)));
    }
  }

  private void connectFirst() {
    int created = create();
    int answer = linux.connect(created, address.name());
    if (LinuxErrno.EINPROGRESS.is(answer)) {
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment descriptor = arena.allocate(8, 4);
        descriptor.set(ValueLayout.JAVA_INT, 0, created);
        descriptor.set(ValueLayout.JAVA_SHORT, 4, (short) POLL_OUT);
        linux.poll(descriptor, FIRST_MILLIS);
      }
      answer = linux.connect(created, address.name());
    }
    if (answer < 0 && !LinuxErrno.EISCONN.is(answer)) {
      linux.close(created);
      throw address.refused(answer);
    }
    take(created, System.nanoTime());
  }

  private void take(int connected, long now) {
    if (address.isTcp()) {
      TcpOptions.set(linux, connected);
    }
    socket = connected;
    heard = now;
    up = true;
    due = Long.MAX_VALUE;
  }

  /** Starts to wait for received data. */
  void open(LinkWatch watched) {
    watch = watched;
    if (listener != NONE) {
      watched.add(listener, LinkWatch.READABLE);
    } else {
      watched.add(socket, LinkWatch.READABLE);
    }
  }

  boolean isUp() {
    return up;
  }

  /** The descriptor of a connection that is up. */
  int socket() {
    return socket;
  }

  /** When {@link #progress} is due by itself. */
  long due() {
    return due;
  }

  /** Also waits until data can be written, or no longer. */
  void awaitRoom(boolean wanted) {
    watch.change(socket, wanted ? LinkWatch.READABLE | LinkWatch.WRITABLE : LinkWatch.READABLE);
  }

  /** The link's deadline is earlier than it was. */
  void pollSoon() {
    watch.pollSoon();
  }

  /** The peer has sent something. */
  void heard(long now) {
    heard = now;
  }

  /**
   * Continues with the next step that is due: accepting a peer, or another attempt.
   *
   * @return whether the connection is to be ended, as another peer waits for its place
   * @throws LinkException when there is no descriptor for the next attempt, which is due later
   */
  boolean progress(long now) {
    if (listener != NONE) {
      return accept(now);
    }
    if (!up && socket == NONE && now >= due) {
      due = now + INTERVAL; // also of the attempt after one that gets no socket
      socket = createWatched();
      attempt(now);
    } else if (!up && socket != NONE) {
      attempt(now);
    }
    return false;
  }

  private int createWatched() {
    int created = create();
    try {
      watch.add(created, LinkWatch.READABLE | LinkWatch.WRITABLE);
      return created;
    } catch (LinkException e) {
      linux.close(created);
      throw e;
    }
  }

  private boolean accept(long now) {
    if (successor != NONE && !up) {
      admit(successor, now);
      successor = NONE;
      return false;
    }
    if (due != Long.MAX_VALUE) {
      if (now < due) {
        return false;
      }
      due = Long.MAX_VALUE;
      watch.change(listener, LinkWatch.READABLE);
    }
    int came = linux.accept(listener, NONBLOCK_CLOSE_ON_EXEC);
    if (LinuxErrno.EAGAIN.is(came) || LinuxErrno.ECONNABORTED.is(came)) {
      return false; // no peer, or one that has left before it was accepted
    }
    if (came < 0) {
      // The peer stays in the queue, and the listener readable.
      LOG.warn(
          About.NOTHING,
          "stream:{} cannot accept a peer: {}",
          address.text(),
          LinuxErrno.describe(came));
      watch.change(listener, 0);
      due = now + INTERVAL;
      return false;
    }
    if (!up) {
      admit(came, now);
      return false;
    }
    if (now - heard < SILENCE) {
      linux.close(came); // there is one peer
      return false;
    }
    successor = came;
    due = now; // when the connection has ended
    return true;
  }

  /**
   * Accepts a peer that has connected; one that cannot be watched is disconnected, and may retry.
   */
  private void admit(int came, long now) {
    try {
      watch.add(came, LinkWatch.READABLE);
    } catch (LinkException e) {
      LOG.warn(About.NOTHING, "stream:{} cannot watch a peer: {}", address.text(), e.getMessage());
      linux.close(came);
      due = Long.MAX_VALUE;
      return;
    }
    take(came, now);
  }

  private void attempt(long now) {
    int answer = linux.connect(socket, address.name());
    if (answer == 0 || LinuxErrno.EISCONN.is(answer)) {
      int connected = socket;
      take(connected, now);
      watch.change(connected, LinkWatch.READABLE);
    } else if (now >= due
        || !LinuxErrno.EINPROGRESS.is(answer) && !LinuxErrno.EALREADY.is(answer)) {
      end(now);
    }
  }

  /** Ends the connection, or the attempt. */
  void end(long now) {
    up = false;
    if (socket != NONE) {
      linux.close(socket);
      socket = NONE;
    }
    if (listener == NONE) {
      due = now + INTERVAL;
    }
  }

  void close() {
    end(0);
    if (successor != NONE) {
      linux.close(successor);
      successor = NONE;
    }
    if (listener != NONE) {
      linux.close(listener);
      listener = NONE;
      address.path().ifPresent(StreamConnection::remove);
    }
  }

  private static void remove(String path) {
    try {
      Files.deleteIfExists(Path.of(path));
    } catch (IOException e) {
      LOG.warn(About.NOTHING, "{} is left over and cannot be removed: {}", path, e.getMessage());
    }
  }
}

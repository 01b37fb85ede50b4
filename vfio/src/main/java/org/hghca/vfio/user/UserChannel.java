package org.hghca.vfio.user;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/**
 * A connected socket that carries whole messages with attached descriptors. Any thread may send or
 * receive; one thread at a time in each direction; neither allocates.
 *
 * <p>Closing ends the calls that wait, here and at the other end.
 */
final class UserChannel implements AutoCloseable {
  private static final int MSG_CTRUNC = 0x8;
  private static final int MSG_DONTWAIT = 0x40;
  private static final int MSG_NOSIGNAL = 0x4000;
  private static final int MSG_CMSG_CLOEXEC = 0x4000_0000;
  private static final int SHUT_RDWR = 2;
  private static final int POLLIN = 1;
  private static final int POLLOUT = 4;
  private static final int POLLFD_EVENTS = 4;

  /** The most descriptors that the kernel carries at once ({@code SCM_MAX_FD}). */
  static final int MAX_DESCRIPTORS = 253;

  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

  /**
   * The structures that one direction passes to the kernel: {@code msghdr}, one {@code iovec}, a
   * {@code cmsg}.
   */
  private static final class Envelope {
    private static final int MSG_IOV = 16;
    private static final int MSG_IOVLEN = 24;
    private static final int MSG_CONTROL = 32;
    private static final int MSG_CONTROLLEN = 40;
    private static final int MSG_FLAGS = 48;
    private static final int MSGHDR_BYTES = 56;

    private static final int IOVEC = MSGHDR_BYTES;
    private static final int IOVEC_BYTES = 16;

    private static final int CMSG = IOVEC + IOVEC_BYTES;
    private static final int CMSG_LEVEL = CMSG + 8;
    private static final int CMSG_TYPE = CMSG + 12;
    private static final int CMSG_DATA = CMSG + 16;
    private static final int CMSG_HEADER_BYTES = 16;

    private static final int SOL_SOCKET = 1;
    private static final int SCM_RIGHTS = 1;

    final MemorySegment message;

    Envelope(Arena arena) {
      long control = CMSG_HEADER_BYTES + 4L * MAX_DESCRIPTORS + 4; // padded to 8 bytes
      message = arena.allocate(CMSG + control, 8);
      message.set(LONG, MSG_IOV, message.address() + IOVEC);
      message.set(LONG, MSG_IOVLEN, 1);
    }

    void data(MemorySegment memory, long offset, long length) {
      message.set(LONG, IOVEC, memory.address() + offset);
      message.set(LONG, IOVEC + 8, length);
    }

    /** Room for this many descriptors, or as many to send. */
    void control(int descriptors) {
      long length = descriptors == 0 ? 0 : CMSG_HEADER_BYTES + 4L * descriptors;
      message.set(LONG, MSG_CONTROL, descriptors == 0 ? 0 : message.address() + CMSG);
      message.set(LONG, MSG_CONTROLLEN, length);
      message.set(LONG, CMSG, length);
      message.set(INT, CMSG_LEVEL, SOL_SOCKET);
      message.set(INT, CMSG_TYPE, SCM_RIGHTS);
    }

    /** How many descriptors were received. */
    int received() {
      return message.get(LONG, MSG_CONTROLLEN) >= CMSG_HEADER_BYTES
              && message.get(INT, CMSG_LEVEL) == SOL_SOCKET
              && message.get(INT, CMSG_TYPE) == SCM_RIGHTS
          ? (int) (message.get(LONG, CMSG) - CMSG_HEADER_BYTES) / 4
          : 0;
    }

    boolean isTruncated() {
      return (message.get(INT, MSG_FLAGS) & MSG_CTRUNC) != 0;
    }

    int descriptor(int index) {
      return message.get(INT, CMSG_DATA + 4L * index);
    }

    void descriptor(int index, int descriptor) {
      message.set(INT, CMSG_DATA + 4L * index, descriptor);
    }
  }

  private final SystemCalls system;
  private final int socket;
  private final Duration patience;
  private final Arena arena = Arena.ofShared();

  /** Fair, so that a reply does not wait behind all messages of a busy thread. */
  private final ReentrantLock sendLock = new ReentrantLock(true);

  private final Envelope sending = new Envelope(arena);
  private final MemorySegment sendPoll = arena.allocate(8, 8);
  private final ReentrantLock receiveLock = new ReentrantLock();
  private final Envelope receiving = new Envelope(arena);
  private final MemorySegment receivePoll = arena.allocate(8, 8);
  private volatile boolean closed;

  /** The peer did not read its messages: the receiver sees an end that this side caused. */
  private volatile boolean isUnread;

  private volatile boolean hungUp;

  /** Deadline for the message that is being received; 0 until a thread waits for the rest of it. */
  private long wholeBy;

  /** Deadline for everything that is sent and received during a handshake; 0 outside. */
  private volatile long handshakeBy;

  private boolean released;

  /**
   * Takes over a connected socket.
   *
   * @param patience how long the peer may take to read a message that it is sent, or to end one
   *     that it began, before it is regarded as gone
   */
  UserChannel(SystemCalls system, int socket, Duration patience) {
    this.system = system;
    this.socket = socket;
    this.patience = patience;
    sendPoll.set(INT, 0, socket);
    sendPoll.set(ValueLayout.JAVA_SHORT, POLLFD_EVENTS, (short) POLLOUT);
    receivePoll.set(INT, 0, socket);
    receivePoll.set(ValueLayout.JAVA_SHORT, POLLFD_EVENTS, (short) POLLIN);
  }

  /** Connects to a server; see {@link UserSocket#connect}. */
  static UserChannel connect(SystemCalls system, String path, Duration patience) {
    return new UserChannel(system, UserSocket.connect(system, path), patience);
  }

  /** Limits the time until {@link #endHandshake}, whatever is sent and received until then. */
  void beginHandshake(Duration limit) {
    handshakeBy = after(limit);
  }

  void endHandshake() {
    handshakeBy = 0;
  }

  /** Whether the connection ended because the peer has closed its socket. */
  boolean hasHungUp() {
    return hungUp;
  }

  /**
   * Sends a message whole, with the descriptors attached to it, which stay the caller's.
   *
   * @throws VfioException {@code CLOSED} when the peer is gone, does not read any longer, or this
   *     was closed; nothing more can be sent then
   */
  void send(UserMessage message) {
    sendLock.lock();
    try {
      checkOpen();
      long length = UserMessage.HEADER_BYTES + (long) message.payloadBytes();
      int descriptors = message.descriptors();
      for (int i = 0; i < descriptors; i++) {
        sending.descriptor(i, message.descriptor(i));
      }
      sending.control(descriptors);
      long sent = 0;
      long readBy = 0;
      while (sent < length) {
        sending.data(message.memory(), sent, length - sent);
        long answer = system.sendmsg(socket, sending.message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (answer > 0) {
          sent += answer;
          sending.control(0);
        } else if (LinuxErrno.EAGAIN.is(answer)) {
          readBy = readBy == 0 ? deadline() : readBy;
          if (!await(sendPoll, readBy)) {
            isUnread = true;
            throw unread();
          }
        } else if (!LinuxErrno.EINTR.is(answer)) {
          hungUp =
              !closed
                  && !isUnread
                  && (LinuxErrno.EPIPE.is(answer) || LinuxErrno.ECONNRESET.is(answer));
          throw failed("send", answer);
        }
      }
    } catch (VfioException e) {
      if (!closed) { // else the number may be another socket's by now
        shutDown(); // half a message may have gone out
      }
      throw e;
    } finally {
      sendLock.unlock();
    }
  }

  private VfioException unread() {
    return late("read a message");
  }

  private VfioException late(String what) {
    return new VfioException(
        Reason.CLOSED,
        handshakeBy == 0
            ? "the peer did not %s within %s".formatted(what, patience)
            : "the peer did not complete the handshake in time");
  }

  /** The deadline of a wait that begins now; never 0. */
  private long deadline() {
    return handshakeBy == 0 ? after(patience) : handshakeBy;
  }

  private static long after(Duration time) {
    return System.nanoTime() + time.toNanos() | 1;
  }

  /** Whether the socket is ready before a time of {@link System#nanoTime}. */
  private boolean await(MemorySegment poll, long deadline) {
    int answer;
    do {
      long left = Math.ceilDiv(deadline - System.nanoTime(), 1_000_000);
      answer = left > 0 ? system.poll(poll, (int) Math.min(left, Integer.MAX_VALUE)) : 0;
    } while (LinuxErrno.EINTR.is(answer));
    return answer != 0;
  }

  /**
   * Waits until something can be received, or the peer hung up.
   *
   * @return whether {@link #receive} would not have to wait for the beginning of a message; not
   *     after the time
   */
  boolean awaitMessage(Duration time) {
    receiveLock.lock();
    try {
      return closed || await(receivePoll, System.nanoTime() + time.toNanos());
    } finally {
      receiveLock.unlock();
    }
  }

  /**
   * Waits for the next message, during a handshake until its deadline, and receives it whole.
   * Untaken descriptors of the previous message are closed.
   *
   * @return whether there was one; not when the peer has hung up between two messages, or this was
   *     closed
   * @throws VfioException {@code CLOSED} when the peer is gone in the middle of a message or no
   *     longer reads, {@code INVALID} when a header's size cannot be: nothing more can be received
   *     then
   */
  boolean receive(UserMessage into) {
    into.closeDescriptors(system);
    receiveLock.lock();
    try {
      wholeBy = handshakeBy;
      if (wholeBy != 0 && System.nanoTime() - wholeBy > 0) {
        throw late("finish a message");
      }
      if (!fill(into, 0, UserMessage.HEADER_BYTES, true)) {
        return false;
      }
      long payload = into.size() - UserMessage.HEADER_BYTES;
      if (payload < 0 || payload > into.maxPayload()) {
        throw new VfioException(
            Reason.INVALID,
            "a message of %d bytes (%s): the size must be between %d and %d"
                .formatted(
                    into.size(),
                    UserCommand.describe(into.command()),
                    UserMessage.HEADER_BYTES,
                    UserMessage.HEADER_BYTES + into.maxPayload()));
      }
      into.receivePayload((int) payload);
      return fill(into, UserMessage.HEADER_BYTES, (int) payload, false);
    } catch (VfioException e) {
      into.closeDescriptors(system);
      throw e;
    } finally {
      receiveLock.unlock();
    }
  }

  /**
   * Receives a number of bytes; false at an end of stream before the first of them, if that is
   * allowed.
   */
  private boolean fill(UserMessage into, int offset, int length, boolean isBeginning) {
    int received = 0;
    while (received < length) {
      if (closed) {
        return stopped(into);
      }
      boolean isFirst = isBeginning && received == 0;
      boolean mayWait = isFirst && wholeBy == 0;
      receiving.data(into.memory(), offset + (long) received, length - received);
      receiving.control(MAX_DESCRIPTORS);
      long answer =
          system.recvmsg(
              socket, receiving.message, MSG_CMSG_CLOEXEC | (mayWait ? 0 : MSG_DONTWAIT));
      if (answer > 0) {
        received += (int) answer;
        takeDescriptors(into);
      } else if (LinuxErrno.EAGAIN.is(answer)) {
        awaitRest();
      } else if (answer == 0 || LinuxErrno.ECONNRESET.is(answer)) {
        if (isUnread) {
          throw unread();
        }
        hungUp = !closed;
        if (closed || isFirst) {
          return stopped(into);
        }
        throw new VfioException(Reason.CLOSED, "the peer hung up in the middle of a message");
      } else if (!LinuxErrno.EINTR.is(answer)) {
        throw failed("receive", answer);
      }
    }
    return true;
  }

  /** The deadline applies to the whole message: single bytes do not extend it. */
  private void awaitRest() {
    wholeBy = wholeBy == 0 ? deadline() : wholeBy;
    if (!await(receivePoll, wholeBy)) {
      throw late("finish a message");
    }
  }

  private boolean stopped(UserMessage into) {
    into.closeDescriptors(system);
    return false;
  }

  private void takeDescriptors(UserMessage into) {
    if (receiving.isTruncated()) {
      into.ranOutOfDescriptors(); // the buffer has room for the kernel's maximum
    }
    int count = receiving.received();
    for (int i = 0; i < count; i++) {
      int descriptor = receiving.descriptor(i);
      if (!into.arrived(descriptor)) {
        system.close(descriptor);
      }
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new VfioException(Reason.CLOSED, "the connection is closed");
    }
  }

  private static VfioException failed(String what, long answer) {
    return new VfioException(
        Reason.CLOSED, "cannot %s: %s".formatted(what, LinuxErrno.describe(answer)));
  }

  private void shutDown() {
    system.shutdown(socket, SHUT_RDWR);
  }

  /** Idempotent. Waits for the calls that it ends. */
  @Override
  public void close() {
    closed = true;
    synchronized (this) {
      if (released) {
        return;
      }
      released = true;
    }
    shutDown();
    // The descriptor number may be reused after this: no thread may be about to use it.
    receiveLock.lock();
    sendLock.lock();
    try {
      system.close(socket);
      arena.close();
    } finally {
      sendLock.unlock();
      receiveLock.unlock();
    }
  }
}

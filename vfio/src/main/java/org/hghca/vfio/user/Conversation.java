package org.hghca.vfio.user;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.user.UserStructures.DmaTransfer;

/**
 * The messages between the server and one client, in both directions over one socket: the client's
 * commands, which one thread executes in order, and the server's requests for memory, which any
 * thread may send.
 *
 * <p>A thread that waits for a message reads the socket while no other thread does, and passes on
 * messages for other threads. So the device gets its reply even while the command thread waits for
 * the device, and commands continue while the device waits for its reply.
 */
final class Conversation implements RemoteMemory, AutoCloseable {
  /**
   * Maximum number of bytes that are read ahead while a thread waits for a reply. Many doorbells
   * fit: a client with more threads than processors may ring for a while before its replying thread
   * runs.
   */
  private static final long MOST_DEFERRED_BYTES = 8 << 20;

  // The size charged for a command that was read ahead: it is an object, and descriptors are
  // scarce.
  private static final int COMMAND_BYTES = 64;
  private static final int DESCRIPTOR_BYTES = 1024;

  /** The largest transfer, including the header before its data. */
  static final int MAX_PAYLOAD = ClientCapabilities.MAX_TRANSFER + 64;

  private final SystemCalls system;
  private final UserChannel channel;
  private final Duration patience;
  private final UserMessage request = message();
  private volatile int maxTransfer = ClientCapabilities.MAX_TRANSFER;
  private volatile boolean greeted;
  private int nextId;

  // Messages to read into: one for the command thread, and one for the thread that requests memory.

  private UserMessage incoming = message();
  private UserMessage ahead = message();
  private UserMessage answer = message();

  // The following fields are guarded by this object.

  private final ArrayDeque<UserMessage> deferred = new ArrayDeque<>();
  private long deferredBytes;
  private boolean reading;
  private boolean ended;
  private int awaitedId;
  private boolean awaited;
  private boolean answered;

  /**
   * Takes over a channel.
   *
   * @param patience how long the client may take to serve its memory before it counts as gone
   */
  Conversation(SystemCalls system, UserChannel channel, Duration patience) {
    this.system = system;
    this.channel = channel;
    this.patience = patience;
  }

  private static UserMessage message() {
    return new UserMessage(MAX_PAYLOAD, ClientCapabilities.MAX_DESCRIPTORS);
  }

  /** The maximum number of bytes that the client transfers at once. */
  void maxTransfer(int bytes) {
    maxTransfer = bytes;
  }

  /** See {@link UserChannel#beginHandshake}. */
  void beginHandshake(Duration limit) {
    channel.beginHandshake(limit);
  }

  void endHandshake() {
    channel.endHandshake();
    greeted = true;
  }

  /** Whether the client has agreed on a version. */
  boolean isGreeted() {
    return greeted;
  }

  /**
   * Waits for the client's next command; by one thread. The message is good until the next call.
   *
   * @return null when there are no more
   * @throws VfioException when the client breaks the rules of the protocol, or is gone in the
   *     middle of a message
   */
  UserMessage next() {
    while (true) {
      synchronized (this) {
        while (reading && deferred.isEmpty() && !ended) {
          await(Long.MAX_VALUE);
        }
        if (!deferred.isEmpty()) {
          UserMessage first = deferred.remove();
          deferredBytes -= deferredBytes(first);
          return first;
        }
        if (ended) {
          return null;
        }
        reading = true;
      }
      boolean more = false;
      try {
        more = channel.receive(incoming);
        if (!more) {
          return null;
        }
        if (!incoming.isReply()) {
          return incoming;
        }
        // Before another thread may read: otherwise the thread that waits for this message would
        // wait for the next.
        incoming = answered(incoming);
      } finally {
        stopReading(more);
      }
    }
  }

  void reply(UserMessage message) {
    channel.send(message);
  }

  @Override
  public boolean read(long iova, MemorySegment destination, long offset, long length) {
    return transfer(UserCommand.DMA_READ, iova, destination, offset, length);
  }

  @Override
  public boolean write(long iova, MemorySegment source, long offset, long length) {
    return transfer(UserCommand.DMA_WRITE, iova, source, offset, length);
  }

  private boolean transfer(
      UserCommand command, long iova, MemorySegment memory, long offset, long length) {
    boolean write = command == UserCommand.DMA_WRITE;
    synchronized (request) {
      long done = 0;
      while (done < length) {
        if (isEnded()) {
          return false; // and the messages may be closed
        }
        int part = (int) Math.min(length - done, maxTransfer);
        int id = nextId++ & 0xffff;
        request.command(id, command, 0, DmaTransfer.DATA + (write ? part : 0));
        request.putLong(DmaTransfer.ADDRESS, iova + done);
        request.putLong(DmaTransfer.COUNT, part);
        if (write) {
          request.put(DmaTransfer.DATA, memory, offset + done, part);
        }
        if (!ask(id)) {
          return false;
        }
        if (!write) {
          answer.get(DmaTransfer.DATA, memory, offset + done, part);
        }
        done += part;
      }
      return true;
    }
  }

  /** Sends the request and waits for its answer, which is in {@link #answer} then. */
  private boolean ask(int id) {
    synchronized (this) {
      awaitedId = id;
      awaited = true;
      answered = false;
    }
    long deadline = System.nanoTime() + patience.toNanos();
    try {
      channel.send(request);
      while (true) {
        synchronized (this) {
          while (reading && !answered && !ended && deadline - System.nanoTime() > 0) {
            await(deadline);
          }
          if (answered) {
            return isGood();
          }
          if (ended || deadline - System.nanoTime() <= 0) {
            throw new VfioException(
                Reason.CLOSED, "the client did not serve its memory within %s".formatted(patience));
          }
          reading = true;
        }
        readAhead(deadline);
      }
    } catch (VfioException e) {
      close(); // any later reply is too late
      return false;
    } finally {
      synchronized (this) {
        awaited = false;
      }
    }
  }

  /** Whether the reply says that exactly the request was executed. */
  private boolean isGood() {
    boolean write = UserCommand.DMA_WRITE.is(request.command());
    long count = request.getLong(DmaTransfer.COUNT);
    return !answer.isFailed()
        && answer.command() == request.command()
        && answer.payloadBytes() == DmaTransfer.DATA + (write ? 0 : count)
        && answer.getLong(DmaTransfer.ADDRESS) == request.getLong(DmaTransfer.ADDRESS)
        && answer.getLong(DmaTransfer.COUNT) == count;
  }

  /** Reads one message, if one arrives in time, as the reading thread. */
  private void readAhead(long deadline) {
    boolean more = false;
    try {
      Duration left = Duration.ofNanos(deadline - System.nanoTime());
      if (!channel.awaitMessage(left)) {
        more = true;
        return;
      }
      more = channel.receive(ahead);
      if (more && ahead.isReply()) {
        ahead = answered(ahead);
      } else if (more) {
        defer(ahead.moved());
      }
    } finally {
      stopReading(more);
    }
  }

  private synchronized void defer(UserMessage command) {
    deferred.add(command);
    deferredBytes += deferredBytes(command);
    if (deferredBytes > MOST_DEFERRED_BYTES) {
      throw new VfioException(
          Reason.INVALID, "the client sends too much while its memory is waited for");
    }
  }

  private static long deferredBytes(UserMessage command) {
    return COMMAND_BYTES + command.payloadBytes() + (long) DESCRIPTOR_BYTES * command.descriptors();
  }

  /** Passes a reply to the waiting thread; returns a message to read into. */
  private synchronized UserMessage answered(UserMessage reply) {
    reply.closeDescriptors(system); // no request expects descriptors
    if (!awaited || answered || reply.id() != awaitedId) {
      throw new VfioException(
          Reason.INVALID,
          "the client replies to %s, number %d, which is not outstanding"
              .formatted(UserCommand.describe(reply.command()), reply.id()));
    }
    UserMessage before = answer;
    answer = reply;
    answered = true;
    notifyAll();
    return before;
  }

  private synchronized boolean isEnded() {
    return ended;
  }

  private synchronized void stopReading(boolean more) {
    reading = false;
    if (!more) {
      ended = true;
    }
    notifyAll();
  }

  /** Waits for a change of the guarded fields. */
  @SuppressWarnings("WaitNotInLoop") // its callers loop
  private void await(long deadline) {
    try {
      if (deadline == Long.MAX_VALUE) {
        wait();
      } else {
        wait(Math.max(1, (deadline - System.nanoTime()) / 1_000_000));
      }
    } catch (InterruptedException e) {
      // The interrupt does not concern the protocol, and the interrupted thread still needs the
      // reply.
    }
  }

  /** Ends the conversation, and every wait in it. Idempotent. */
  @Override
  public void close() {
    channel.close();
    synchronized (this) {
      ended = true;
      notifyAll();
    }
  }

  /**
   * Releases the descriptors of commands that are not executed any more, and the messages' memory;
   * after {@link #close}, on the command thread. Idempotent.
   */
  void discard() {
    synchronized (request) { // no transfer is in progress
      synchronized (this) {
        deferred.forEach(message -> message.closeDescriptors(system));
        deferred.clear();
      }
      List.of(request, incoming, ahead, answer).forEach(UserMessage::close);
    }
  }
}

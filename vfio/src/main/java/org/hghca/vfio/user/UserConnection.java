package org.hghca.vfio.user;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.user.UserStructures.RegionAccess;

/**
 * The client's end of a connection: sends commands to the server and waits for its replies, and
 * answers the server's own commands. Thread-safe.
 *
 * <p>One thread receives. It never waits for a reply itself, so that a server that requests memory
 * before it replies is served. A connection ends permanently when the server closes it, does not
 * reply in time, or sends a malformed message.
 */
final class UserConnection implements AutoCloseable {
  /** The maximum number of descriptors with a message of this client, and with a reply. */
  static final int MAX_DESCRIPTORS = 64;

  /** The maximum amount of data of one memory access of the server, as this client announces it. */
  static final int MAX_TRANSFER = 1 << 20;

  private static final int IDS = 0x1_0000;

  private final SystemCalls system;
  private final UserChannel channel;
  private final String name;
  private final Duration limit;
  private final MemoryService memory;

  /** Held while {@link #request} is filled and sent. */
  private final ReentrantLock asking = new ReentrantLock();

  private final UserMessage request = new UserMessage(0, MAX_DESCRIPTORS);
  private int lastId;

  private final Map<Integer, Call<?>> calls = new ConcurrentHashMap<>();
  private final AtomicReference<VfioException> end = new AtomicReference<>();

  private final Thread reader;
  private volatile Runnable whenEnded = () -> {};

  /** Takes what is written without asking for a reply; null where that is sent as messages. */
  private volatile RegisterRingSender ring;

  /** A command that waits for its reply. */
  private static final class Call<T> {
    final UserCommand command;
    final int descriptors;
    final Function<UserMessage, T> reading;
    final Thread waiter = Thread.currentThread();
    T value;
    VfioException failure;
    volatile boolean done;

    Call(UserCommand command, int descriptors, Function<UserMessage, T> reading) {
      this.command = command;
      this.descriptors = descriptors;
      this.reading = reading;
    }

    void read(UserMessage reply) {
      value = reading.apply(reply);
      finish();
    }

    void fail(VfioException why) {
      failure = why;
      finish();
    }

    private void finish() {
      done = true;
      LockSupport.unpark(waiter);
    }
  }

  /**
   * Takes over a channel.
   *
   * @param name of the function, for messages
   * @param limit how long the server may take for a reply
   * @param memory serves what the server asks for
   */
  UserConnection(
      SystemCalls system, UserChannel channel, String name, Duration limit, MemoryService memory) {
    this.system = system;
    this.channel = channel;
    this.name = name;
    this.limit = limit;
    this.memory = memory;
    this.reader =
        Thread.ofPlatform().daemon().name("hghca " + name + " replies").unstarted(this::receive);
    reader.start();
  }

  /** Runs an action when the connection ends, at once if it already has. */
  void whenEnded(Runnable action) {
    whenEnded = action;
    if (isEnded()) {
      action.run();
    }
  }

  boolean isEnded() {
    return end.get() != null;
  }

  /**
   * Whether the connection ended because the server exited, so that nothing accesses the memory any
   * longer.
   */
  boolean hasHungUp() {
    return channel.hasHungUp();
  }

  /** Why the connection ended, in words; only when it has. */
  String whyEnded() {
    return end.get().getMessage();
  }

  /**
   * Refuses to continue once the connection has ended.
   *
   * @throws VfioException {@code CLOSED} saying why it ended
   */
  void checkOpen() {
    VfioException why = end.get();
    if (why != null) {
      throw new VfioException(why.reason(), why.getMessage(), why);
    }
  }

  /**
   * Gives a command that has a payload of its own length and no descriptors, and waits for the
   * reply.
   *
   * @see #call(UserCommand, int, Consumer, int, Function)
   */
  <T> T call(
      UserCommand command,
      int payload,
      Consumer<UserMessage> filling,
      Function<UserMessage, T> reading) {
    return call(command, payload, filling, 0, reading);
  }

  /**
   * Gives a command and waits for the reply.
   *
   * @param filling writes the payload and attaches descriptors, which stay the caller's
   * @param descriptors the most that may come with the reply
   * @param reading takes what is needed out of a reply that is no failure, on the thread that
   *     receives; throws {@code VfioException} for one that cannot be, which ends the connection
   * @throws VfioException {@code CLOSED} when the connection ended; else what the server replied
   */
  <T> T call(
      UserCommand command,
      int payload,
      Consumer<UserMessage> filling,
      int descriptors,
      Function<UserMessage, T> reading) {
    Call<T> call = new Call<>(command, descriptors, reading);
    int id = ask(call, payload, filling);
    boolean interrupted = false;
    long deadline = System.nanoTime() + limit.toNanos();
    while (!call.done) {
      long left = deadline - System.nanoTime();
      if (left > 0) {
        LockSupport.parkNanos(call, left);
        interrupted |= Thread.interrupted();
      } else if (calls.remove(id, call)) {
        end("the server has not answered %s within %s".formatted(command, limit));
        call.fail(end.get());
      } else {
        Thread.onSpinWait(); // its reply is being read
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (call.failure != null) {
      throw new VfioException(call.failure.reason(), call.failure.getMessage(), call.failure);
    }
    return call.value;
  }

  private int ask(Call<?> call, int payload, Consumer<UserMessage> filling) {
    asking.lock();
    try {
      int id = nextId();
      if (isEnded()) {
        call.fail(end.get()); // and the request's memory may have ended
        return id;
      }
      request.command(id, call.command, 0, payload);
      filling.accept(request);
      calls.put(id, call);
      send();
      if (isEnded() && calls.remove(id, call)) {
        call.fail(end.get());
      }
      return id;
    } finally {
      asking.unlock();
    }
  }

  /**
   * From now on registers are written through a ring, which this closes. Before the first of them
   * is written.
   */
  void postThrough(RegisterRingSender sender) {
    ring = sender;
  }

  /**
   * Writes a register without asking for a reply. Does nothing when the connection has ended.
   *
   * @param width 1, 2, 4 or 8 bytes
   */
  void post(int region, long offset, int width, long value) {
    RegisterRingSender through = ring;
    if (through != null) {
      through.post(region, offset, width, value);
      return;
    }
    asking.lock();
    try {
      if (isEnded()) {
        return;
      }
      request.command(
          nextId(), UserCommand.REGION_WRITE, UserMessage.NO_REPLY, RegionAccess.DATA + width);
      fillWrite(request, region, offset, width, value);
      send();
    } finally {
      asking.unlock();
    }
  }

  /** Gives a command without payload, and without asking for a reply. */
  void post(UserCommand command) {
    asking.lock();
    try {
      if (!isEnded()) {
        request.command(nextId(), command, UserMessage.NO_REPLY, 0);
        send();
      }
    } finally {
      asking.unlock();
    }
  }

  private static void fillWrite(
      UserMessage message, int region, long offset, int width, long value) {
    fillAccess(message, region, offset, width);
    switch (width) {
      case 1 -> message.putByte(RegionAccess.DATA, (int) value);
      case 2 -> message.putShort(RegionAccess.DATA, (int) value);
      case 4 -> message.putInt(RegionAccess.DATA, (int) value);
      default -> message.putLong(RegionAccess.DATA, value);
    }
  }

  /**
   * Writes a register and waits until the server has done so.
   *
   * @throws VfioException as {@link #call(UserCommand, int, Consumer, Function)}
   */
  void write(int region, long offset, int width, long value) {
    call(
        UserCommand.REGION_WRITE,
        RegionAccess.DATA + width,
        message -> fillWrite(message, region, offset, width, value),
        reply -> {
          checkReply(reply, RegionAccess.DATA);
          return checkAccess(reply, region, offset, width);
        });
  }

  /**
   * Reads a register.
   *
   * @param width 1, 2, 4 or 8 bytes
   * @return the value, zero-extended
   * @throws VfioException as {@link #call(UserCommand, int, Consumer, Function)}
   */
  long read(int region, long offset, int width) {
    return call(
        UserCommand.REGION_READ,
        RegionAccess.DATA,
        message -> fillAccess(message, region, offset, width),
        reply -> {
          checkReply(reply, RegionAccess.DATA);
          checkAccess(reply, region, offset, width);
          if (reply.payloadBytes() != RegionAccess.DATA + width) {
            throw malformed(
                "a reply with %d bytes of data to a read of %d"
                    .formatted(reply.payloadBytes() - RegionAccess.DATA, width));
          }
          return switch (width) {
            case 1 -> (long) reply.getByte(RegionAccess.DATA);
            case 2 -> (long) reply.getShort(RegionAccess.DATA);
            case 4 -> Integer.toUnsignedLong(reply.getInt(RegionAccess.DATA));
            default -> reply.getLong(RegionAccess.DATA);
          };
        });
  }

  private static boolean checkAccess(UserMessage reply, int region, long offset, int width) {
    if (reply.getLong(RegionAccess.OFFSET) != offset
        || reply.getInt(RegionAccess.REGION) != region
        || reply.getInt(RegionAccess.COUNT) != width) {
      throw malformed(
          "%d bytes at 0x%x of region %d were requested, and it replies for %d bytes at 0x%x of region %d"
              .formatted(
                  width,
                  offset,
                  region,
                  reply.getInt(RegionAccess.COUNT),
                  reply.getLong(RegionAccess.OFFSET),
                  reply.getInt(RegionAccess.REGION)));
    }
    return true;
  }

  private static void fillAccess(UserMessage message, int region, long offset, int width) {
    message.putLong(RegionAccess.OFFSET, offset);
    message.putInt(RegionAccess.REGION, region);
    message.putInt(RegionAccess.COUNT, width);
  }

  /** An id that no waiting command uses. */
  private int nextId() {
    do {
      lastId = (lastId + 1) % IDS;
    } while (!calls.isEmpty() && calls.containsKey(lastId));
    return lastId;
  }

  /**
   * Sends the request; if that fails, the connection has ended, and the waiting thread sees that.
   */
  private void send() {
    try {
      channel.send(request);
    } catch (VfioException e) {
      end(e.getMessage());
    }
  }

  private void receive() {
    int most = MAX_TRANSFER + UserStructures.DmaTransfer.DATA;
    try (UserMessage message = new UserMessage(most, MAX_DESCRIPTORS);
        UserMessage answer = new UserMessage(0, 0)) {
      receive(message, answer);
    }
  }

  private void receive(UserMessage message, UserMessage answer) {
    try {
      while (channel.receive(message)) {
        if (message.isReply()) {
          reply(message);
        } else {
          command(message, answer);
        }
      }
      end("the server closed the connection");
    } catch (VfioException e) {
      broken(e);
    } catch (RuntimeException | Error e) {
      broken(e);
      throw e;
    } finally {
      message.closeDescriptors(system);
    }
  }

  private void reply(UserMessage message) {
    Call<?> call = calls.remove(message.id());
    if (call == null) {
      throw malformed(
          "a reply to %s with id %d, which is not outstanding"
              .formatted(UserCommand.describe(message.command()), message.id()));
    }
    try {
      if (!call.command.is(message.command())) {
        throw malformed(
            "a reply to %s where %s was expected"
                .formatted(UserCommand.describe(message.command()), call.command));
      }
      if (message.descriptors() > call.descriptors || message.hasTooManyDescriptors()) {
        throw malformed(
            "a reply to %s with more than %d descriptors"
                .formatted(call.command, call.descriptors));
      }
      if (message.isFailed()) {
        call.fail(
            call.command == UserCommand.VERSION && LinuxErrno.EBUSY.number() == message.error()
                ? Busy.failure(name, message)
                : refused(call.command, message.error()));
      } else if (message.isOutOfDescriptors()) {
        call.fail(
            new VfioException(
                Reason.NO_MEMORY,
                "no descriptor is left for what %s sends with its reply to %s: raise ulimit -n"
                    .formatted(name, call.command)));
      } else {
        call.read(message);
      }
    } catch (RuntimeException | Error e) {
      // No other code wakes the thread that waits for this reply.
      broken(e);
      call.fail(end.get());
      throw e;
    }
  }

  private void command(UserMessage message, UserMessage answer) {
    if (message.type() != UserMessage.TYPE_COMMAND) {
      throw malformed("a message of type %d".formatted(message.type()));
    }
    if (message.descriptors() > 0
        || message.hasTooManyDescriptors()
        || message.isOutOfDescriptors()) {
      throw malformed("%s with descriptors".formatted(UserCommand.describe(message.command())));
    }
    memory.serve(message, answer);
    if (message.wantsReply()) {
      channel.send(answer);
    }
  }

  /**
   * Ends the connection because the server violated the protocol outside of it.
   *
   * @return what to throw, {@code CLOSED}
   */
  VfioException end(String what, Throwable cause) {
    end("the server broke the protocol: " + what);
    return new VfioException(Reason.CLOSED, whyEnded(), cause);
  }

  /** The exception for a message that the protocol does not allow. */
  static VfioException malformed(String what) {
    return new VfioException(Reason.INVALID, what);
  }

  /**
   * Checks the length of a reply.
   *
   * @throws VfioException saying that it is not
   */
  static void checkReply(UserMessage reply, int bytes) {
    if (reply.payloadBytes() < bytes) {
      throw malformed(
          "a reply to %s with a payload of %d bytes, not %d"
              .formatted(UserCommand.describe(reply.command()), reply.payloadBytes(), bytes));
    }
  }

  private VfioException refused(UserCommand command, int error) {
    if (LinuxErrno.EMFILE.number() == error || LinuxErrno.ENFILE.number() == error) {
      return new VfioException(
          Reason.NO_MEMORY,
          "the server of %s has no descriptor left for %s: raise ulimit -n where it is started"
              .formatted(name, command));
    }
    Reason reason;
    if (LinuxErrno.ENOMEM.number() == error || LinuxErrno.ENOSPC.number() == error) {
      reason = Reason.NO_MEMORY;
    } else if (LinuxErrno.EACCES.number() == error || LinuxErrno.EPERM.number() == error) {
      reason = Reason.NO_PERMISSION;
    } else if (LinuxErrno.EBUSY.number() == error) {
      reason = Reason.BUSY;
    } else if (LinuxErrno.EOPNOTSUPP.number() == error || LinuxErrno.ENOSYS.number() == error) {
      reason = Reason.UNSUPPORTED;
    } else {
      reason = Reason.INVALID;
    }
    return new VfioException(
        reason,
        "the server of %s refused %s%s"
            .formatted(name, command, error == 0 ? "" : ": " + LinuxErrno.describe(-error)));
  }

  private void broken(Throwable e) {
    if (!(e instanceof VfioException failure)) {
      end("the receiving thread has failed: " + e);
    } else if (failure.reason() == Reason.CLOSED) {
      end(e.getMessage());
    } else {
      end("the server broke the protocol: " + e.getMessage());
    }
  }

  /** Ends the connection, if it has not ended before. */
  private void end(String why) {
    end(new VfioException(Reason.CLOSED, "%s is gone: %s".formatted(name, why)));
  }

  private void end(VfioException why) {
    if (!end.compareAndSet(null, why)) {
      return;
    }
    channel.close();
    // A later thread sees the end before it waits.
    for (Integer id : calls.keySet()) {
      Call<?> call = calls.remove(id);
      if (call != null) {
        call.fail(why);
      }
    }
    whenEnded.run();
  }

  /** Closes the socket; nothing more is served when this returns. Idempotent. */
  @Override
  public void close() {
    end(new VfioException(Reason.CLOSED, "%s is closed".formatted(name)));
    boolean interrupted = false;
    while (reader.isAlive()) {
      try {
        reader.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (ring != null) {
      ring.close();
    }
    asking.lock();
    try {
      request.close();
    } finally {
      asking.unlock();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}

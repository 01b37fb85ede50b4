package org.hghca.virtio.driver;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import org.hghca.provider.Health;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.hghca.virtio.ControlQueue;
import org.hghca.virtio.VirtioException;
import org.hghca.virtio.abi.roce.Dialect;
import org.hghca.virtio.abi.roce.Handle;
import org.hghca.virtio.abi.roce.RoceCommand;

/**
 * Commands of RoCE to a device. A device that refuses one does not say why; one that does not
 * answer has failed. Thread-safe.
 */
final class Commands {
  private static final MemorySegment NOTHING = MemorySegment.NULL;

  private final ControlQueue queue;
  private final Dialect dialect;
  private final Health health;
  private final AtomicLong given = new AtomicLong();

  Commands(ControlQueue queue, Dialect dialect, Health health) {
    this.queue = queue;
    this.dialect = dialect;
    this.health = health;
  }

  /** By whose numbers the commands go. */
  Dialect dialect() {
    return dialect;
  }

  /** Number of commands that were given. */
  long given() {
    return given.get();
  }

  /**
   * Gives a command.
   *
   * @param answer receives what the device answers; of the length that the command has
   * @param refused the error if the device refuses
   * @param what the device refuses then, with what may help
   * @throws VerbsException {@code refused}; EIO when the device has failed
   */
  void give(
      RoceCommand command, MemorySegment data, MemorySegment answer, Errno refused, String what) {
    health.check();
    given.incrementAndGet();
    boolean done;
    try {
      done = queue.execute(dialect.controlClass(), command.code(), data, answer);
    } catch (VirtioException e) {
      health.fail("%s: %s".formatted(command, e.getMessage()));
      throw new VerbsException(Errno.EIO, "%s: %s".formatted(command, e.getMessage()), e);
    }
    if (!done) {
      throw new VerbsException(refused, "%s: the device refuses %s".formatted(command, what));
    }
  }

  /** As {@link #give}, a command without an answer. */
  void give(RoceCommand command, MemorySegment data, Errno refused, String what) {
    give(command, data, NOTHING, refused, what);
  }

  /** Gives a command without data; returns its answer, which the garbage collector frees. */
  MemorySegment ask(RoceCommand command, Errno refused, String what) {
    MemorySegment answer = Arena.ofAuto().allocate(command.ackSize());
    give(command, NOTHING, answer, refused, what);
    return answer;
  }

  /** Creates an object; returns its number. */
  int create(RoceCommand command, MemorySegment data, String what) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment answer = arena.allocate(Handle.SIZE);
      give(command, data, answer, Errno.ENOMEM, what);
      return Handle.NUMBER.get(answer, 0);
    }
  }

  /** Creates an object without properties; returns its number. */
  int create(RoceCommand command, String what) {
    return create(command, NOTHING, what);
  }

  /** Destroys an object by its number. */
  void destroy(RoceCommand command, int number, String what) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment data = arena.allocate(Handle.SIZE);
      Handle.NUMBER.set(data, 0, number);
      give(command, data, Errno.EBUSY, what);
    }
  }
}

package org.hghca.vfio.user;

import java.lang.foreign.Arena;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.ReentrantLock;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/**
 * The server's end of a client's {@link RegisterRing}: writes are executed in their order, under
 * its lock, by the poller or by the thread of the client's commands. The client may write anything
 * into the memory at any time; if it writes what no client does, the connection ends. Thread-safe.
 */
final class RegisterRingReceiver implements AutoCloseable {

  /** Executes a write. */
  interface Registers {
    /**
     * Checks a write and executes it.
     *
     * @param region 0 to 255
     * @param width 0 to 255 bytes
     * @throws Refusal when the device has no such register
     */
    void write(int region, long offset, int width, long value);
  }

  private final Registers registers;
  private final Runnable hangUp;
  private final Arena arena;
  private final RegisterRing ring;
  private final ReentrantLock lock = new ReentrantLock();

  // The following fields are guarded by the lock.

  private long position;
  private long sleeps;
  private boolean closed;

  /** Why the connection must end; null while it need not. */
  private volatile VfioException failure;

  private RegisterRingReceiver(
      Registers registers, Runnable hangUp, Arena arena, RegisterRing ring) {
    this.registers = registers;
    this.hangUp = hangUp;
    this.arena = arena;
    this.ring = ring;
  }

  /**
   * Maps a client's ring.
   *
   * @param file that the client has sent; the caller keeps it
   * @param hangUp ends the connection, on the thread that has found why
   * @throws Refusal {@code EINVAL} when it is no file for a ring, {@code ENOMEM} when it cannot be
   *     mapped
   */
  static RegisterRingReceiver map(
      SystemCalls system, int file, Registers registers, Runnable hangUp) {
    if (!RegisterRing.isSealed(system, file)) {
      throw Refusal.invalid(
          "a ring must be a memory file of %d bytes with the seals SEAL, SHRINK and GROW"
              .formatted(RegisterRing.BYTES));
    }
    Arena arena = Arena.ofShared();
    RegisterRing ring = RegisterRing.map(system, file, arena);
    if (ring == null) {
      arena.close();
      throw new Refusal(LinuxErrno.ENOMEM, "the ring cannot be mapped");
    }
    return new RegisterRingReceiver(registers, hangUp, arena, ring);
  }

  /** Why the connection had to end; null when it did not. */
  VfioException failure() {
    return failure;
  }

  /**
   * Executes all writes that were in the ring before this call.
   *
   * @return whether the connection goes on
   */
  boolean drain() {
    lock.lock();
    try {
      int _ = execute(RegisterRing.ENTRIES);
      return failure == null;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Executes the next writes, unless another thread does.
   *
   * @param most how many
   * @return whether there were any
   */
  boolean take(int most) {
    if (!lock.tryLock()) {
      return false;
    }
    try {
      return execute(most) > 0;
    } finally {
      lock.unlock();
    }
  }

  private int execute(int most) {
    int executed = 0;
    try {
      while (executed < most && isWhole()) {
        long first = ring.first(position);
        if (first == 0) {
          break;
        }
        registers.write(
            RegisterRing.region(first),
            ring.offset(position),
            RegisterRing.width(first),
            ring.value(position));
        position++;
        executed++;
      }
      if (executed > 0) {
        ring.taken(position);
      }
    } catch (Refusal e) {
      fail(new VfioException(Reason.INVALID, "in its ring of register writes: " + e.getMessage()));
    } catch (RuntimeException | Error e) {
      fail(new VfioException(Reason.INVALID, "a register write of its ring failed: " + e, e));
    }
    return executed;
  }

  private boolean isWhole() {
    return !closed && failure == null;
  }

  private void fail(VfioException why) {
    failure = why;
    hangUp.run();
  }

  /**
   * Tells the client that it must announce its next write.
   *
   * @return whether there was none before that
   */
  boolean sleep() {
    if (!lock.tryLock()) {
      return false;
    }
    try {
      if (!isWhole()) {
        return true;
      }
      sleeps = sleeps + 1 | 1;
      ring.sleep(sleeps);
      VarHandle.fullFence(); // the client writes an entry before it looks whether to announce it
      return ring.first(position) == 0;
    } catch (Refusal e) {
      return false; // reported by the next look
    } finally {
      lock.unlock();
    }
  }

  /** Tells the client that it need not announce its writes any more. */
  void wakeUp() {
    if (lock.tryLock()) {
      try {
        if (!closed && (sleeps & 1) != 0) {
          ring.sleep(++sleeps);
        }
      } finally {
        lock.unlock();
      }
    }
  }

  /** No write is executed any more when this returns. Idempotent. */
  @Override
  public void close() {
    lock.lock();
    try {
      if (!closed) {
        closed = true;
        arena.close();
      }
    } finally {
      lock.unlock();
    }
  }
}

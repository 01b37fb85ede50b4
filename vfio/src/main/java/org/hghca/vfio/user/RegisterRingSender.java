package org.hghca.vfio.user;

import java.lang.foreign.Arena;
import java.lang.invoke.VarHandle;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.user.UserStructures.RegionInfo;
import org.hghca.vfio.user.UserStructures.RingInfo;

/**
 * The client's end of a {@link RegisterRing}. Thread-safe.
 *
 * <p>The server executes what is in the ring before it executes a message, so that a write is in
 * order with all that its thread sends afterwards. A write that finds the ring full asks for a
 * reply, before which the server empties the ring.
 */
final class RegisterRingSender implements AutoCloseable {
  private static final ConditionLog LOG = ConditionLog.of(RegisterRingSender.class);

  private final UserConnection connection;
  private final Arena arena;
  private final RegisterRing ring;
  private final ReentrantLock lock = new ReentrantLock();

  // The following fields are guarded by the lock.

  private long written;

  /** As far as is known: the server may have taken more. */
  private long taken;

  /** The sleep of the server for which it was woken. */
  private long woken;

  private boolean closed;

  private RegisterRingSender(UserConnection connection, Arena arena, RegisterRing ring) {
    this.connection = connection;
    this.arena = arena;
    this.ring = ring;
  }

  /**
   * Makes a ring and gives it to the server.
   *
   * @return empty where that is not possible: each write is a message then
   */
  static Optional<RegisterRingSender> open(SystemCalls system, UserConnection connection) {
    int file = RegisterRing.create(system);
    if (file < 0) {
      LOG.debug(About.NOTHING, "no ring for register writes: {}", LinuxErrno.describe(file));
      return Optional.empty();
    }
    Arena arena = Arena.ofShared();
    try {
      RegisterRing ring = RegisterRing.map(system, file, arena);
      if (ring != null) {
        give(connection, file);
        return Optional.of(new RegisterRingSender(connection, arena, ring));
      }
      LOG.debug(About.NOTHING, "no memory for a ring of register writes");
    } catch (VfioException e) {
      LOG.debug(About.NOTHING, "no ring for register writes", e);
    } finally {
      system.close(file);
    }
    arena.close();
    return Optional.empty();
  }

  private static void give(UserConnection connection, int file) {
    connection.call(
        UserCommand.REGISTER_RING,
        RingInfo.BYTES,
        message -> {
          message.putInt(RingInfo.LAYOUT, RegisterRing.LAYOUT);
          message.attach(file);
        },
        reply -> true);
  }

  /**
   * Writes a register. Does nothing when the connection has ended.
   *
   * @param width 1, 2, 4 or 8 bytes
   */
  void post(int region, long offset, int width, long value) {
    lock.lock();
    try {
      if (closed || !makeRoom()) {
        return;
      }
      ring.put(written++, region, offset, width, value);
      VarHandle.fullFence(); // a server that is seen awake sees the entry
      long sleep = ring.sleep();
      if ((sleep & 1) != 0 && sleep != woken) {
        woken = sleep;
        connection.post(UserCommand.LOOK_AT_RING);
      }
    } finally {
      lock.unlock();
    }
  }

  private boolean makeRoom() {
    if (hasRoom() || learnsOfRoom()) {
      return true;
    }
    if (connection.isEnded()) {
      return false;
    }
    try {
      long _ = connection.read(RegionInfo.CONFIGURATION, 0, Integer.BYTES);
    } catch (VfioException e) {
      LOG.debug(About.NOTHING, "no answer while the ring of register writes is full", e);
      return false;
    }
    if (learnsOfRoom()) {
      return true;
    }
    connection.end("it does not empty the ring of register writes", null);
    return false;
  }

  private boolean hasRoom() {
    return written - taken < RegisterRing.ENTRIES;
  }

  /** Looks how many entries the server has taken; returns whether there is room now. */
  private boolean learnsOfRoom() {
    long now = ring.taken();
    if (now < taken || now > written) {
      connection.end("it has taken %d of %d register writes".formatted(now, written), null);
      return false;
    }
    taken = now;
    return hasRoom();
  }

  /** Releases the memory. Idempotent. */
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

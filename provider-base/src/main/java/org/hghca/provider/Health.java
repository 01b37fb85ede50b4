package org.hghca.provider;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import jdk.jfr.FlightRecorder;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/** Whether a device still works. The first fatal error stays the cause. Thread-safe. */
public final class Health {
  private static final ConditionLog LOG = ConditionLog.of(Health.class);

  private static final AtomicReferenceFieldUpdater<Health, String> CAUSE =
      AtomicReferenceFieldUpdater.newUpdater(Health.class, String.class, "cause");

  private final String device;

  /** Null while the device works. */
  private volatile String cause;

  private volatile Runnable onFailure = () -> {};

  public Health(String device) {
    this.device = device;
  }

  /**
   * Registers an action for the failure of the device: it runs once, on the thread that detects the
   * failure and under the locks that it holds.
   */
  public void onFailure(Runnable action) {
    onFailure = action;
  }

  public boolean isDead() {
    return cause != null;
  }

  /** Declares the device dead: only a reset, by closing and reopening it, fixes that. */
  public void fail(String why) {
    if (CAUSE.compareAndSet(this, null, why)) {
      LOG.error(About.device(device), "the device has failed: {}", why);
      if (FlightRecorder.isInitialized()) {
        record(why);
      }
      onFailure.run();
    }
  }

  private void record(String why) {
    DeviceFatalEvent event = new DeviceFatalEvent();
    if (event.shouldCommit()) {
      event.device = device;
      event.cause = why;
      event.commit();
    }
  }

  /**
   * Checks.
   *
   * @throws VerbsException EIO with the cause when the device is dead
   */
  public void check() {
    String why = cause;
    if (why != null) {
      throw new VerbsException(Errno.EIO, complaint(why));
    }
  }

  /** The message for a dead device; empty while it works. */
  public Optional<String> complaint() {
    return Optional.ofNullable(cause).map(this::complaint);
  }

  private String complaint(String why) {
    return "%s has failed and must be closed and opened again: %s".formatted(device, why);
  }
}

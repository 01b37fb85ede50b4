package org.hghca.provider;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;

/**
 * Frees memory only when the card can no longer access it: after the command that makes the card
 * release it, or, if that command failed, after the reset that ends the device. Thread-safe.
 */
public final class DeferredFree {
  private static final ConditionLog LOG = ConditionLog.of(DeferredFree.class);

  private final Predicate<Throwable> known;
  private final List<Runnable> untilReset = new ArrayList<>();
  private boolean reset;

  /**
   * Without reserved memory.
   *
   * @param known whether the reason for a failed command was already logged; for a dead device it
   *     was, and very many objects may be affected
   */
  public DeferredFree(Predicate<Throwable> known) {
    this.known = known;
  }

  /**
   * Makes the card release an object, then frees the object's memory. If the command fails, its
   * numbers and table entries stay allocated permanently, and its memory stays allocated until the
   * reset. After the reset, no command is needed: only the memory is freed.
   *
   * @param what for the log
   * @param command makes the card release the object; may throw
   * @param freeMemory may throw when the process itself still holds the memory
   * @param freeNumbers frees numbers and table entries; must not throw
   */
  public void retire(String what, Runnable command, Runnable freeMemory, Runnable freeNumbers) {
    if (isReset()) {
      freeMemory.run();
      return;
    }
    try {
      command.run();
    } catch (RuntimeException | InternalError e) { // one is a fault of mapped registers
      keepUntilReset(what, e, freeMemory);
      return;
    }
    try {
      freeMemory.run();
    } finally {
      freeNumbers.run();
    }
  }

  /**
   * Keeps memory until the reset that ends the device, because the card may access it until then.
   *
   * @param what for the log
   * @param cause how the card failed
   */
  public void keepUntilReset(String what, Throwable cause, Runnable freeMemory) {
    String why = cause.getMessage();
    if (known.test(cause)) {
      LOG.debug(About.NOTHING, "{} stays reserved until the device is reset: {}", what, why);
    } else {
      LOG.warn(About.NOTHING, "{} stays reserved until the device is reset: {}", what, why);
    }
    keep(freeMemory);
  }

  /** Keeps memory until the reset that ends the device, or the close of its function. */
  public void keep(Runnable freeMemory) {
    synchronized (untilReset) {
      untilReset.add(freeMemory);
    }
  }

  private boolean isReset() {
    synchronized (untilReset) {
      return reset;
    }
  }

  /** The device was reset, or its function closed: the card cannot access any memory. */
  public void afterReset() {
    List<Runnable> left;
    synchronized (untilReset) {
      reset = true;
      left = List.copyOf(untilReset);
      untilReset.clear();
    }
    for (Runnable freeMemory : left) {
      try {
        freeMemory.run();
      } catch (RuntimeException e) {
        LOG.warn(About.NOTHING, "memory stays allocated: {}", e.getMessage());
      }
    }
  }
}

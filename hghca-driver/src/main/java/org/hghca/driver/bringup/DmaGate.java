package org.hghca.driver.bringup;

import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.VfioException;

/**
 * Whether a card may access memory. It may between {@link #open} and {@link #stopAndReset}, while
 * bus mastering is on. Used by one thread at a time.
 */
public final class DmaGate {
  private static final ConditionLog LOG = ConditionLog.of(DmaGate.class);

  private final PciFunction function;
  private final boolean resets;
  private boolean closed;
  private boolean gone;

  public DmaGate(PciFunction function) {
    this.function = function;
    this.resets = function.canReset();
  }

  /**
   * Stops the function's DMA and resets it if possible: registers and state are as after power-on.
   * Does nothing if that was already done, so that the reset, which takes 100 ms or more, is done
   * once.
   *
   * @throws VfioException when the function refuses
   */
  public void stopAndReset() {
    if (closed || gone) {
      return;
    }
    try {
      // In this order: a reset ends DMA in flight, and restores the command register.
      function.configuration().busMaster(false);
      if (resets) {
        function.reset();
      }
      closed = true;
    } catch (VfioException e) {
      if (e.reason() != VfioException.Reason.CLOSED) {
        throw e;
      }
      LOG.debug(About.device(function.locator()), "cannot be stopped any more: {}", e.getMessage());
      gone = true;
    }
  }

  /** Lets the function start DMA. */
  public void open() {
    closed = false;
    function.configuration().busMaster(true);
  }

  /**
   * Whether the card has released all memory addresses: it was reset. For a card that is gone this
   * is unknown; its memory is freed after the function's close.
   */
  public boolean isReset() {
    return closed && resets;
  }

  /** Whether the function was removed before it could be stopped. */
  public boolean isGone() {
    return gone;
  }
}

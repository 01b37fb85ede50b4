package org.hghca.driver;

import java.util.Optional;
import org.hghca.abi.AdapterInfo;
import org.hghca.abi.PortInfo;
import org.hghca.driver.card.DevicePresence;
import org.hghca.driver.card.Limits;
import org.hghca.icm.IcmManager;
import org.hghca.icm.IcmTable;
import org.hghca.mailbox.CommandException;
import org.hghca.mailbox.CommandInterface;
import org.hghca.provider.DeferredFree;
import org.hghca.provider.Health;
import org.hghca.uar.UarAllocator;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.TimeScale;
import org.hghca.vfio.VfioException;

/**
 * A card that was brought up: how it is reached, what it can, and whether it is still there. It
 * knows nothing of the objects that are made on it. Thread-safe.
 */
final class Card {
  private final CardAccess access;
  private final TimeScale time;
  private final DevicePresence presence;
  private final Limits limits;
  private final AdapterInfo adapter;
  private final Health health;
  private final DeferredFree deferredFree;

  Card(
      CardAccess access,
      DevicePresence presence,
      Limits limits,
      AdapterInfo adapter,
      Health health,
      DeferredFree deferredFree) {
    this.access = access;
    this.time = TimeScale.of(access.function().locator());
    this.presence = presence;
    this.limits = limits;
    this.adapter = adapter;
    this.health = health;
    this.deferredFree = deferredFree;
  }

  PciFunction function() {
    return access.function();
  }

  /** Where in BAR0 the HCR was found. */
  long hcrBase() {
    return access.hcrBase();
  }

  CommandInterface commands() {
    return access.commands();
  }

  IcmManager icm() {
    return access.icm();
  }

  UarAllocator uars() {
    return access.uars();
  }

  /** In which everything that waits for the card measures. */
  TimeScale time() {
    return time;
  }

  Limits limits() {
    return limits;
  }

  AdapterInfo adapter() {
    return adapter;
  }

  Health health() {
    return health;
  }

  DeferredFree deferredFree() {
    return deferredFree;
  }

  /** As far as the translation table reaches. */
  long maxMrSize() {
    return icm().capacity(IcmTable.MTT) * DmaMapping.PAGE_SIZE;
  }

  /** What the port says of itself; empty when the card has no answer that means anything. */
  Optional<PortInfo> portInfo() {
    try {
      PortInfo info = commands().madIfc();
      return info.isConstantAnswer() ? Optional.empty() : Optional.of(info);
    } catch (CommandException e) {
      return Optional.empty();
    }
  }

  // ---- whether it is still there

  /** Looks whether the card is still there; if it is not, the device is dead. */
  void checkPresence() {
    if (!health.isDead()) {
      presence.complaint().ifPresent(health::fail);
    }
  }

  /**
   * An access has faulted, which may have been to a register of a card that is gone: mapped memory
   * faults by an {@link InternalError}, registers that somebody serves by a {@link VfioException}.
   *
   * @return what to tell the program of a dead device
   * @throws InternalError the fault itself when the card is there: the memory was somebody else's
   * @throws VfioException likewise
   */
  String faulted(Throwable fault) {
    if (isLoss(fault)) {
      health.fail(fault.getMessage());
    } else {
      checkPresence();
    }
    return health.complaint().orElseThrow(() -> unchecked(fault));
  }

  /** A thread that works for the device cannot go on: somebody waits for it, so the device ends. */
  void threadFailed(String thread, Throwable cause) {
    if (cause instanceof InternalError) {
      checkPresence();
    }
    health.fail(isLoss(cause) ? cause.getMessage() : "%s has failed: %s".formatted(thread, cause));
  }

  /** Whether a fault says itself that the function is lost. */
  private static boolean isLoss(Throwable fault) {
    return fault instanceof VfioException e && e.reason() == VfioException.Reason.CLOSED;
  }

  private static RuntimeException unchecked(Throwable fault) {
    if (fault instanceof Error error) {
      throw error;
    }
    return (RuntimeException) fault;
  }
}

package org.hghca.driver.card;

import java.util.Optional;
import org.hghca.abi.AdapterInfo;
import org.hghca.abi.PortInfo;
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
import org.hghca.vfio.trace.DeviceTrace;

/**
 * A card after bring-up: its access, its capabilities, and its presence. It is independent of the
 * objects that are created on it. Thread-safe.
 */
public final class Card {
  private final CardAccess access;
  private final TimeScale time;
  private final DevicePresence presence;
  private final Limits limits;
  private final AdapterInfo adapter;
  private final Health health;
  private final DeferredFree deferredFree;
  private final Optional<DeviceTrace> trace;

  public Card(
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
    this.trace = access.function().trace();
  }

  public PciFunction function() {
    return access.function();
  }

  /** The offset of the HCR in BAR0. */
  public long hcrBase() {
    return access.hcrBase();
  }

  public CommandInterface commands() {
    return access.commands();
  }

  public IcmManager icm() {
    return access.icm();
  }

  public UarAllocator uars() {
    return access.uars();
  }

  /** Where what is seen of the card is recorded; empty if it is not traced. */
  public Optional<DeviceTrace> trace() {
    return trace;
  }

  /** The time scale of all waits for the card. */
  public TimeScale time() {
    return time;
  }

  public Limits limits() {
    return limits;
  }

  public AdapterInfo adapter() {
    return adapter;
  }

  public Health health() {
    return health;
  }

  public DeferredFree deferredFree() {
    return deferredFree;
  }

  /** The extent of the translation table. */
  public long maxMrSize() {
    return icm().capacity(IcmTable.MTT) * DmaMapping.PAGE_SIZE;
  }

  /** The port's report; empty when the card gives no meaningful answer. */
  public Optional<PortInfo> portInfo() {
    try {
      PortInfo info = commands().madIfc();
      return info.isConstantAnswer() ? Optional.empty() : Optional.of(info);
    } catch (CommandException e) {
      return Optional.empty();
    }
  }

  // ---- presence

  /** Checks that the card is still present; if it is not, the device is dead. */
  public void checkPresence() {
    if (!health.isDead()) {
      presence.complaint().ifPresent(health::fail);
    }
  }

  /**
   * Waits until the card has received all earlier register writes of this thread, and those that
   * this thread knows of: no read overtakes them. If the card does not answer, the device is dead.
   */
  public void awaitWrites() {
    checkPresence();
  }

  /**
   * An access has faulted, possibly to a register of a card that is gone: mapped memory faults with
   * an {@link InternalError}, emulated registers with a {@link VfioException}.
   *
   * @return the error for the program of a dead device
   * @throws InternalError the fault itself when the card is present: the fault was in other memory
   * @throws VfioException likewise
   */
  public String faulted(Throwable fault) {
    if (isLoss(fault)) {
      health.fail(fault.getMessage());
    } else {
      checkPresence();
    }
    return health.complaint().orElseThrow(() -> unchecked(fault));
  }

  /** A thread of the device cannot continue: other threads wait for it, so the device fails. */
  public void threadFailed(String thread, Throwable cause) {
    if (cause instanceof InternalError) {
      checkPresence();
    }
    health.fail(isLoss(cause) ? cause.getMessage() : "%s has failed: %s".formatted(thread, cause));
  }

  /** Whether a fault itself shows that the function is lost. */
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

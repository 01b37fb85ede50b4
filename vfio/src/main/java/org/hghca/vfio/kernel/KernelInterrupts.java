package org.hghca.vfio.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.vfio.Interrupts;
import org.hghca.vfio.Locator;
import org.hghca.vfio.UndoStack;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.linux.EventInterrupts;

/**
 * The interrupts of a function, which the kernel signals through eventfds, of the best available
 * kind: MSI-X, MSI or INTx. The kernel also signals through eventfds that the function has failed,
 * or that it is requested back: in both cases it is lost.
 *
 * <p>Thread-safe; {@link #await} is for one thread.
 */
final class KernelInterrupts implements Interrupts, AutoCloseable {
  private static final ConditionLog LOG = ConditionLog.of(KernelInterrupts.class);
  private static final int MOST = 64;

  /** The kinds of interrupts, the preferred one first. */
  enum Kind {
    MSIX(VfioAbi.MSIX_IRQ),
    MSI(VfioAbi.MSI_IRQ),
    INTX(VfioAbi.INTX_IRQ);

    private final int index;

    Kind(int index) {
      this.index = index;
    }
  }

  private final SystemCalls calls;
  private final DeviceFile device;
  private final Locator locator;
  private final Consumer<String> onLoss;
  private EventInterrupts events;

  /** The enabled kind, or null. */
  private Kind kind;

  /** Whether the kernel masks the interrupt line until it is acknowledged. */
  private boolean masked;

  /**
   * Enables the interrupts of a function.
   *
   * @param kinds candidates: the first that the function and the kernel support is used
   * @param onLoss receives the reason, on the waiting thread, when the function is lost
   * @throws VfioException {@code NO_MEMORY} when the process has no descriptors left
   */
  KernelInterrupts(
      SystemCalls calls,
      DeviceFile device,
      Locator locator,
      List<Kind> kinds,
      Consumer<String> onLoss) {
    this.calls = calls;
    this.device = device;
    this.locator = locator;
    this.onLoss = onLoss;
    UndoStack undo = new UndoStack();
    undo.add(this::close);
    try {
      kind = kinds.stream().filter(this::switchOn).findFirst().orElse(null);
      if (kind == null) {
        events = new EventInterrupts(calls, 0, onLoss);
      }
      signalLoss(VfioAbi.ERR_IRQ, "%s has reported an unrecoverable error (PCIe AER)");
      signalLoss(
          VfioAbi.REQ_IRQ, "%s is requested back: it is being removed, or unbound from its driver");
    } catch (RuntimeException e) {
      throw undo.because(e);
    }
    LOG.debug(About.device(locator), "{} interrupt vectors, {}", events.vectors(), kind);
  }

  /** Tries a kind with all its vectors, or as many as the kernel provides. */
  private boolean switchOn(Kind candidate) {
    int vectors = Math.min(MOST, available(candidate.index));
    while (vectors > 0) {
      events = new EventInterrupts(calls, vectors, onLoss);
      int answer = signal(candidate.index, events.descriptors());
      if (answer == 0) {
        return true;
      }
      events.close();
      events = null;
      if (answer < 0 || answer >= vectors) {
        LOG.warn(
            About.device(locator),
            "interrupts are not {}: {}",
            candidate,
            LinuxErrno.describe(answer));
        return false;
      }
      vectors = answer; // the number left in the system
    }
    return false;
  }

  private int available(int index) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment info = arena.allocate(VfioAbi.IrqInfo.SIZE, Integer.BYTES);
      info.set(JAVA_INT, VfioAbi.ARGSZ, VfioAbi.IrqInfo.SIZE);
      info.set(JAVA_INT, VfioAbi.IrqInfo.INDEX, index);
      int answer = device.ioctl(VfioAbi.DEVICE_GET_IRQ_INFO, info);
      boolean events = (info.get(JAVA_INT, VfioAbi.FLAGS) & VfioAbi.IrqInfo.EVENTFD) != 0;
      // An index that the function does not have is also an error.
      return answer < 0 || !events ? 0 : Math.max(0, info.get(JAVA_INT, VfioAbi.IrqInfo.COUNT));
    }
  }

  private void signalLoss(int index, String cause) {
    if (available(index) > 0) {
      int answer = signal(index, events.addLoss(cause.formatted(locator)));
      if (answer < 0) {
        LOG.warn(
            About.device(locator),
            "the kernel does not signal event {}: {}",
            index,
            LinuxErrno.describe(answer));
      }
    }
  }

  /**
   * Connects the events to the kernel's interrupts. The first MSI or MSI-X request must contain all
   * vectors: not every kernel can add vectors later.
   */
  private int signal(int index, int... descriptors) {
    return set(
        index,
        VfioAbi.IrqSet.DATA_EVENTFD | VfioAbi.IrqSet.ACTION_TRIGGER,
        descriptors.length,
        descriptors);
  }

  private int set(int index, int flags, int count, int... data) {
    int size = VfioAbi.IrqSet.DATA + Integer.BYTES * data.length;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment request = arena.allocate(size, Integer.BYTES);
      request.set(JAVA_INT, VfioAbi.ARGSZ, size);
      request.set(JAVA_INT, VfioAbi.FLAGS, flags);
      request.set(JAVA_INT, VfioAbi.IrqSet.INDEX, index);
      request.set(JAVA_INT, VfioAbi.IrqSet.COUNT, count);
      MemorySegment.copy(data, 0, request, JAVA_INT, VfioAbi.IrqSet.DATA, data.length);
      return device.ioctl(VfioAbi.DEVICE_SET_IRQS, request);
    }
  }

  @Override
  public int vectors() {
    return events.vectors();
  }

  @Override
  public long await(long timeoutNanos) {
    if (masked) {
      // When a thread waits again, it has handled the cause of the interrupt.
      masked = false;
      int answer =
          set(VfioAbi.INTX_IRQ, VfioAbi.IrqSet.DATA_NONE | VfioAbi.IrqSet.ACTION_UNMASK, 1);
      if (answer < 0) {
        LOG.debug(About.device(locator), "not unmasked: {}", LinuxErrno.describe(answer));
      }
    }
    long fired = events.await(timeoutNanos);
    masked = kind == Kind.INTX && fired != 0;
    return fired;
  }

  @Override
  public long count(int vector) {
    return events.count(vector);
  }

  @Override
  public void wake() {
    events.wake();
  }

  /** Disconnects all events from the kernel; the events stay open. */
  void switchOff() {
    int off = VfioAbi.IrqSet.DATA_NONE | VfioAbi.IrqSet.ACTION_TRIGGER;
    if (kind != null) {
      int _ = set(kind.index, off, 0);
    }
    for (int index : new int[] {VfioAbi.ERR_IRQ, VfioAbi.REQ_IRQ}) {
      int _ = set(index, off, 0);
    }
  }

  @Override
  public void close() {
    switchOff();
    if (events != null) {
      events.close();
    }
  }

  /**
   * The kinds that a locator requests.
   *
   * @param wanted {@code auto}, {@code none}, or a kind in lower case
   */
  static List<Kind> kinds(String wanted) {
    return switch (wanted) {
      case "auto" -> List.of(Kind.values());
      case "none" -> List.of();
      default -> List.of(Kind.valueOf(wanted.toUpperCase(Locale.ROOT)));
    };
  }
}

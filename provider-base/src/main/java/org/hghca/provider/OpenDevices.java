package org.hghca.provider;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.PciIds;
import org.hghca.vfio.VfioException;

/**
 * The devices of a kind that this process owns. A device is brought up with its first context and
 * closed with its last. Thread-safe.
 *
 * @param <D> a device that is brought up
 */
public final class OpenDevices<D> {
  /** By locator, which kind has it open: other kinds leave it alone. Also the lock of all kinds. */
  private static final Map<String, OpenDevices<?>> OWNERS = new HashMap<>();

  private final DeviceKind<D> kind;
  private final DeviceNames names;
  private final Map<String, Open<D>> open = new HashMap<>();

  /** A device with the number of its contexts. */
  private static final class Open<D> {
    private final D device;
    private int contexts;

    Open(D device) {
      this.device = device;
    }
  }

  /** Of a kind; a process has one for each. */
  public OpenDevices(DeviceKind<D> kind) {
    this.kind = kind;
    this.names = new DeviceNames(kind);
  }

  /** The devices that are found, in the order of their names. */
  public List<RdmaDevice> list() {
    try {
      return names.list();
    } catch (VfioException e) {
      throw Failures.of(e);
    }
  }

  /**
   * Opens a context of a device.
   *
   * @return empty when it is neither a known name nor the locator of a device of this kind
   */
  public Optional<Context> openContext(String nameOrLocator) {
    try {
      RdmaDevice name = names.find(nameOrLocator).orElse(null);
      if (name == null) {
        return Optional.empty();
      }
      Optional<Context> context = openContext(name);
      if (context.isEmpty() && !nameOrLocator.contains(":")) {
        throw new VerbsException(
            Errno.ENODEV,
            "%s is no device of this kind: open it by its locator %s"
                .formatted(name.name(), name.locator()));
      }
      return context;
    } catch (VfioException e) {
      throw Failures.of(e);
    }
  }

  private Optional<Context> openContext(RdmaDevice name) {
    return acquire(name.locator()).map(device -> context(name, device));
  }

  private Context context(RdmaDevice name, D device) {
    try {
      return kind.context(name, device, () -> release(name.locator()));
    } catch (RuntimeException e) {
      release(name.locator());
      throw e;
    }
  }

  private Optional<D> acquire(String locator) {
    synchronized (OWNERS) {
      OpenDevices<?> owner = OWNERS.get(locator);
      if (owner == null) {
        Optional<D> device = bringUp(PciFunctions.open(Locator.parse(locator)));
        if (device.isEmpty()) {
          return device;
        }
        open.put(locator, new Open<>(device.get()));
        OWNERS.put(locator, this);
      } else if (owner != this) {
        return Optional.empty();
      }
      Open<D> found = open.get(locator);
      found.contexts++;
      return Optional.of(found.device);
    }
  }

  /** Empty for a function of another kind, which is closed. */
  private Optional<D> bringUp(PciFunction function) {
    if (isOfThisKind(function)) {
      return Optional.of(kind.bringUp(function));
    }
    function.close();
    return Optional.empty();
  }

  private boolean isOfThisKind(PciFunction function) {
    try {
      return kind.claims(PciIds.of(function.configuration()));
    } catch (RuntimeException | Error e) {
      function.close();
      throw e;
    }
  }

  private void release(String locator) {
    synchronized (OWNERS) {
      Open<D> found = open.get(locator);
      found.contexts--;
      if (found.contexts == 0) {
        open.remove(locator);
        OWNERS.remove(locator);
        kind.close(found.device);
      }
    }
  }
}

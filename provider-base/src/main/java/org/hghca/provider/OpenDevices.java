package org.hghca.provider;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.hghca.verbs.Context;
import org.hghca.verbs.RdmaDevice;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.VfioException;

/**
 * The devices of a kind that this process owns. A device is brought up with its first context and
 * closed with its last. Thread-safe.
 *
 * @param <D> a device that is brought up
 */
public final class OpenDevices<D> {
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
    this.names = new DeviceNames(kind.prefix());
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
   * @return empty when it is neither a known name nor a locator
   */
  public Optional<Context> openContext(String nameOrLocator) {
    try {
      return names.find(nameOrLocator).map(this::openContext);
    } catch (VfioException e) {
      throw Failures.of(e);
    }
  }

  private Context openContext(RdmaDevice name) {
    D device = acquire(name);
    try {
      return kind.context(name, device, () -> release(name));
    } catch (RuntimeException e) {
      release(name);
      throw e;
    }
  }

  private D acquire(RdmaDevice name) {
    synchronized (open) {
      Open<D> found = open.get(name.locator());
      if (found == null) {
        found = new Open<>(kind.bringUp(PciFunctions.open(Locator.parse(name.locator()))));
        open.put(name.locator(), found);
      }
      found.contexts++;
      return found.device;
    }
  }

  private void release(RdmaDevice name) {
    synchronized (open) {
      Open<D> found = open.get(name.locator());
      found.contexts--;
      if (found.contexts == 0) {
        open.remove(name.locator());
        kind.close(found.device);
      }
    }
  }
}

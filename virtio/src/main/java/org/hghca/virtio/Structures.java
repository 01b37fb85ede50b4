package org.hghca.virtio;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.VfioException;
import org.hghca.virtio.VirtioException.Reason;
import org.hghca.virtio.abi.CommonConfig;
import org.hghca.virtio.abi.PciCapability;

/**
 * The register structures of a device, found by the capabilities in its configuration space. Of
 * several capabilities of a type the first usable one counts. Capabilities of other types or with
 * an unknown BAR are ignored; every other number of the device is checked.
 *
 * @param common registers of all devices
 * @param notifications of the queues
 * @param multiplier bytes between the notifications of queues, 0 if all queues share one
 * @param interruptStatus one byte
 * @param device configuration of the device type
 * @param all where each of them is, in the order of the capabilities
 */
record Structures(
    Window common,
    Window notifications,
    long multiplier,
    Window interruptStatus,
    Optional<Window> device,
    List<RegisterStructure> all) {
  private static final int STATUS = 0x06;
  private static final int STATUS_CAPABILITIES = 1 << 4;
  private static final int CAPABILITY_POINTER = 0x34;
  private static final int FIRST_CAPABILITY = 0x40;
  private static final int END = 0x100;
  private static final int MOST_CAPABILITIES = (END - FIRST_CAPABILITY) / 4;

  /**
   * Finds the structures.
   *
   * @throws VirtioException {@code MALFORMED} when one is missing, lies outside its BAR or is too
   *     short, or the list of capabilities has no end
   */
  static Structures find(PciFunction function) {
    Search search = new Search(function);
    search.walk();
    return search.result();
  }

  /** One walk along the list. */
  private static final class Search {
    private final PciFunction function;
    private final ConfigurationSpace space;
    private final Window[] found = new Window[PciCapability.DEVICE + 1];
    private final List<RegisterStructure> all = new ArrayList<>();
    private long multiplier;

    Search(PciFunction function) {
      this.function = function;
      this.space = function.configuration();
    }

    void walk() {
      if ((space.read(STATUS, 2) & STATUS_CAPABILITIES) == 0) {
        throw malformed("has no capabilities");
      }
      int at = space.read(CAPABILITY_POINTER, 1) & ~3;
      for (int count = 0; at != 0; count++) {
        if (at < FIRST_CAPABILITY || count == MOST_CAPABILITIES) {
          throw malformed("has a list of capabilities that leads nowhere");
        }
        if (space.read(at, 1) == PciCapability.VENDOR_SPECIFIC) {
          take(at);
        }
        at = space.read(at + 1, 1) & ~3;
      }
    }

    private void take(int at) {
      if (at > END - PciCapability.SIZE) {
        throw malformed("has a capability at 0x%x that does not end".formatted(at));
      }
      int bytes = field(at, 2);
      int type = field(at, 3);
      int bar = field(at, 4);
      if (type < PciCapability.COMMON || type > PciCapability.DEVICE || bar > 5) {
        return;
      }
      if (found[type] != null) {
        return;
      }
      boolean notify = type == PciCapability.NOTIFY;
      int needed = notify ? PciCapability.NOTIFY_SIZE : PciCapability.SIZE;
      if (bytes < needed || at > END - needed) {
        throw malformed("has a capability of type %d with %d bytes".formatted(type, bytes));
      }
      Window window = window(type, bar, dword(at, 8), dword(at, 12));
      found[type] = window;
      all.add(new RegisterStructure(name(type), bar, window.base(), window.length()));
      if (notify) {
        multiplier = dword(at, 16);
        if (multiplier != 0 && (Long.bitCount(multiplier) != 1 || multiplier == 1)) {
          throw malformed("multiplies notifications by %d".formatted(multiplier));
        }
      }
    }

    private int field(int at, int offset) {
      return space.read(at + offset, 1);
    }

    private long dword(int at, int offset) {
      return Integer.toUnsignedLong(space.read(at + offset, 4));
    }

    private Window window(int type, int bar, long offset, long length) {
      MmioRegion registers;
      try {
        registers = function.region(bar);
      } catch (VfioException e) {
        VirtioException malformed = malformed("names BAR%d, which it lacks".formatted(bar));
        malformed.initCause(e);
        throw malformed;
      }
      long least =
          switch (type) {
            case PciCapability.COMMON -> CommonConfig.SIZE;
            case PciCapability.NOTIFY -> 2;
            default -> 1;
          };
      int alignment =
          switch (type) {
            case PciCapability.COMMON, PciCapability.DEVICE -> 4;
            case PciCapability.NOTIFY -> 2;
            default -> 1;
          };
      if (length < least || offset % alignment != 0 || offset > registers.size() - length) {
        throw malformed(
            "has a structure of type %d of %d bytes at 0x%x of BAR%d, which has 0x%x bytes"
                .formatted(type, length, offset, bar, registers.size()));
      }
      return new Window(registers, offset, length);
    }

    Structures result() {
      return new Structures(
          required(PciCapability.COMMON),
          required(PciCapability.NOTIFY),
          multiplier,
          required(PciCapability.INTERRUPT_STATUS),
          Optional.ofNullable(found[PciCapability.DEVICE]),
          List.copyOf(all));
    }

    private static String name(int type) {
      return switch (type) {
        case PciCapability.COMMON -> "common configuration";
        case PciCapability.NOTIFY -> "notifications";
        case PciCapability.INTERRUPT_STATUS -> "interrupt status";
        default -> "device configuration";
      };
    }

    private Window required(int type) {
      if (found[type] == null) {
        throw malformed("has no capability for its " + name(type));
      }
      return found[type];
    }

    private VirtioException malformed(String what) {
      return new VirtioException(
          Reason.MALFORMED, "%s %s: it is no virtio device".formatted(function.locator(), what));
    }
  }
}

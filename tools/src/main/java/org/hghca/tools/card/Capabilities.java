package org.hghca.tools.card;

import java.util.List;
import java.util.Map;
import org.hghca.tools.card.fields.Fields;
import org.hghca.tools.card.fields.Shown;
import org.hghca.tools.raw.CapabilityList;
import org.hghca.vfio.ConfigurationSpace;

/** The list of capabilities from 34h on (PCI Code and ID Assignment Specification). */
final class Capabilities {
  private static final int POWER = 0x01;
  private static final int MSI = 0x05;
  private static final int VENDOR = 0x09;
  private static final int EXPRESS = 0x10;
  private static final int MSIX = 0x11;
  private static final Map<Integer, String> NAMES =
      Map.of(
          POWER,
          "power management",
          0x03,
          "vital product data",
          MSI,
          "MSI",
          VENDOR,
          "vendor specific",
          0x0d,
          "bridge subsystem id",
          EXPRESS,
          "PCI Express",
          MSIX,
          "MSI-X",
          0x13,
          "advanced features",
          0x14,
          "enhanced allocation");

  private static final int PME_STATUS = 1 << 15;
  private static final int ENABLE = 1;
  private static final int MSI_64_BIT = 1 << 7;
  private static final int MSI_MASKING = 1 << 8;
  private static final int MSIX_ENABLE = 1 << 15;
  private static final int MSIX_MASKED = 1 << 14;
  private static final int MSIX_SIZE = 0x7ff;

  private final ConfigurationSpace space;

  Capabilities(ConfigurationSpace space) {
    this.space = space;
  }

  /** Each of them. */
  List<Fields> all() {
    return CapabilityList.of(space).stream().map(this::capability).toList();
  }

  private Fields capability(int at) {
    int id = space.read(at, 1);
    Fields fields =
        new Fields()
            .put("name", NAMES.getOrDefault(id, "not known"))
            .put("id", Shown.hex(id, 2))
            .put("offset", Shown.hex(at, 2));
    switch (id) {
      case POWER -> power(at, fields);
      case MSI -> msi(at, fields);
      case VENDOR -> fields.put("length", space.read(at + 2, 1));
      case EXPRESS -> new ExpressCapability(space, at).addTo(fields);
      case MSIX -> msix(at, fields);
      default -> {}
    }
    return fields;
  }

  private void power(int at, Fields fields) {
    int state = space.read(at + 4, 2);
    fields.put("version", space.read(at + 2, 2) & 0x7);
    fields.put("power_state", "D" + (state & 0x3));
    fields.put("pme_status", (state & PME_STATUS) != 0);
  }

  private void msi(int at, Fields fields) {
    int control = space.read(at + 2, 2);
    fields.put("enabled", (control & ENABLE) != 0);
    fields.put("vectors", 1 << (control >>> 1 & 0x7));
    fields.put("vectors_enabled", 1 << (control >>> 4 & 0x7));
    fields.put("64_bit", (control & MSI_64_BIT) != 0);
    fields.put("maskable", (control & MSI_MASKING) != 0);
  }

  private void msix(int at, Fields fields) {
    int control = space.read(at + 2, 2);
    fields.put("enabled", (control & MSIX_ENABLE) != 0);
    fields.put("masked", (control & MSIX_MASKED) != 0);
    fields.put("vectors", (control & MSIX_SIZE) + 1);
    fields.put("table", place(space.read(at + 4, 4)));
    fields.put("pending", place(space.read(at + 8, 4)));
  }

  private static String place(int register) {
    return "BAR%d + 0x%x".formatted(register & 0x7, register & ~0x7);
  }
}

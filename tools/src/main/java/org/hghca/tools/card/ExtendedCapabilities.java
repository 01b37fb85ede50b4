package org.hghca.tools.card;

import java.util.List;
import java.util.Map;
import org.hghca.tools.card.fields.Fields;
import org.hghca.tools.card.fields.Shown;
import org.hghca.tools.raw.BitNames;
import org.hghca.tools.raw.CapabilityList;
import org.hghca.tools.raw.PciErrors;
import org.hghca.vfio.ConfigurationSpace;

/** The list of extended capabilities from 100h on (PCI Express Base Specification, 7.6.3). */
final class ExtendedCapabilities {
  private static final int ERRORS = 0x0001;
  private static final int SERIAL_NUMBER = 0x0003;
  private static final Map<Integer, String> NAMES =
      Map.of(
          ERRORS,
          "advanced error reporting",
          0x0002,
          "virtual channel",
          SERIAL_NUMBER,
          "device serial number",
          0x000b,
          "vendor specific",
          0x000d,
          "access control services",
          0x000e,
          "alternative routing-id",
          0x000f,
          "address translation services",
          0x0010,
          "single root I/O virtualization",
          0x0018,
          "latency tolerance reporting",
          0x0019,
          "secondary PCI Express");

  private static final int UNCORRECTABLE_STATUS = 0x04;
  private static final int UNCORRECTABLE_MASK = 0x08;
  private static final int UNCORRECTABLE_SEVERITY = 0x0c;
  private static final int CORRECTABLE_STATUS = 0x10;
  private static final int CORRECTABLE_MASK = 0x14;

  private final ConfigurationSpace space;

  ExtendedCapabilities(ConfigurationSpace space) {
    this.space = space;
  }

  /** Each of them; none where nothing answers. */
  List<Fields> all() {
    return CapabilityList.extended(space).stream().map(this::capability).toList();
  }

  private Fields capability(int at) {
    int header = space.read(at, 4);
    int id = header & 0xffff;
    Fields fields =
        new Fields()
            .put("name", NAMES.getOrDefault(id, "not known"))
            .put("id", Shown.hex(id, 4))
            .put("offset", Shown.hex(at, 3))
            .put("version", header >>> 16 & 0xf);
    switch (id) {
      case ERRORS -> {
        put(fields, "uncorrectable_status", PciErrors.UNCORRECTABLE, at + UNCORRECTABLE_STATUS);
        put(fields, "uncorrectable_mask", PciErrors.UNCORRECTABLE, at + UNCORRECTABLE_MASK);
        put(fields, "uncorrectable_fatal", PciErrors.UNCORRECTABLE, at + UNCORRECTABLE_SEVERITY);
        put(fields, "correctable_status", PciErrors.CORRECTABLE, at + CORRECTABLE_STATUS);
        put(fields, "correctable_mask", PciErrors.CORRECTABLE, at + CORRECTABLE_MASK);
      }
      case SERIAL_NUMBER ->
          fields.put(
              "serial_number", "%08x%08x".formatted(space.read(at + 8, 4), space.read(at + 4, 4)));
      default -> {}
    }
    return fields;
  }

  private void put(Fields fields, String name, BitNames names, int at) {
    fields.put(name, names.set(space.read(at, 4)));
  }
}

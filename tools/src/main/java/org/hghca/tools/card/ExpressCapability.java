package org.hghca.tools.card;

import java.util.Map;
import org.hghca.tools.card.fields.Fields;
import org.hghca.tools.raw.BitNames;
import org.hghca.tools.raw.PciErrors;
import org.hghca.vfio.ConfigurationSpace;

/** The PCI Express capability (PCI Express Base Specification, 7.5.3). */
final class ExpressCapability {
  private static final int DEVICE_CAPABILITIES = 0x04;
  private static final int DEVICE_CONTROL = 0x08;
  private static final int DEVICE_STATUS = 0x0a;
  private static final int LINK_CAPABILITIES = 0x0c;
  private static final int LINK_CONTROL = 0x10;
  private static final int LINK_STATUS = 0x12;
  private static final int FUNCTION_LEVEL_RESET = 1 << 28;
  private static final int SMALLEST_PAYLOAD = 128;

  private static final Map<Integer, String> TYPES =
      Map.of(
          0, "endpoint",
          1, "legacy endpoint",
          4, "root port",
          5, "upstream port",
          6, "downstream port",
          9, "root complex integrated endpoint");
  private static final Map<Integer, String> SPEEDS =
      Map.of(
          1, "2.5 GT/s",
          2, "5 GT/s",
          3, "8 GT/s",
          4, "16 GT/s",
          5, "32 GT/s",
          6, "64 GT/s");
  private static final BitNames CONTROL =
      BitNames.of(
          "correctable error reporting, non-fatal error reporting, fatal error reporting,"
              + " unsupported request reporting, relaxed ordering, -, -, -, extended tag,"
              + " phantom functions, auxiliary power, no snoop");
  private static final BitNames LINK =
      BitNames.of(
          "-, -, -, -, link disable, -, common clock, extended synch, clock power management");

  private final ConfigurationSpace space;
  private final int at;

  ExpressCapability(ConfigurationSpace space, int at) {
    this.space = space;
    this.at = at;
  }

  /** Adds what it says. */
  void addTo(Fields fields) {
    int header = space.read(at + 2, 2);
    int capabilities = space.read(at + DEVICE_CAPABILITIES, 4);
    int control = space.read(at + DEVICE_CONTROL, 2);
    int type = header >>> 4 & 0xf;
    fields.put("version", header & 0xf);
    fields.put("type", TYPES.getOrDefault(type, "type " + type));
    fields.put("function_level_reset", (capabilities & FUNCTION_LEVEL_RESET) != 0);
    fields.put("max_payload_supported", SMALLEST_PAYLOAD << (capabilities & 0x7));
    fields.put("max_payload", SMALLEST_PAYLOAD << (control >>> 5 & 0x7));
    fields.put("max_read_request", SMALLEST_PAYLOAD << (control >>> 12 & 0x7));
    fields.put("device_control", CONTROL.set(control));
    fields.put("device_status", PciErrors.DEVICE.set(space.read(at + DEVICE_STATUS, 2)));
    fields.put("link_capability", link(space.read(at + LINK_CAPABILITIES, 4)));
    fields.put("link_control", LINK.set(space.read(at + LINK_CONTROL, 2)));
    fields.put("link_status", link(space.read(at + LINK_STATUS, 2)));
  }

  /** Speed in bits 3..0, lanes in bits 9..4. */
  private static Fields link(int register) {
    int speed = register & 0xf;
    return new Fields()
        .put("speed", SPEEDS.getOrDefault(speed, "code " + speed))
        .put("lanes", register >>> 4 & 0x3f);
  }
}

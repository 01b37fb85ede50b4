package org.hghca.tools.bringup.register;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.hghca.abi.Bar;
import org.hghca.tools.bringup.board.FunctionErrors;
import org.hghca.tools.bringup.board.Target;
import org.hghca.tools.bringup.step.Capability;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.step.Step;
import org.hghca.tools.raw.CapabilityList;
import org.hghca.tools.raw.CardStoppedException;
import org.hghca.tools.raw.PciErrors;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.Locator;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.VfioException;

/** The function as PCI sees it. */
public final class PciSteps {
  private static final String PCI = "PCI Local Bus / PCI Express Base Specification";
  private static final int POWER = 0x01;
  private static final int MSI = 0x05;
  private static final int EXPRESS = 0x10;
  private static final int MSIX = 0x11;
  private static final int ADVANCED = 0x13;
  private static final Map<Integer, String> NAMES =
      Map.of(
          POWER, "power management",
          MSI, "MSI",
          EXPRESS, "PCI Express",
          MSIX, "MSI-X",
          ADVANCED, "advanced features");

  private static final int LINK_SPEED = 0xf;
  private static final int LINK_WIDTH = 0x3f0;

  private final Target board;
  private PciErrors errorsBefore;

  public PciSteps(Target board) {
    this.board = board;
  }

  /** What every function has. */
  public List<Step> ofEveryFunction() {
    return List.of(
        Step.of(
                "open",
                "the function belongs to this process",
                "VFIO",
                "what the message says: driver binding, permissions, IOMMU; docs/hardware.md",
                this::open)
            .giving(Capability.FUNCTION),
        Step.of(
                "pci.identity",
                "PCI identity",
                PCI + ", type 0 header",
                "is the bitstream loaded, and was the bus rescanned afterwards?",
                this::identity,
                Capability.FUNCTION)
            .giving(Capability.CONFIGURATION),
        Step.of(
            "pci.capabilities",
            "capabilities: PCI Express, MSI-X, function-level reset",
            PCI + ", capability list",
            "the settings of the vendor's PCIe block in the FPGA project",
            this::capabilities,
            Capability.CONFIGURATION),
        Step.of(
                "pci.command",
                "command register: memory decoding, bus mastering",
                PCI + ", command register 04h",
                "the function is in a low-power state, or the bridge above it is off",
                this::command,
                Capability.CONFIGURATION)
            .giving(Capability.DECODING));
  }

  /** What a card has. */
  public List<Step> ofCard() {
    return List.of(
        Step.of(
                "pci.bars",
                "BAR0 and BAR2",
                "interface document, table 3-1-1",
                "the BAR settings of the vendor's PCIe block",
                this::bars,
                Capability.CONFIGURATION)
            .giving(Capability.BAR0, Capability.BAR2),
        Step.of(
            "pci.reset",
            "reset at PCIe level",
            "interface document, 3.1.1 (reset); RTL HanGuRNIC_Top.v: its own reset is unconnected",
            "without it old queue positions stay on the card: reload the bitstream before each run",
            this::reset,
            Capability.DECODING));
  }

  private void open(Observation o) {
    o.expect("%s can be opened".formatted(board.locator()));
    board.open();
    Locator function = PciFunctions.resolve(board.locator());
    if (function.scheme().equals("pci")) {
      o.fact("pci_address", function.name());
    }
    o.fact("iommu", board.function().iommuMode());
    o.saw("it is open%s".formatted(board.function().canReset() ? ", and can be reset" : ""));
  }

  private ConfigurationSpace space() {
    return board.function().configuration();
  }

  private void identity(Observation o) {
    o.expect("vendor other than FFFFh, header type 0; no document names the ids");
    ConfigurationSpace space = space();
    int vendor = space.vendorId();
    o.fact("vendor_id", "%04x".formatted(vendor));
    o.fact("device_id", "%04x".formatted(space.deviceId()));
    o.fact("revision", "%02x".formatted(space.revisionId()));
    o.fact("class", "%06x".formatted(space.classCode()));
    o.fact("subsystem", "%04x:%04x".formatted(space.read(0x2c, 2), space.read(0x2e, 2)));
    o.saw(
        "vendor %04x, device %04x, revision %02x"
            .formatted(vendor, space.deviceId(), space.revisionId()));
    o.saw(
        "class %06x, subsystem %04x:%04x"
            .formatted(space.classCode(), space.read(0x2c, 2), space.read(0x2e, 2)));
    if (vendor == 0xffff) {
      throw new CardStoppedException("configuration space reads all ones: the card is gone");
    }
    int header = space.read(0x0e, 1) & 0x7f;
    o.check(header == 0, "header type %d: this is not an endpoint".formatted(header));
  }

  private void capabilities(Observation o) {
    o.expect("a PCI Express capability with function-level reset");
    ConfigurationSpace space = space();
    o.check(CapabilityList.isThere(space), "the function has no capability list");
    boolean express = false;
    for (int at : CapabilityList.of(space)) {
      int id = space.read(at, 1);
      o.saw("%02xh: %s (%02xh)".formatted(at, NAMES.getOrDefault(id, "capability"), id));
      if (id == EXPRESS) {
        express = true;
        express(o, at);
      } else if (id == MSIX) {
        o.saw("MSI-X: %d vectors".formatted((space.read(at + 2, 2) & 0x7ff) + 1));
      }
    }
    o.check(express, "the function has no PCI Express capability");
    errorsBefore = PciErrors.of(space);
  }

  /**
   * The errors that the function has reported since the first look; before the driver resets it.
   */
  public Step errors() {
    return Step.of(
        "pci.errors",
        "the function has reported no errors on the link",
        PCI + ", device status; advanced error reporting",
        "the clock and the lanes of the link; the limits of requests and completions of the PCIe"
            + " block",
        this::newErrors,
        Capability.CONFIGURATION);
  }

  private void newErrors(Observation o) {
    o.expect("no error beyond those of the first look: %s".formatted(errorsBefore.text()));
    PciErrors now = PciErrors.of(space());
    PciErrors since = now.since(errorsBefore);
    o.saw(since.text());
    FunctionErrors.check(o, since);
  }

  private void express(Observation o, int at) {
    ConfigurationSpace space = space();
    boolean canReset = (space.read(at + 4, 4) & 1 << 28) != 0;
    int link = space.read(at + 0x12, 2);
    o.fact("link", link(link));
    int can = space.read(at + 0x0c, 4);
    o.fact("link_capability", link(can));
    o.saw("function-level reset: %s; link: %s".formatted(canReset ? "yes" : "no", text(link)));
    if ((link & LINK_SPEED) < (can & LINK_SPEED) || (link & LINK_WIDTH) < (can & LINK_WIDTH)) {
      o.warn(
          "the link is slower than the function can be: %s, not %s: the slot, or its training"
              .formatted(text(link), text(can)));
    }
    int errors = space.read(at + 0x0a, 2) & 0xf;
    if (errors != 0) {
      o.warn(
          "device status %xh: the function has reported errors on the link since it was cleared"
              .formatted(errors));
    }
  }

  private static String text(int register) {
    return "generation %d, %d lanes"
        .formatted(register & LINK_SPEED, (register & LINK_WIDTH) >>> 4);
  }

  /** Generation in bits 3..0, lanes in bits 9..4. */
  private static Map<String, Object> link(int register) {
    Map<String, Object> link = new LinkedHashMap<>();
    link.put("generation", register & 0xf);
    link.put("lanes", register >>> 4 & 0x3f);
    return link;
  }

  private void command(Observation o) {
    o.expect("bus mastering can be switched on and off, memory decoding on");
    ConfigurationSpace space = space();
    int before = space.read(ConfigurationSpace.COMMAND, 2);
    space.busMaster(true);
    int on = space.read(ConfigurationSpace.COMMAND, 2);
    space.busMaster(false);
    int off = space.read(ConfigurationSpace.COMMAND, 2);
    o.saw(
        "command register %04x, with bus mastering %04x, without %04x".formatted(before, on, off));
    o.check(
        (on & ConfigurationSpace.COMMAND_BUS_MASTER) != 0
            && (off & ConfigurationSpace.COMMAND_BUS_MASTER) == 0,
        "bus mastering does not follow what is written");
    o.check(space.enableMemorySpace(), "memory decoding cannot be switched on");
  }

  private void bars(Observation o) {
    o.expect("BAR0 of %xh bytes, BAR2 of %xh bytes".formatted(Bar.BAR0_SIZE, Bar.BAR2_SIZE));
    for (int bar = 0; bar < 6; bar++) {
      long size = size(bar);
      if (size > 0) {
        o.saw("BAR%d: %xh bytes".formatted(bar, size));
      }
    }
    long registers = size(Bar.BAR0);
    long doorbells = size(Bar.BAR2);
    o.check(registers > 0, "there is no BAR0, where the HCR is");
    o.check(doorbells > 0, "there is no BAR2, where the doorbells are");
    o.check(
        registers >= Bar.BAR0_SIZE,
        "BAR0 has %xh bytes, fewer than the document's %xh".formatted(registers, Bar.BAR0_SIZE));
    o.gives(Capability.BAR0);
    o.check(
        doorbells >= Bar.BAR2_SIZE,
        "BAR2 has %xh bytes, fewer than the document's %xh".formatted(doorbells, Bar.BAR2_SIZE));
    if (registers > Bar.BAR0_SIZE || doorbells > Bar.BAR2_SIZE) {
      o.saw("more than the document has: the driver uses nothing beyond that");
    }
  }

  private long size(int bar) {
    try {
      MmioRegion region = board.function().region(bar);
      return region.size();
    } catch (VfioException e) {
      return 0;
    }
  }

  private void reset(Observation o) {
    o.expect("the function can be reset, and its configuration space answers afterwards");
    if (!board.function().canReset()) {
      if (board.isAssumedClean()) {
        throw Observation.skip("the function has no reset, and assumeClean=true stands for it");
      }
      throw Observation.notJudged(
          "the function has no reset, so the state that an earlier program left may be there: load"
              + " the bitstream, and add assumeClean=true to the locator");
    }
    int vendor = space().vendorId();
    board.function().reset();
    int after = space().vendorId();
    int command = space().read(ConfigurationSpace.COMMAND, 2);
    space().enableMemorySpace();
    o.saw(
        "vendor %04x before and %04x after, command register %04x"
            .formatted(vendor, after, command));
    if (after == 0xffff) {
      throw new CardStoppedException("configuration space reads all ones after the reset");
    }
    o.check(vendor == after, "another vendor id after the reset");
  }
}

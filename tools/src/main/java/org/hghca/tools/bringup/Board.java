package org.hghca.tools.bringup;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.hghca.abi.Bar;
import org.hghca.abi.DeviceLimits;
import org.hghca.abi.HardwareProfile;
import org.hghca.icm.IcmTable;
import org.hghca.mailbox.CommandInterface;
import org.hghca.tools.raw.CommandRecord;
import org.hghca.tools.raw.CommandTap;
import org.hghca.tools.raw.RawHcr;
import org.hghca.tools.raw.RawTables;
import org.hghca.tools.raw.TappedFunction;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;

/**
 * The board while its registers are driven without the driver: the state known so far, and the
 * parts that must be shut down. One thread at a time.
 */
final class Board implements Target {
  /** Why nothing is known of refused accesses. */
  static final String UNREPORTED =
      "this platform does not report refused accesses to memory: see the faults of the IOMMU in the"
          + " system's log";

  private final BringupOptions options;
  private final Waits waits = new Waits();
  private TappedFunction function;
  private HardwareProfile profile;
  private boolean canReset;
  private boolean looped;
  private RawHcr hcr;
  private int hcrBase;
  private CommandInterface commands;
  private DeviceLimits limits;
  private byte[] limitBytes = {};
  private RawTables tables;
  private final List<CommandRecord> given = new ArrayList<>();
  private long faultsKnown;

  Board(BringupOptions options) {
    this.options = options;
  }

  @Override
  public BringupOptions options() {
    return options;
  }

  @Override
  public Waits waits() {
    return waits;
  }

  @Override
  public Locator locator() {
    return Locator.parse(options.device());
  }

  /**
   * The profile that the user has specified.
   *
   * @throws StepFailedException when the locator names one that does not exist
   */
  Optional<HardwareProfile> named() {
    try {
      return options.profile().or(() -> locator().parameter("as").map(HardwareProfile::byName));
    } catch (IllegalArgumentException e) {
      throw new StepFailedException(e.getMessage());
    }
  }

  @Override
  public void open() {
    function = new TappedFunction(PciFunctions.open(locator()));
    canReset = function.canReset();
    faultsKnown = 0;
  }

  /** Opens a known board, and brings it up until queue pairs can be created. */
  void bringUp() {
    byte[] known = limitBytes;
    open();
    if (function.canReset()) {
      function.reset();
    }
    function.configuration().enableMemorySpace();
    function.configuration().busMaster(true);
    hcrAt(hcrBase);
    limits(commands().queryDeviceLimits(), known);
    commands().initHca(tables().layout());
    for (IcmTable table : IcmTable.values()) {
      tables().map(table, RawTables.usedPages(table));
    }
  }

  @Override
  public boolean canReset() {
    return canReset;
  }

  @Override
  public PciFunction function() {
    return function;
  }

  /** What is in front of BAR0. */
  CommandTap tap() {
    return function.tap();
  }

  @Override
  public List<CommandRecord> takeCommands() {
    keepCommands();
    List<CommandRecord> taken = List.copyOf(given);
    given.clear();
    return taken;
  }

  private void keepCommands() {
    if (function != null) {
      given.addAll(function.commands());
    }
  }

  /** The HCR was found. */
  void hcrAt(int base) {
    hcr = new RawHcr(function, base, options.limit());
    tap().hcrAt(base);
    if (base == Bar.HCR_DOCUMENT) {
      tap().allowWholeBar();
    }
    hcrBase = base;
  }

  /** Whether the HCR is at the document's offset. */
  boolean isDocumentHcr() {
    return hcrBase == Bar.HCR_DOCUMENT;
  }

  RawHcr hcr() {
    return hcr;
  }

  /** The card was recognized. */
  void recognized(HardwareProfile as) {
    profile = as;
  }

  /** Which profile of the card is in use; null before it is known. */
  HardwareProfile profile() {
    return profile;
  }

  @Override
  public Abilities abilities() {
    return profile == null ? null : Abilities.of(profile);
  }

  /** A message came back. */
  void looped() {
    looped = true;
  }

  @Override
  public boolean isLooped() {
    return looped;
  }

  boolean isRtl() {
    return profile != HardwareProfile.S;
  }

  /** The result of QUERY_DEV_LIM, and its bytes. */
  void limits(DeviceLimits answer, byte[] bytes) {
    limits = answer;
    limitBytes = bytes.clone();
  }

  byte[] limitBytes() {
    return limitBytes.clone();
  }

  DeviceLimits limits() {
    return limits;
  }

  /** The typed commands, opened on first use. */
  CommandInterface commands() {
    if (commands == null) {
      commands = CommandInterface.open(function, profile, hcrBase, options.limit());
    }
    return commands;
  }

  /** The tables in ICM, laid out on first use. */
  RawTables tables() {
    if (tables == null) {
      tables = new RawTables(function, commands(), profile, limits);
    }
    return tables;
  }

  /** Refused accesses to memory since the last call of {@link #expectFaults}. */
  long newFaults() {
    return function.dmaFaultCount() - faultsKnown;
  }

  /** Marks the refused accesses so far as intended. */
  void expectFaults() {
    faultsKnown = function.dmaFaultCount();
  }

  /**
   * Whether an access to an unmapped address is refused before it reaches memory: in a software
   * device, or behind an IOMMU.
   */
  boolean isTranslated() {
    Locator locator = locator();
    return !locator.scheme().equals("pci")
        || Files.exists(Path.of("/sys/bus/pci/devices", locator.name(), "iommu"));
  }

  @Override
  public void close() {
    if (function == null) {
      return;
    }
    TappedFunction closing = function;
    keepCommands();
    function = null;
    hcr = null;
    limits = null;
    try {
      // In this order, so that no memory is freed that the card may still access.
      closing.configuration().busMaster(false);
      if (closing.canReset()) {
        closing.reset();
      }
      if (tables != null) {
        tables.close();
      }
      if (commands != null) {
        commands.deviceWasReset();
        commands.close();
      }
    } finally {
      tables = null;
      commands = null;
      closing.close();
    }
  }
}

package org.hghca.tools.bringup.board;

import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.hghca.abi.Bar;
import org.hghca.abi.DeviceLimits;
import org.hghca.abi.HardwareProfile;
import org.hghca.driver.trace.CardRecord;
import org.hghca.icm.IcmTable;
import org.hghca.mailbox.CommandInterface;
import org.hghca.tools.bringup.step.StepFailedException;
import org.hghca.tools.bringup.step.Waits;
import org.hghca.tools.card.CardOptions;
import org.hghca.tools.card.KeptCard;
import org.hghca.tools.raw.CommandRecord;
import org.hghca.tools.raw.CommandTap;
import org.hghca.tools.raw.RawHcr;
import org.hghca.tools.raw.RawTables;
import org.hghca.tools.raw.TappedFunction;
import org.hghca.vfio.DriverParameter;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;

/**
 * The board while its registers are driven without the driver: the state known so far, and the
 * parts that must be shut down. One thread at a time.
 */
public final class Board implements Target {
  private final BringupOptions options;
  private final Waits waits = new Waits();
  private TappedFunction function;
  private HardwareProfile profile;
  private boolean canReset;
  private boolean looped;
  private RawHcr hcr;
  private OptionalInt hcrBase = OptionalInt.empty();
  private CommandInterface commands;
  private DeviceLimits limits;
  private byte[] limitBytes = {};
  private Duration settle = Duration.ZERO;
  private RawTables tables;
  private final List<CommandRecord> given = new ArrayList<>();
  private long faultsKnown;

  public Board(BringupOptions options) {
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

  /**
   * The profile that the user has specified.
   *
   * @throws StepFailedException when the locator names one that does not exist
   */
  public Optional<HardwareProfile> named() {
    try {
      return options.profile().or(() -> locator().parameter("as").map(HardwareProfile::byName));
    } catch (IllegalArgumentException e) {
      throw new StepFailedException(e.getMessage());
    }
  }

  /** Whether the user vouches for the profile, which is then not probed. */
  public boolean isProfileAssumed() {
    return locator()
        .parameter(DriverParameter.ASSUME_PROFILE.key())
        .map(Boolean::parseBoolean)
        .orElse(false);
  }

  /** How the profile is found, in words. */
  public String profileFound() {
    if (named().isEmpty()) {
      return "recognized by probe";
    }
    String given = options.profile().isPresent() ? "given by --profile" : "given by as=";
    return isProfileAssumed() ? given + " with assumeProfile=true, not probed" : given;
  }

  @Override
  public void open() {
    function = new TappedFunction(PciFunctions.open(locator()));
    tap().settle(settle);
    canReset = function.canReset();
    faultsKnown = 0;
  }

  /** Opens a known board, and brings it up until queue pairs can be created. */
  public void bringUp() {
    byte[] known = limitBytes;
    open();
    if (function.canReset()) {
      function.reset();
    }
    function.configuration().enableMemorySpace();
    function.configuration().busMaster(true);
    hcrAt(hcrBase.getAsInt());
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

  @Override
  public Optional<TappedFunction> tapped() {
    return Optional.ofNullable(function);
  }

  /** The card for a prompt, on its function or on the one of its driver. */
  public KeptCard kept(TappedFunction open) {
    CardOptions of =
        new CardOptions(
            locator(), Optional.ofNullable(profile), options.limit(), options.patience());
    return new KeptCard(of, open, hcrBase);
  }

  /** What is in front of BAR0. */
  public CommandTap tap() {
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
  public void hcrAt(int base) {
    hcr = new RawHcr(function, base, options.limit());
    tap().hcrAt(base);
    if (base == Bar.HCR_DOCUMENT) {
      tap().allowWholeBar();
    }
    hcrBase = OptionalInt.of(base);
  }

  /** The answer of a command comes up to so long after its end. */
  public void settle(Duration time) {
    settle = time;
    tap().settle(time);
  }

  @Override
  public Duration settle() {
    return settle;
  }

  @Override
  public OptionalInt hcrBase() {
    return hcrBase;
  }

  /** Whether the HCR is at the document's offset. */
  public boolean isDocumentHcr() {
    return hcrBase.equals(OptionalInt.of(Bar.HCR_DOCUMENT));
  }

  public RawHcr hcr() {
    return hcr;
  }

  /** The card was recognized. */
  public void recognized(HardwareProfile as) {
    profile = as;
    function.trace().ifPresent(to -> CardRecord.record(to, as, hcrBase.getAsInt()));
  }

  /** Which profile of the card is in use; null before it is known. */
  public HardwareProfile profile() {
    return profile;
  }

  @Override
  public Abilities abilities() {
    return profile == null ? null : Abilities.of(profile);
  }

  /** A message came back. */
  public void looped() {
    looped = true;
  }

  @Override
  public boolean isLooped() {
    return looped;
  }

  public boolean isRtl() {
    return profile != HardwareProfile.S;
  }

  /** The result of QUERY_DEV_LIM, and its bytes. */
  public void limits(DeviceLimits answer, byte[] bytes) {
    limits = answer;
    limitBytes = bytes.clone();
  }

  /** The result of QUERY_DEV_LIM as the card has answered it. */
  public DeviceLimits answeredLimits() {
    return DeviceLimits.decode(MemorySegment.ofArray(limitBytes));
  }

  public byte[] limitBytes() {
    return limitBytes.clone();
  }

  public DeviceLimits limits() {
    return limits;
  }

  /** The typed commands, opened on first use. */
  public CommandInterface commands() {
    if (commands == null) {
      commands = CommandInterface.open(function, profile, hcrBase.getAsInt(), options.limit());
    }
    return commands;
  }

  /** The tables in ICM, laid out on first use. */
  public RawTables tables() {
    if (tables == null) {
      tables = new RawTables(function, commands(), profile, limits);
    }
    return tables;
  }

  /** Refused accesses to memory since the last call of {@link #expectFaults}. */
  public long newFaults() {
    return function.dmaFaultCount() - faultsKnown;
  }

  /** Marks the refused accesses so far as intended. */
  public void expectFaults() {
    faultsKnown = function.dmaFaultCount();
  }

  /**
   * Whether an access to an unmapped address is refused before it reaches memory: in a software
   * device, or behind an IOMMU.
   */
  public boolean isTranslated() {
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

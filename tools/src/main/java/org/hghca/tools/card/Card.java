package org.hghca.tools.card;

import java.util.List;
import java.util.Optional;
import org.hghca.abi.Bar;
import org.hghca.abi.DeviceLimits;
import org.hghca.abi.HardwareProfile;
import org.hghca.mailbox.CommandInterface;
import org.hghca.mailbox.HcrProbe;
import org.hghca.tools.raw.CardHistory;
import org.hghca.tools.raw.CardStoppedException;
import org.hghca.tools.raw.CommandTap;
import org.hghca.tools.raw.HcrPlaces;
import org.hghca.tools.raw.HcrSearch;
import org.hghca.tools.raw.RawHcr;
import org.hghca.tools.raw.RawTables;
import org.hghca.tools.raw.RtlProfile;
import org.hghca.tools.raw.TappedFunction;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.PciIds;
import org.hghca.vfio.VfioException;

/** The card of a session: its function, and what is known of it so far. One thread at a time. */
final class Card implements AutoCloseable {
  private static final int ALL_ONES_ID = 0xffff;

  private final CardOptions options;
  private final TappedFunction function;
  private final Mailboxes mailboxes;
  private final boolean kept;
  private Optional<HardwareProfile> profile;
  private Optional<RawHcr> hcr = Optional.empty();
  private long base;
  private CommandInterface commands;
  private RawTables tables;

  private Card(CardOptions options, TappedFunction function, boolean kept) {
    this.options = options;
    this.function = function;
    this.mailboxes = new Mailboxes(function);
    this.kept = kept;
    this.profile = options.profile();
    allowWhatIsKnown();
  }

  /**
   * Takes the function from the system; no register behind a BAR is accessed.
   *
   * @throws VfioException when that fails, or it is a virtio device
   */
  static Card open(CardOptions options) {
    PciFunction function = PciFunctions.open(options.locator());
    if (PciIds.of(function.configuration()).isVirtio()) {
      function.close();
      throw new VfioException(
          VfioException.Reason.INVALID,
          "%s is a virtio device, and no card: hghca bringup is for it"
              .formatted(options.locator()));
    }
    return new Card(options, new TappedFunction(function), false);
  }

  /** A card that belongs to another one, as that one has left it. */
  static Card of(KeptCard left) {
    Card card = new Card(left.options(), left.function(), true);
    left.hcrBase().ifPresent(card::hcrAt);
    return card;
  }

  private void allowWhatIsKnown() {
    if (isKnownS()) {
      function.tap().allowWholeBar();
    }
  }

  /** The function without what records its commands and blocks accesses. */
  PciFunction untapped() {
    return function.untapped();
  }

  /** The function whose commands are recorded. */
  TappedFunction function() {
    return function;
  }

  Mailboxes mailboxes() {
    return mailboxes;
  }

  /** What the commands have given to it. */
  CardHistory history() {
    return function.history();
  }

  /** Whether it belongs to another one, who gives it back. */
  boolean isKept() {
    return kept;
  }

  /** Whether it is a card of the document, or was declared to be one. */
  boolean isKnownS() {
    return profile.filter(HardwareProfile.S::equals).isPresent();
  }

  /** The profiles that it may have. */
  List<HardwareProfile> profiles() {
    return profile.map(List::of).orElse(List.of(HardwareProfile.R1, HardwareProfile.R2));
  }

  /** The profile, or what is known of it. */
  String profileName() {
    return profile
        .map(HardwareProfile::name)
        .orElse(hcr.isPresent() ? "r1 or r2: QUERY_DEV_LIM tells" : "not known: probe tells");
  }

  Optional<HardwareProfile> profile() {
    return profile;
  }

  /** Whether its tables are mapped. */
  boolean isInitialized() {
    return tables != null;
  }

  /**
   * Where the HCR is in BAR0.
   *
   * @return empty before it was found
   */
  Optional<Long> hcrBase() {
    return hcr.map(_ -> base);
  }

  /** The HCR, which is searched on first use. */
  RawHcr hcr() {
    return hcr.orElseGet(
        () -> {
          probe();
          return hcr.orElseThrow();
        });
  }

  /** Switches memory decoding on, where it is off. */
  void decodeMemory() {
    checkPresent();
    if (!function.configuration().enableMemorySpace()) {
      throw new RequestFailedException(
          "memory decoding of %s cannot be switched on: is its bridge on?"
              .formatted(options.locator()));
    }
  }

  /**
   * Checks that configuration space answers.
   *
   * @throws CardStoppedException when it reads all ones
   */
  void checkPresent() {
    if (function.configuration().vendorId() == ALL_ONES_ID) {
      throw new CardStoppedException(
          "the configuration space of %s reads all ones: the card is gone; power it on, and rescan"
                  .formatted(options.locator())
              + " the bus");
    }
  }

  /**
   * Searches the HCR, at 0h first: a read of 80000h can stop the RTL.
   *
   * @return what was found at each offset that was accessed
   */
  List<HcrProbe> probe() {
    decodeMemory();
    HcrSearch search =
        HcrSearch.of(
            function,
            HcrPlaces.of(options.locator(), options.profile()),
            function.tap()::allowWholeBar,
            _ -> {});
    if (search.isSilent()) {
      throw new CardStoppedException(
          "BAR0 + 0x%05x %s".formatted(search.last().base(), search.last().describe()));
    }
    found(
        search
            .offset()
            .orElseThrow(
                () ->
                    new RequestFailedException(
                        "there is no HCR: %s; is it the right function? hcr= in the locator names another offset"
                            .formatted(search.text()))));
    return search.probes();
  }

  private void found(int at) {
    Optional<HardwareProfile> named = options.profile();
    if (named.isPresent() && HcrPlaces.of(options.locator(), named).contradict(at)) {
      throw new RequestFailedException(
          "the HCR is at 0x%05x: this is no card of profile %s; --profile auto detects it"
              .formatted(at, named.get()));
    }
    hcrAt(at);
    if (at == Bar.HCR_DOCUMENT && profile.isEmpty()) {
      profile = Optional.of(HardwareProfile.S);
    }
  }

  private void hcrAt(int at) {
    base = at;
    CommandTap tap = function.tap();
    tap.hcrAt(at);
    hcr = Optional.of(new RawHcr(function, at, options.limit()));
  }

  /** The card has answered QUERY_DEV_LIM. */
  void recognize(DeviceLimits limits) {
    if (profile.isEmpty()) {
      profile = RtlProfile.of(limits);
    }
  }

  /** Ends the card's DMA, resets it if it can be reset, and frees the memory that it had. */
  void stop() {
    ConfigurationSpace space = function.configuration();
    space.busMaster(false);
    if (function.canReset()) {
      function.reset();
    }
    function.forget();
    hcr = Optional.empty();
    if (tables != null) {
      tables.close();
      tables = null;
    }
    if (commands != null) {
      commands.deviceWasReset();
      commands.close();
      commands = null;
    }
    mailboxes.close();
  }

  /** Lays the tables out for a recognized card. */
  RawTables layOut(DeviceLimits limits) {
    HardwareProfile known = profile.orElseThrow();
    commands = CommandInterface.open(function, known, base, options.limit());
    tables = new RawTables(function, commands, known, limits);
    return tables;
  }

  /** The typed commands of a card that is laid out. */
  CommandInterface commands() {
    return commands;
  }

  /** Gives it back, unless it belongs to another one. */
  @Override
  public void close() {
    if (!kept) {
      try (PciFunction _ = function) {
        stop();
      }
    }
  }
}

package org.hghca.tools.replay;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.hghca.abi.Bar;
import org.hghca.abi.HardwareProfile;
import org.hghca.mailbox.CommandInterface;
import org.hghca.tools.raw.CardStoppedException;
import org.hghca.tools.raw.HcrPlaces;
import org.hghca.tools.raw.HcrSearch;
import org.hghca.tools.raw.RawHcr;
import org.hghca.tools.raw.RtlProfile;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.DriverParameter;
import org.hghca.vfio.LinkAddress;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.PciIds;

/** The card on which a trace is played. One thread at a time. */
public final class ReplayCard implements AutoCloseable {
  private static final long PAUSE_NANOS = 50_000;
  private static final int SPINS = 200;
  private static final int SWITCHES =
      ConfigurationSpace.COMMAND_MEMORY_SPACE | ConfigurationSpace.COMMAND_BUS_MASTER;

  private final Locator locator;
  private final Duration limit;
  private PciFunction function;
  private long hcrBase;
  private HardwareProfile profile;
  private RawHcr hcr;

  private ReplayCard(Locator locator, Duration limit) {
    this.locator = locator;
    this.limit = limit;
  }

  /**
   * Takes a card, resets it if it can be reset, and finds out its profile.
   *
   * @param trace to play on it
   * @param named the profile that the user names; empty to detect it
   * @param limit how long the card may take for an answer
   * @throws UnplayableException when it is no card, or its state is unknown
   * @throws CardStoppedException when it does not answer
   * @throws org.hghca.vfio.VfioException when it cannot be opened
   */
  public static ReplayCard open(
      Locator locator, WholeTrace trace, Optional<HardwareProfile> named, Duration limit) {
    ReplayCard card = new ReplayCard(locator, limit);
    boolean ready = false;
    try {
      card.open(trace.opened());
      card.recognize(named);
      card.close();
      card.reopen(trace.opened()); // a new one, as the recorded program had
      ready = true;
      return card;
    } finally {
      if (!ready) {
        card.close();
      }
    }
  }

  /**
   * Opens it with the addresses of the recorded port, which its contexts have, unless it has own
   * ones.
   */
  private void open(TraceLine opened) {
    Locator addressed = locator;
    if (!LinkAddress.isBound(locator)) {
      addressed = with(addressed, DriverParameter.MAC, opened.text("mac"));
      addressed = with(addressed, DriverParameter.IP, opened.text("ip"));
    }
    function = PciFunctions.open(addressed);
  }

  private static Locator with(Locator locator, DriverParameter parameter, String value) {
    return locator.parameter(parameter.key()).isPresent() || value.isEmpty()
        ? locator
        : locator.with(parameter.key(), value);
  }

  private void recognize(Optional<HardwareProfile> named) {
    if (PciIds.of(function.configuration()).isVirtio()) {
      throw new UnplayableException(
          "%s is a virtio device: a replay plays cards".formatted(locator));
    }
    stop();
    if (!function.configuration().enableMemorySpace()) {
      throw new UnplayableException(
          "memory decoding of %s cannot be switched on: is its bridge on?".formatted(locator));
    }
    HcrPlaces places = HcrPlaces.of(locator, named);
    int at = search(places);
    if (places.contradict(at)) {
      throw new UnplayableException(
          "the HCR of %s is at 0x%05x, and not where the profile or hcr= has it: leave them out"
              .formatted(locator, at));
    }
    hcrBase = at;
    boolean clean =
        locator.parameter(DriverParameter.ASSUME_CLEAN.key()).filter("true"::equals).isPresent();
    if (hcrBase == Bar.HCR_RTL && !function.canReset() && !clean) {
      throw new UnplayableException(
          "%s cannot be reset, and may hold old queue positions: reload the bitstream and set assumeClean=true in the locator"
              .formatted(locator));
    }
    profile = named.orElseGet(this::detected);
  }

  private int search(HcrPlaces places) {
    HcrSearch search = HcrSearch.of(function, places, () -> {}, _ -> {});
    return search
        .offset()
        .orElseThrow(
            () ->
                new CardStoppedException(
                    "%s has no HCR that answers: %s; hghca bringup looks further"
                        .formatted(locator, search.text())));
  }

  private HardwareProfile detected() {
    if (hcrBase == Bar.HCR_DOCUMENT) {
      return HardwareProfile.S;
    }
    function.configuration().busMaster(true);
    // The rules of the second RTL are safe for both.
    try (CommandInterface commands =
        CommandInterface.open(function, HardwareProfile.R2, hcrBase, limit)) {
      return RtlProfile.of(commands.queryDeviceLimits())
          .orElseThrow(
              () ->
                  new UnplayableException(
                      "%s looks like neither r1 nor r2: name one by --profile".formatted(locator)));
    }
  }

  /** Its profile. */
  HardwareProfile profile() {
    return profile;
  }

  Locator locator() {
    return locator;
  }

  PciFunction function() {
    return function;
  }

  RawHcr hcr() {
    return hcr;
  }

  /** How long it may take for an answer. */
  Duration limit() {
    return limit;
  }

  /** Sets memory decoding and bus mastering as the command register of the trace has them. */
  void configure(int command) {
    ConfigurationSpace space = function.configuration();
    int others = space.read(ConfigurationSpace.COMMAND, Short.BYTES) & ~SWITCHES;
    space.write(ConfigurationSpace.COMMAND, Short.BYTES, others | command & SWITCHES);
  }

  /** Resets it; memory decoding and bus mastering stay as they are. */
  void reset() {
    int command = function.configuration().read(ConfigurationSpace.COMMAND, Short.BYTES);
    function.reset();
    configure(command);
  }

  /** Waits for the card until something holds; returns whether it did within a time. */
  boolean await(BooleanSupplier condition, Duration longest) {
    long start = System.nanoTime();
    for (int looks = 0; !condition.getAsBoolean(); looks++) {
      if (Thread.currentThread().isInterrupted()) {
        throw new IllegalStateException("the replay was interrupted");
      }
      if (System.nanoTime() - start > longest.toNanos()) {
        return condition.getAsBoolean();
      }
      function.idle();
      if (looks < SPINS) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
    return true;
  }

  /** Ends its DMA, and resets it if it can be reset: then no memory is accessed any more. */
  void stop() {
    function.configuration().busMaster(false);
    if (function.canReset()) {
      function.reset();
    }
  }

  /** Opens it again, as the line of the trace does. */
  void reopen(TraceLine opened) {
    open(opened);
    function.configuration().enableMemorySpace();
    hcr = new RawHcr(function, hcrBase, limit);
  }

  /** Gives it back: without bus mastering, and reset if it can be reset. Does nothing if closed. */
  @Override
  public void close() {
    if (function != null) {
      try (PciFunction _ = function) {
        stop();
      } finally {
        function = null;
      }
    }
  }
}

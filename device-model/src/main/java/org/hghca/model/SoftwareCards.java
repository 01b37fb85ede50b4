package org.hghca.model;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.hghca.model.fault.CardType;
import org.hghca.model.fault.Fault;
import org.hghca.model.fault.FaultList;
import org.hghca.model.fault.FaultyCard;
import org.hghca.vfio.LinkAddress;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.direct.RingMemory;
import org.hghca.vfio.inprocess.InProcessFunction;
import org.hghca.wire.PortAddresses;
import org.hghca.wire.capture.CaptureException;
import org.hghca.wire.capture.CaptureFile;
import org.hghca.wire.link.Link;
import org.hghca.wire.link.LinkException;
import org.hghca.wire.link.LinkOptions;
import org.hghca.wire.link.Links;

/**
 * Opens software cards of any kind: with the parameters that their locators have in common, those
 * of the simulation, the port and what it is plugged into. Thread-safe.
 */
final class SoftwareCards {
  private static final List<String> DISTURBANCE =
      List.of("drop", "duplicate", "reorder", "corrupt", "delay", "maxdelay", "seed");

  /** The parameters of every card. */
  static final List<String> PARAMETERS =
      Stream.concat(
              Stream.of(
                  "cable",
                  "hub",
                  "net",
                  "sports",
                  "mtu",
                  "share",
                  "ring",
                  "mode",
                  "sim",
                  "spin",
                  "reset",
                  "interrupts",
                  "fault",
                  "capture"),
              DISTURBANCE.stream())
          .toList();

  private static final int SOURCE_PORTS = 8;
  private static final int MOST_SOURCE_PORTS = 1024;

  /** Bytes of IP packets that hold the shortest and the longest packet of RoCE. */
  private static final int SMALLEST_MTU = 336;

  private static final int LARGEST_MTU = 65_535;
  private static final int SMALLEST_RING = 1 << 16;
  private static final int LARGEST_RING = 1 << 26;
  private static final String INLINE = "inline";
  private static final String THREADED = "threaded";
  private static final String MSIX = "msix";

  /** The open cards; one under construction is represented by an empty value. */
  private static final Map<Locator, Optional<SoftwareHca>> OPEN = new ConcurrentHashMap<>();

  private SoftwareCards() {}

  /** Connects the card of a locator to this process. */
  static PciFunction open(Locator locator, SoftwareHca card) {
    try {
      InProcessFunction function = InProcessFunction.connect(locator, card);
      card.connectedTo(function);
      return function;
    } catch (RuntimeException | Error e) {
      card.close();
      throw e;
    }
  }

  /** The open card of a locator. */
  static Optional<SoftwareHca> find(Locator locator) {
    return OPEN.getOrDefault(locator, Optional.empty());
  }

  /**
   * Makes the card of a locator, whose parameters are known, and adds it to its simulation. Closing
   * it releases the locator.
   *
   * @throws VfioException {@code INVALID} for a parameter that is malformed; {@code BUSY} when the
   *     card is open already; {@code NO_PERMISSION} when the JVM allows no native access
   */
  static SoftwareHca plugIn(Locator locator, CardKind kind) {
    RingMemory.checkAllowed();
    Optional<Fault> fault = fault(locator, kind.type());
    boolean canReset =
        LocatorValues.value(locator, "reset", "function", "function", "none").equals("function")
            && fault.map(Fault::canReset).orElse(true);
    boolean interrupts =
        LocatorValues.value(locator, "interrupts", MSIX, MSIX, "none").equals(MSIX);
    LinkAddress address = LinkAddress.of(locator);
    Optional<Plug> inside = plug(locator, kind);
    Simulation simulation = simulation(locator);
    checkNetwork(locator, kind, simulation);
    boolean spins = spins(locator, simulation);
    if (OPEN.putIfAbsent(locator, Optional.empty()) != null) {
      throw new VfioException(
          Reason.BUSY,
          "'%s' is open: close it first, or give the other one a name of its own"
              .formatted(locator));
    }
    try {
      Optional<Plug> plug = inside.or(() -> network(locator, kind, address));
      SoftwareHca hca =
          new SoftwareHca(
              locator.name(),
              fault.map(played -> faulty(kind, played)).orElse(kind.maker()),
              address,
              simulation,
              plug,
              canReset,
              interrupts,
              () -> OPEN.remove(locator));
      OPEN.put(locator, Optional.of(hca));
      if (spins) {
        hca.spin();
      }
      locator.parameter("capture").ifPresent(file -> capture(locator, hca, file));
      return hca;
    } catch (RuntimeException | Error e) {
      OPEN.remove(locator);
      throw e;
    }
  }

  private static Optional<Fault> fault(Locator locator, CardType type) {
    Optional<String> name = locator.parameter("fault");
    Optional<Fault> fault = name.flatMap(FaultList::find);
    if (name.isPresent() && fault.isEmpty()) {
      throw new VfioException(
          Reason.INVALID,
          "locator '%s': fault=%s is unknown: `hghca model faults` lists them"
              .formatted(locator, name.get()));
    }
    fault
        .filter(played -> !played.cards().contains(type))
        .ifPresent(
            refused -> {
              throw new VfioException(
                  Reason.INVALID,
                  "locator '%s': fault=%s is for %s, not for %s"
                      .formatted(
                          locator,
                          refused.label(),
                          refused.cards().stream()
                              .map(CardType::label)
                              .collect(Collectors.joining(", ")),
                          type.label()));
            });
    return fault;
  }

  private static CardMaker faulty(CardKind kind, Fault fault) {
    return (port, faults, interrupts) ->
        new FaultyCard(kind.maker().make(port, faults, interrupts), port, kind.type(), fault);
  }

  private static void capture(Locator locator, SoftwareHca hca, String file) {
    try {
      LongSupplier clock = hca.simulation().clock().ofCaptures();
      hca.capture(CaptureFile.open(Path.of(file), hca.name(), hca.address().mac(), clock));
    } catch (CaptureException e) {
      hca.close();
      throw new VfioException(
          Reason.INVALID, "locator '%s': capture: %s".formatted(locator, e.getMessage()), e);
    }
  }

  private static boolean spins(Locator locator, Simulation simulation) {
    boolean spins = LocatorValues.value(locator, "spin", "off", "off", "on").equals("on");
    if (spins && simulation.isInline()) {
      throw new VfioException(
          Reason.INVALID,
          "locator '%s': spin=on needs the system's clock: leave out mode=inline, and sim= of an inline"
                  .formatted(locator)
              + " simulation");
    }
    return spins;
  }

  private static Optional<Plug> plug(Locator locator, CardKind kind) {
    Disturbance disturbance = disturbance(locator);
    Optional<String> cable = locator.parameter("cable");
    Optional<String> hub = locator.parameter("hub");
    if (cable.isPresent() && hub.isPresent()) {
      throw new VfioException(
          Reason.INVALID,
          "locator '%s': a port is plugged into cable= or into hub=, not into both"
              .formatted(locator));
    }
    for (String parameter : DISTURBANCE) {
      boolean isCards = kind.ownParameters().contains(parameter);
      boolean isPlugged =
          cable.isPresent() || hub.isPresent() || locator.parameter("net").isPresent();
      if (!isPlugged && !isCards && locator.parameter(parameter).isPresent()) {
        throw new VfioException(
            Reason.INVALID,
            ("locator '%s': %s= belongs to a cable: name one with cable=, a hub with hub=, or a"
                    + " network with net=")
                .formatted(locator, parameter));
      }
    }
    return cable
        .<Plug>map(name -> new Plug.IntoCable(name, disturbance))
        .or(() -> hub.map(name -> new Plug.IntoHub(name, disturbance)));
  }

  private static void checkNetwork(Locator locator, CardKind kind, Simulation simulation) {
    if (locator.parameter("net").isEmpty()) {
      for (String parameter : List.of("sports", "mtu", "share", "ring")) {
        if (!kind.ownParameters().contains(parameter) && locator.parameter(parameter).isPresent()) {
          throw new VfioException(
              Reason.INVALID,
              "locator '%s': %s= belongs to a network: name one with net="
                  .formatted(locator, parameter));
        }
      }
      return;
    }
    for (String plug : List.of("cable", "hub")) {
      if (locator.parameter(plug).isPresent()) {
        throw new VfioException(
            Reason.INVALID,
            "locator '%s': a port is plugged into %s= or into net=, not into both"
                .formatted(locator, plug));
      }
    }
    if (simulation.isInline()) {
      throw new VfioException(
          Reason.INVALID,
          "locator '%s': net= needs the system's clock: leave out mode=inline, and sim= of an inline"
                  .formatted(locator)
              + " simulation");
    }
    kind.checkNetwork().accept(locator);
  }

  private static Optional<Plug> network(Locator locator, CardKind kind, LinkAddress address) {
    return locator
        .parameter("net")
        .map(
            specification -> {
              try {
                LinkOptions options = options(locator, kind, address);
                Link link = Links.open(specification, options);
                checkAddresses(locator, specification, options, link);
                return new Plug.IntoNetwork(link, disturbance(locator));
              } catch (LinkException e) {
                throw new VfioException(
                    reason(e), "locator '%s': %s".formatted(locator, e.getMessage()), e);
              }
            });
  }

  /** Peers would answer to, and expect packets from, an unused address. */
  private static void checkAddresses(
      Locator locator, String specification, LinkOptions options, Link link) {
    if (!specification.startsWith("udp:") || locator.parameter("ip").isEmpty()) {
      return;
    }
    PortAddresses wanted = options.addresses();
    for (int i = 0; i < wanted.count(); i++) {
      if (!link.addresses().has(wanted.high(i), wanted.low(i))) {
        link.close();
        throw new VfioException(
            Reason.INVALID,
            "locator '%s': with net=udp: the port has the addresses of net=: leave out ip="
                .formatted(locator));
      }
    }
  }

  private static LinkOptions options(Locator locator, CardKind kind, LinkAddress address) {
    OptionalInt mtu =
        locator.parameter("mtu").isEmpty()
            ? OptionalInt.empty()
            : OptionalInt.of(LocatorValues.whole(locator, "mtu", 0, SMALLEST_MTU, LARGEST_MTU));
    int sourcePorts = LocatorValues.whole(locator, "sports", SOURCE_PORTS, 0, MOST_SOURCE_PORTS);
    boolean share = LocatorValues.value(locator, "share", "false", "false", "true").equals("true");
    boolean isShared = LinkAddress.isShared(locator);
    PortAddresses addresses =
        kind.encapsulation().carriesEverything() && !isShared
            ? PortAddresses.NONE
            : PortAddresses.of(address.addresses());
    return new LinkOptions(
        address.mac(), addresses, mtu, sourcePorts, kind.encapsulation(), share, ring(locator));
  }

  private static int ring(Locator locator) {
    if (locator.parameter("ring").isEmpty()) {
      return LinkOptions.DEFAULT_RING;
    }
    int ring = LocatorValues.whole(locator, "ring", 0, SMALLEST_RING, LARGEST_RING);
    if (!LinkAddress.isShared(locator) || Integer.bitCount(ring) != 1) {
      throw new VfioException(
          Reason.INVALID,
          "locator '%s': ring= is a power of two, of a network of shared memory, net=shm:NAME"
              .formatted(locator));
    }
    return ring;
  }

  private static Reason reason(LinkException e) {
    return switch (e.reason()) {
      case INVALID -> Reason.INVALID;
      case BUSY -> Reason.BUSY;
      case NO_PERMISSION -> Reason.NO_PERMISSION;
      case SYSTEM -> Reason.UNSUPPORTED;
    };
  }

  /** The disturbance of the way to the card. */
  static Disturbance disturbance(Locator locator) {
    Disturbance none = Disturbance.NONE;
    try {
      return new Disturbance(
          rate(locator, "drop"),
          rate(locator, "duplicate"),
          rate(locator, "reorder"),
          rate(locator, "corrupt"),
          rate(locator, "delay"),
          LocatorValues.number(locator, "maxdelay", Duration::parse, "a duration such as PT0.0001S")
              .orElse(none.maxDelay()),
          LocatorValues.number(locator, "seed", Long::parseLong, "a whole number")
              .orElse(none.seed()));
    } catch (IllegalArgumentException e) {
      throw new VfioException(
          Reason.INVALID, "locator '%s': %s".formatted(locator, e.getMessage()), e);
    }
  }

  private static double rate(Locator locator, String key) {
    return LocatorValues.number(locator, key, Double::parseDouble, "a rate of 0 to 1").orElse(0.0);
  }

  private static Simulation simulation(Locator locator) {
    String mode =
        locator.parameter("mode").isPresent()
            ? LocatorValues.value(locator, "mode", "", THREADED, INLINE)
            : null;
    if (locator.parameter("sim").isPresent()) {
      Simulation simulation = Simulation.named(locator.parameter("sim").get());
      if (mode != null && simulation.isInline() != mode.equals(INLINE)) {
        throw new VfioException(
            Reason.INVALID,
            "locator '%s': simulation '%s' is not %s"
                .formatted(locator, locator.parameter("sim").get(), mode));
      }
      return simulation;
    }
    return INLINE.equals(mode) ? Simulation.unnamed() : Simulation.shared();
  }
}

package org.hghca.model;

import java.nio.file.Path;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.hghca.abi.HardwareProfile;
import org.hghca.model.hca.Hca;
import org.hghca.model.rtl.r1.Defect;
import org.hghca.model.rtl.r1.R1Engine;
import org.hghca.model.rtl.r2.R2Engine;
import org.hghca.vfio.DriverParameter;
import org.hghca.vfio.LinkAddress;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctionProvider;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.inprocess.InProcessFunction;
import org.hghca.wire.PortAddresses;
import org.hghca.wire.capture.CaptureException;
import org.hghca.wire.capture.CaptureFile;
import org.hghca.wire.frame.Encapsulation;
import org.hghca.wire.link.Link;
import org.hghca.wire.link.LinkException;
import org.hghca.wire.link.LinkOptions;
import org.hghca.wire.link.Links;

/**
 * Opens software HCAs in this process: {@code model:NAME?key=value&...}. Thread-safe.
 *
 * <ul>
 *   <li>{@code profile=s}, the default: the card of the interface document; {@code profile=r1} or
 *       {@code profile=r2}: the card as its makers' first or second RTL.
 *   <li>{@code cable=NAME}: the cable its port is plugged into. Two HCAs of one simulation that
 *       name the same cable are joined. Without one only its own queue pairs reach each other.
 *   <li>{@code hub=NAME}, instead of a cable: the hub that joins all HCAs of one simulation that
 *       name it.
 *   <li>{@code net=LINK}, instead of a cable: the network outside of this process that its port
 *       speaks RoCE v2 with, as {@link Links#open} describes. {@code sports=} how many UDP source
 *       ports it sends from beside its own, 0 to 1024, 8 by default. {@code mtu=} bytes of the
 *       longest IP packet that the network carries, where the link cannot tell. {@code share=true}
 *       with {@code net=packet:}: its addresses are those of the interface.
 *   <li>{@code drop=, duplicate=, reorder=, corrupt=, delay=}: what the cable does to packets, as
 *       rates of 0 to 1; {@code maxdelay=} the longest delay in the form of {@link Duration#parse},
 *       such as {@code PT0.0001S}, and {@code seed=} a number: the parts of a {@link Disturbance},
 *       those of {@link Disturbance#NONE} where they are not given. They apply in the locator of
 *       the HCA that is plugged into the cable first; on a hub or a network, to the way from it to
 *       the HCA. With {@code profile=r2} the seed also selects the unknown behaviour of that card.
 *   <li>{@code capture=FILE}: what its port sends and receives is written there as pcapng, until
 *       the HCA is closed; see {@link CaptureFile}.
 *   <li>{@code mac=, ip=}: its addresses, see {@link LinkAddress}.
 *   <li>{@code mode=threaded}, the default: the HCA joins the simulation of this process, which
 *       follows the system's clock. {@code mode=inline}: a separate simulation, which does all work
 *       on the calling thread and whose time stands still.
 *   <li>{@code sim=NAME}: it joins the {@link Simulation} of that name.
 *   <li>{@code spin=on}: the thread of the simulation does not sleep while there is no work, as
 *       long as this HCA is open. It takes a core.
 *   <li>{@code reset=none}: it has no function-level reset.
 *   <li>{@code interrupts=msix}, the default: one interrupt vector for each event queue. {@code
 *       interrupts=none}: event queues, but no interrupts.
 *   <li>{@code race=on}: a card of the first RTL enters a request that is rung while another of its
 *       queue pair is outstanding in the same cycle in which that one is released, which corrupts
 *       its list of outstanding requests. {@code deadlock=on}: such a card stops when it must
 *       answer more than 1024 bytes of READs while it sends payload of its own requests from
 *       several data units. Off by default.
 *   <li>those of {@link DriverParameter}, which the HCA ignores except for the addresses.
 * </ul>
 */
public final class ModelProvider implements PciFunctionProvider {
  private static final List<String> DISTURBANCE =
      List.of("drop", "duplicate", "reorder", "corrupt", "delay", "maxdelay", "seed");
  private static final Map<String, Defect> DEFECTS =
      Map.of("race", Defect.ENQUEUE_RACE, "deadlock", Defect.READ_DEADLOCK);
  private static final List<String> PARAMETERS =
      Stream.of(
              Stream.of(
                  "profile",
                  "cable",
                  "hub",
                  "net",
                  "sports",
                  "mtu",
                  "share",
                  "mode",
                  "sim",
                  "spin",
                  "reset",
                  "interrupts"),
              DEFECTS.keySet().stream().sorted(),
              DISTURBANCE.stream(),
              Stream.of("capture"))
          .flatMap(parameters -> parameters)
          .toList();
  private static final int SOURCE_PORTS = 8;
  private static final int MOST_SOURCE_PORTS = 1024;

  /** Bytes of IP packets that hold the shortest and the longest packet of RoCE. */
  private static final int SMALLEST_MTU = 336;

  private static final int LARGEST_MTU = 65_535;
  private static final String INLINE = "inline";
  private static final String THREADED = "threaded";
  private static final String MSIX = "msix";

  /** The open HCAs; an HCA under construction is represented by an empty value. */
  private static final Map<Locator, Optional<SoftwareHca>> OPEN = new ConcurrentHashMap<>();

  /** Used by the service loader. */
  public ModelProvider() {}

  @Override
  public String scheme() {
    return "model";
  }

  /** None: a software HCA exists only on request. */
  @Override
  public List<Locator> enumerate() {
    return List.of();
  }

  @Override
  public Optional<LinkAddress> address(Locator locator) {
    return Optional.of(LinkAddress.of(locator));
  }

  @Override
  public PciFunction open(Locator locator) {
    SoftwareHca hca = plugIn(locator);
    try {
      InProcessFunction function = InProcessFunction.connect(locator, hca);
      hca.connectedTo(function);
      return function;
    } catch (RuntimeException | Error e) {
      hca.close();
      throw e;
    }
  }

  /**
   * Makes the HCA of a locator and adds it to its simulation, for callers that connect it to a host
   * themselves. Closing it releases the locator.
   *
   * @throws VfioException {@code INVALID} for a parameter that is unknown or malformed; {@code
   *     BUSY} when the HCA is open already
   */
  public static SoftwareHca plugIn(Locator locator) {
    locator.checkParameters(PARAMETERS);
    HardwareProfile profile = profile(locator);
    boolean canReset = value(locator, "reset", "function", "function", "none").equals("function");
    boolean interrupts = value(locator, "interrupts", MSIX, MSIX, "none").equals(MSIX);
    CardMaker maker = card(locator, profile);
    LinkAddress address = LinkAddress.of(locator);
    Optional<Plug> inside = plug(locator, profile);
    Simulation simulation = simulation(locator);
    checkNetwork(locator, profile, simulation);
    boolean spins = spins(locator, simulation);
    if (OPEN.putIfAbsent(locator, Optional.empty()) != null) {
      throw new VfioException(
          Reason.BUSY,
          "'%s' is open: close it first, or give the other one a name of its own"
              .formatted(locator));
    }
    try {
      Optional<Plug> plug = inside.or(() -> network(locator, profile, address));
      SoftwareHca hca =
          new SoftwareHca(
              locator.name(),
              maker,
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

  private static void capture(Locator locator, SoftwareHca hca, String file) {
    try {
      LongSupplier clock = hca.simulation().captureClock();
      hca.capture(CaptureFile.open(Path.of(file), hca.name(), hca.address().mac(), clock));
    } catch (CaptureException e) {
      hca.close();
      throw new VfioException(
          Reason.INVALID, "locator '%s': capture: %s".formatted(locator, e.getMessage()), e);
    }
  }

  /** The open HCA of a locator, for inspection. */
  public static Optional<SoftwareHca> hca(Locator locator) {
    return OPEN.getOrDefault(locator, Optional.empty());
  }

  private static boolean spins(Locator locator, Simulation simulation) {
    boolean spins = value(locator, "spin", "off", "off", "on").equals("on");
    if (spins && simulation.isInline()) {
      throw new VfioException(
          Reason.INVALID,
          "locator '%s': spin=on needs the system's clock: leave out mode=inline, and sim= of an inline"
                  .formatted(locator)
              + " simulation");
    }
    return spins;
  }

  private static HardwareProfile profile(Locator locator) {
    return HardwareProfile.byName(value(locator, "profile", "s", "s", "r1", "r2"));
  }

  private static CardMaker card(Locator locator, HardwareProfile profile) {
    Set<Defect> defects = defects(locator, profile);
    long seed = disturbance(locator).seed();
    if (profile == HardwareProfile.R1) {
      return (port, faults, interrupts) -> R1Engine.card(port, faults, defects);
    }
    if (profile == HardwareProfile.R2) {
      return (port, faults, interrupts) -> R2Engine.card(port, faults, seed);
    }
    return (port, faults, interrupts) ->
        new Hca(profile, port, faults, interrupts ? Hca.VECTORS : 0);
  }

  private static Set<Defect> defects(Locator locator, HardwareProfile profile) {
    Set<Defect> defects = EnumSet.noneOf(Defect.class);
    DEFECTS.forEach(
        (parameter, defect) -> {
          if (value(locator, parameter, "off", "off", "on").equals("on")) {
            defects.add(defect);
          }
        });
    if (!defects.isEmpty() && profile != HardwareProfile.R1) {
      throw new VfioException(
          Reason.INVALID,
          "locator '%s': race= and deadlock= are defects of profile r1".formatted(locator));
    }
    return defects;
  }

  private static Optional<Plug> plug(Locator locator, HardwareProfile profile) {
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
      boolean isCards = profile == HardwareProfile.R2 && parameter.equals("seed");
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

  private static void checkNetwork(
      Locator locator, HardwareProfile profile, Simulation simulation) {
    if (locator.parameter("net").isEmpty()) {
      for (String parameter : List.of("sports", "mtu", "share")) {
        if (locator.parameter(parameter).isPresent()) {
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
    if (profile == HardwareProfile.R2) {
      throw new VfioException(
          Reason.INVALID,
          "locator '%s': net= is for profile=s and profile=r1: no network carries r2's packets"
              .formatted(locator));
    }
  }

  private static Optional<Plug> network(
      Locator locator, HardwareProfile profile, LinkAddress address) {
    return locator
        .parameter("net")
        .map(
            specification -> {
              try {
                LinkOptions options = options(locator, profile, address);
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

  private static LinkOptions options(
      Locator locator, HardwareProfile profile, LinkAddress address) {
    OptionalInt mtu =
        locator.parameter("mtu").isEmpty()
            ? OptionalInt.empty()
            : OptionalInt.of(whole(locator, "mtu", 0, SMALLEST_MTU, LARGEST_MTU));
    int sourcePorts = whole(locator, "sports", SOURCE_PORTS, 0, MOST_SOURCE_PORTS);
    boolean share = value(locator, "share", "false", "false", "true").equals("true");
    PortAddresses addresses = PortAddresses.of(address.addresses());
    Encapsulation encapsulation =
        profile == HardwareProfile.R1 ? Encapsulation.FIRST_RTL : Encapsulation.ROCE_V2;
    return new LinkOptions(address.mac(), addresses, mtu, sourcePorts, encapsulation, share);
  }

  private static int whole(Locator locator, String key, int absent, int least, int most) {
    int value = number(locator, key, Integer::parseInt, "a whole number").orElse(absent);
    if (value < least || value > most) {
      throw new VfioException(
          Reason.INVALID,
          "locator '%s': %s=%d must be from %d to %d".formatted(locator, key, value, least, most));
    }
    return value;
  }

  private static Reason reason(LinkException e) {
    return switch (e.reason()) {
      case INVALID -> Reason.INVALID;
      case BUSY -> Reason.BUSY;
      case NO_PERMISSION -> Reason.NO_PERMISSION;
      case SYSTEM -> Reason.UNSUPPORTED;
    };
  }

  private static Disturbance disturbance(Locator locator) {
    Disturbance none = Disturbance.NONE;
    try {
      return new Disturbance(
          rate(locator, "drop"),
          rate(locator, "duplicate"),
          rate(locator, "reorder"),
          rate(locator, "corrupt"),
          rate(locator, "delay"),
          number(locator, "maxdelay", Duration::parse, "a duration such as PT0.0001S")
              .orElse(none.maxDelay()),
          number(locator, "seed", Long::parseLong, "a whole number").orElse(none.seed()));
    } catch (IllegalArgumentException e) {
      throw new VfioException(
          Reason.INVALID, "locator '%s': %s".formatted(locator, e.getMessage()), e);
    }
  }

  private static double rate(Locator locator, String key) {
    return number(locator, key, Double::parseDouble, "a rate of 0 to 1").orElse(0.0);
  }

  private static <T> Optional<T> number(
      Locator locator, String key, Function<String, T> parser, String expected) {
    String text = locator.parameter(key).orElse(null);
    if (text == null) {
      return Optional.empty();
    }
    try {
      return Optional.of(parser.apply(text));
    } catch (NumberFormatException | DateTimeParseException e) {
      throw new VfioException(
          Reason.INVALID,
          "locator '%s': %s=%s is not %s".formatted(locator, key, text, expected),
          e);
    }
  }

  private static Simulation simulation(Locator locator) {
    String mode =
        locator.parameter("mode").isPresent() ? value(locator, "mode", "", THREADED, INLINE) : null;
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

  private static String value(Locator locator, String key, String absent, String... known) {
    String value = locator.parameter(key).orElse(absent);
    if (!List.of(known).contains(value)) {
      throw new VfioException(
          Reason.INVALID,
          "locator '%s': %s=%s is unknown; known are %s"
              .formatted(locator, key, value, String.join(", ", known)));
    }
    return value;
  }
}

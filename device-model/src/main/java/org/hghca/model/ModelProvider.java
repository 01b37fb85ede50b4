package org.hghca.model;

import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.hghca.abi.HardwareProfile;
import org.hghca.model.fault.CardType;
import org.hghca.model.hca.Hca;
import org.hghca.model.rtl.r1.Defect;
import org.hghca.model.rtl.r1.R1Engine;
import org.hghca.model.rtl.r2.R2Engine;
import org.hghca.vfio.DriverParameter;
import org.hghca.vfio.LinkAddress;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctionProvider;
import org.hghca.vfio.PciIds;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.wire.capture.CaptureFile;
import org.hghca.wire.frame.Encapsulation;
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
 *   <li>{@code fault=NAME}: one of {@link CardFault}.
 *   <li>{@code race=on}: a card of the first RTL enters a request that is rung while another of its
 *       queue pair is outstanding in the same cycle in which that one is released, which corrupts
 *       its list of outstanding requests. {@code deadlock=on}: such a card stops as soon as it must
 *       answer more than 1024 bytes of READs while it sends payload of its own requests from
 *       several data units. Off by default.
 *   <li>those of {@link DriverParameter}, which the HCA ignores except for the addresses.
 * </ul>
 */
public final class ModelProvider implements PciFunctionProvider {
  private static final Map<String, Defect> DEFECTS =
      Map.of("race", Defect.ENQUEUE_RACE, "deadlock", Defect.READ_DEADLOCK);
  private static final List<String> PARAMETERS =
      Stream.of(
              Stream.of("profile"),
              DEFECTS.keySet().stream().sorted(),
              SoftwareCards.PARAMETERS.stream())
          .flatMap(parameters -> parameters)
          .toList();

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
  public Optional<PciIds> ids(Locator locator) {
    return Optional.of(new PciIds(Hca.IDENTITY.vendorId(), Hca.IDENTITY.deviceId()));
  }

  @Override
  public PciFunction open(Locator locator) {
    return SoftwareCards.open(locator, plugIn(locator));
  }

  /**
   * Makes the HCA of a locator and adds it to its simulation, for callers that connect it to a host
   * themselves. Closing it releases the locator.
   *
   * @throws VfioException {@code INVALID} for a parameter that is unknown or malformed; {@code
   *     BUSY} when the HCA is open already; {@code NO_PERMISSION} when the JVM allows no native
   *     access
   */
  public static SoftwareHca plugIn(Locator locator) {
    locator.checkParameters(PARAMETERS);
    HardwareProfile profile =
        HardwareProfile.byName(LocatorValues.value(locator, "profile", "s", "s", "r1", "r2"));
    return SoftwareCards.plugIn(
        locator,
        new CardKind(
            CardType.of(profile),
            card(locator, profile),
            profile == HardwareProfile.R1 ? Encapsulation.FIRST_RTL : Encapsulation.ROCE_V2,
            profile == HardwareProfile.R2 ? Set.of("seed") : Set.of(),
            profile == HardwareProfile.R2 ? ModelProvider::refuseNetwork : any -> {}));
  }

  private static void refuseNetwork(Locator locator) {
    throw new VfioException(
        Reason.INVALID,
        "locator '%s': net= is for profile=s and profile=r1: no network carries r2's packets"
            .formatted(locator));
  }

  /** The open HCA of a locator, for inspection. */
  public static Optional<SoftwareHca> hca(Locator locator) {
    return SoftwareCards.find(locator);
  }

  private static CardMaker card(Locator locator, HardwareProfile profile) {
    Set<Defect> defects = defects(locator, profile);
    long seed = SoftwareCards.disturbance(locator).seed();
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
          if (LocatorValues.value(locator, parameter, "off", "off", "on").equals("on")) {
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
}

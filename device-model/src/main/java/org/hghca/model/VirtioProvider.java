package org.hghca.model;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.hghca.model.fault.CardType;
import org.hghca.model.virtio.VirtioNic;
import org.hghca.vfio.LinkAddress;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctionProvider;
import org.hghca.vfio.PciIds;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.virtio.abi.roce.Dialect;
import org.hghca.wire.frame.Encapsulation;

/**
 * Opens virtio network cards in this process: {@code virtio:NAME?key=value&...}. Thread-safe.
 *
 * <ul>
 *   <li>{@code mac=}: its address, as of {@link LinkAddress}. IP addresses are the driver's.
 *   <li>{@code mtu=} bytes of the longest IP packet, 68 to 4188, 1500 by default.
 *   <li>{@code roce=rfc-v2}, the default: it offers RoCE queues by the interface of that name.
 *       {@code roce=none}: it does not.
 *   <li>{@code net=} as of {@link ModelProvider}; {@code udp:} carries RoCE only, so that the
 *       network queues send and receive nothing. {@code sports=} and {@code share=} mean nothing
 *       here.
 *   <li>{@code cable=}, {@code hub=}, what disturbs them, {@code capture=}, {@code mode=}, {@code
 *       sim=}, {@code spin=}, {@code fault=} and {@code reset=} as of {@link ModelProvider}; {@code
 *       interrupts=none}: it has no interrupt vectors.
 * </ul>
 */
public final class VirtioProvider implements PciFunctionProvider {
  private static final PciIds IDS =
      new PciIds(org.hghca.virtio.abi.PciIds.VENDOR, org.hghca.virtio.abi.PciIds.NETWORK_DEVICE);
  private static final int ETHERNET_MTU = 1500;
  private static final String NONE = "none";
  private static final List<String> PARAMETERS =
      Stream.concat(
              Stream.of("roce"),
              SoftwareCards.PARAMETERS.stream()
                  .filter(parameter -> !parameter.equals("sports") && !parameter.equals("share")))
          .toList();

  /** Used by the service loader. */
  public VirtioProvider() {}

  @Override
  public String scheme() {
    return "virtio";
  }

  /** None: a software card exists only on request. */
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
    return Optional.of(IDS);
  }

  @Override
  public PciFunction open(Locator locator) {
    return SoftwareCards.open(locator, plugIn(locator));
  }

  /**
   * Makes the card of a locator and adds it to its simulation, for callers that connect it to a
   * host themselves. Closing it releases the locator.
   *
   * @throws VfioException {@code INVALID} for a parameter that is unknown or malformed; {@code
   *     BUSY} when the card is open already
   */
  public static SoftwareHca plugIn(Locator locator) {
    locator.checkParameters(PARAMETERS);
    int mtu =
        LocatorValues.whole(
            locator, "mtu", ETHERNET_MTU, VirtioNic.LEAST_MTU, VirtioNic.LARGEST_MTU);
    boolean none =
        LocatorValues.value(locator, "roce", Dialect.RFC_V2.name(), NONE, Dialect.RFC_V2.name())
            .equals(NONE);
    Optional<Dialect> dialect = none ? Optional.empty() : Optional.of(Dialect.RFC_V2);
    return SoftwareCards.plugIn(
        locator,
        new CardKind(
            CardType.VIRTIO,
            (port, faults, interrupts) -> new VirtioNic(port, faults, interrupts, mtu, dialect),
            LinkAddress.isBound(locator) ? Encapsulation.ROCE_V2 : Encapsulation.ETHERNET,
            Set.of("mtu"),
            none ? VirtioProvider::refuseUdp : any -> {}));
  }

  private static void refuseUdp(Locator locator) {
    if (LinkAddress.isBound(locator)) {
      throw new VfioException(
          Reason.INVALID,
          "locator '%s': net=udp: carries RoCE only: give net=tap:, net=packet: or net=stream:"
              .formatted(locator));
    }
  }

  /** The open card of a locator, for inspection. */
  public static Optional<SoftwareHca> card(Locator locator) {
    return SoftwareCards.find(locator);
  }
}

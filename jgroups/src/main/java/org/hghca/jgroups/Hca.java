package org.hghca.jgroups;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.hghca.cm.CmDevices;
import org.hghca.cm.RdmaOptions;
import org.hghca.verbs.Context;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.GidEntry;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.VerbsException;

/**
 * The device of a member, open, and the address by which others know it.
 *
 * @param devices what connections choose from: this device, at this address
 */
record Hca(Context context, InetAddress address, CmDevices devices) implements AutoCloseable {

  /**
   * Opens the device that the attributes name, or that has the address, or that is the only one.
   *
   * @param device a name or a locator; empty if it is not given
   * @param address empty for the device's own, of IPv4 if it has one
   * @param host the address of the machine, for a device without addresses of its own
   * @throws VerbsException ENODEV, EADDRNOTAVAIL with what there is
   */
  static Hca open(String device, Optional<InetAddress> address, InetAddress host) {
    return device.isEmpty() ? find(address, host) : at(RdmaDevices.open(device), address, host);
  }

  private static Hca find(Optional<InetAddress> address, InetAddress host) {
    List<RdmaDevice> devices = RdmaDevices.list();
    if (devices.size() == 1) {
      return at(RdmaDevices.open(devices.getFirst().name()), address, host);
    }
    List<String> others = new ArrayList<>();
    for (RdmaDevice listed : devices) {
      try {
        return at(RdmaDevices.open(listed.name()), Optional.of(address.orElse(host)), host);
      } catch (VerbsException e) {
        others.add(listed.name() + " (" + e.getMessage() + ")");
      }
    }
    throw new VerbsException(
        Errno.ENODEV,
        "RDMA.device is not given, and %s; give device=\"<name or locator>\", such as"
                .formatted(
                    others.isEmpty()
                        ? "there is no RDMA device"
                        : "no device has the address: " + String.join(", ", others))
            + " model:a?net=shm:lab&ip=127.0.0.2");
  }

  /** Takes over an open device, or closes it. */
  private static Hca at(Context context, Optional<InetAddress> address, InetAddress host) {
    try {
      InetAddress chosen = choose(context, address, host);
      return new Hca(context, chosen, CmDevices.of(context).with(chosen, context));
    } catch (RuntimeException e) {
      context.close();
      throw e;
    }
  }

  private static InetAddress choose(
      Context context, Optional<InetAddress> address, InetAddress host) {
    if (!context.queryDevice().has(DeviceFeature.GSI_QUEUE_PAIR)) {
      return address.orElse(host); // connections are made over TCP, between the hosts
    }
    List<InetAddress> own = addresses(context);
    if (address.isEmpty()) {
      return own.stream()
          .findFirst()
          .orElseThrow(
              () ->
                  new VerbsException(
                      Errno.EADDRNOTAVAIL,
                      "the device %s has no IP address: give its locator ip="
                          .formatted(context.device().name())));
    }
    if (!own.contains(address.get())) {
      throw new VerbsException(
          Errno.EADDRNOTAVAIL,
          "RDMA.bind_addr=%s is no address of the device %s: it has %s"
              .formatted(
                  address.get().getHostAddress(),
                  context.device().name(),
                  own.stream().map(InetAddress::getHostAddress).collect(Collectors.joining(", "))));
    }
    return address.get();
  }

  /** Its IP addresses, those of IPv4 first. */
  private static List<InetAddress> addresses(Context context) {
    List<Gid> gids = context.queryGidTable().stream().map(GidEntry::gid).distinct().toList();
    List<InetAddress> found = new ArrayList<>();
    gids.stream().filter(gid -> gid.ipv4().isPresent()).map(Gid::address).forEach(found::add);
    gids.stream()
        .filter(gid -> gid.ipv4().isEmpty() && !gid.isLinkLocal())
        .map(Gid::address)
        .forEach(found::add);
    return found;
  }

  /** Options of a connection of this device. */
  RdmaOptions options() {
    return RdmaOptions.DEFAULT.withDevices(devices);
  }

  @Override
  public void close() {
    context.close();
  }
}

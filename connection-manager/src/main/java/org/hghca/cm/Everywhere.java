package org.hghca.cm;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.hghca.cm.device.SharedDevice;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/**
 * Listens for all addresses: on each device, at the address that names it if there is one. Skipped
 * are devices that cannot be used, for instance since another process has them, and with the TCP
 * carrier those that no address names when the port is listened on already: the host has it once.
 * If all are skipped, the error says why.
 */
final class Everywhere {
  private static final ConditionLog LOG = ConditionLog.of(Everywhere.class);

  private final Addressing addressing;
  private final Consumer<CmDevices.Place> listen;
  private final List<SharedDevice> devices = new ArrayList<>();
  private final List<String> skipped = new ArrayList<>();
  private Errno errno = Errno.ENODEV;
  private boolean hasTcpPort;

  private Everywhere(Addressing addressing, Consumer<CmDevices.Place> listen) {
    this.addressing = addressing;
    this.listen = listen;
  }

  /**
   * Listens.
   *
   * @param listen listens at a place, and takes over the release of its device
   * @return the devices on which it listens
   * @throws VerbsException ENODEV when there is no device, the first reason when all are skipped;
   *     EADDRINUSE, EADDRNOTAVAIL, EACCES as the carrier finds
   */
  static List<SharedDevice> listen(
      CmDevices devices, Addressing addressing, Consumer<CmDevices.Place> listen) {
    List<CmDevices.Entry> entries = devices.entries();
    Everywhere everywhere = new Everywhere(addressing, listen);
    entries.stream()
        .sorted(Comparator.comparing(entry -> entry.address().isEmpty()))
        .forEach(everywhere::listen);
    if (entries.isEmpty()) {
      throw CmDevices.none(entries, "can listen");
    }
    return everywhere.some();
  }

  private List<SharedDevice> some() {
    if (devices.isEmpty()) {
      throw new VerbsException(
          errno,
          "no RDMA device can listen: %s; %s"
              .formatted(String.join("; ", skipped), CmDevices.REMEDY));
    }
    return devices;
  }

  private void listen(CmDevices.Entry entry) {
    Optional<SharedDevice> usable = usable(entry);
    if (usable.isEmpty()) {
      return;
    }
    SharedDevice device = usable.get();
    boolean tcp = addressing.kind(device) == CarrierKind.TCP;
    if (tcp && hasTcpPort && entry.address().isEmpty()) {
      device.release();
      skip(entry, Errno.EADDRINUSE, "another device listens on the TCP port for all addresses");
      return;
    }
    InetAddress address = entry.address().orElse(addressing.local().getAddress());
    listen.accept(new CmDevices.Place(device, address));
    devices.add(device);
    hasTcpPort |= tcp;
  }

  /** The device with its carrier; its release is due. */
  private Optional<SharedDevice> usable(CmDevices.Entry entry) {
    try {
      SharedDevice device = entry.device().get();
      try {
        var _ = addressing.carrier(device);
        return Optional.of(device);
      } catch (VerbsException e) {
        device.release();
        throw e;
      }
    } catch (VerbsException e) {
      skip(entry, e.errno(), e.getMessage());
      return Optional.empty();
    }
  }

  private void skip(CmDevices.Entry entry, Errno why, String reason) {
    LOG.warn(
        About.device(entry.name()), "no listener on this device: {}; {}", reason, CmDevices.REMEDY);
    errno = skipped.isEmpty() ? why : errno;
    skipped.add(entry.name() + ": " + reason);
  }
}

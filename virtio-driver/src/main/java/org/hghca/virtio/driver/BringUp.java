package org.hghca.virtio.driver;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.hghca.provider.DeferredFree;
import org.hghca.provider.Health;
import org.hghca.provider.Undo;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.LinkAddress;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.VfioException;
import org.hghca.virtio.ControlQueue;
import org.hghca.virtio.VirtioDevice;
import org.hghca.virtio.VirtioException;
import org.hghca.virtio.abi.CommonConfig;
import org.hghca.virtio.abi.Feature;
import org.hghca.virtio.abi.PciIds;
import org.hghca.virtio.abi.net.NetConfig;
import org.hghca.virtio.abi.net.NetFeature;
import org.hghca.virtio.abi.roce.AddGid;
import org.hghca.virtio.abi.roce.Dialect;
import org.hghca.virtio.abi.roce.QueuePlan;
import org.hghca.virtio.abi.roce.RoceCommand;

/**
 * Brings a device up: checks that it has RoCE before it gets any command of it, negotiates, starts
 * the control queue and fills the GID table. The Ethernet queues stay unused.
 */
final class BringUp {
  private static final Dialect DIALECT = Dialect.RFC_V2;
  private static final int CONTROL_ENTRIES = 64;
  private static final Duration COMMAND_LIMIT = Duration.ofSeconds(10);
  private static final long WANTED =
      Feature.mask(NetFeature.MAC) | Feature.mask(NetFeature.STATUS) | Feature.mask(NetFeature.MTU);

  private BringUp() {}

  /**
   * Brings a device up.
   *
   * @param function belongs to the device from here on, also when this fails
   * @throws VerbsException ENODEV when it is no modern network device; EOPNOTSUPP when it lacks
   *     RoCE or a feature; EIO when it fails
   */
  static RoceDevice of(PciFunction function) {
    Undo undo = new Undo();
    DeferredFree deferredFree = new DeferredFree(VerbsException.class::isInstance);
    undo.add(deferredFree::afterReset);
    undo.add(function::close);
    try {
      VirtioDevice virtio = VirtioDevice.attach(function, PciIds.NETWORK_TYPE);
      Health health = new Health(virtio.toString());
      undo.add(() -> close(virtio, health));
      QueuePlan plan = RoceOffer.check(virtio, DIALECT);
      virtio.negotiate(Feature.mask(NetFeature.CTRL_VQ) | Feature.mask(DIALECT.feature()), WANTED);
      boolean tellsChanges = function.interrupts().vectors() > 0;
      virtio.configurationVector(
          tellsChanges ? EventThread.CONFIGURATION_VECTOR : CommonConfig.NO_VECTOR);
      ControlQueue control =
          new ControlQueue(
              virtio,
              virtio.queue(plan.control(), CONTROL_ENTRIES, CommonConfig.NO_VECTOR),
              COMMAND_LIMIT);
      virtio.start();
      Commands commands = new Commands(control, DIALECT, health);
      Limits limits = limits(virtio, commands, plan);
      LinkAddress address = address(virtio);
      List<Gid> gids = writeGids(commands, limits, address);
      RoceDevice device =
          new RoceDevice(
              virtio, plan, commands, limits, health, address, gids, deferredFree, undo::close);
      undo.add(device::stop);
      device.start();
      return device;
    } catch (RuntimeException e) {
      throw undo.because(Refusals.of("cannot bring up " + function.locator(), e));
    }
  }

  /** A device that has failed may not confirm its reset; the close of its function ends it. */
  private static void close(VirtioDevice virtio, Health health) {
    try {
      virtio.close();
    } catch (VirtioException | VfioException e) {
      if (!health.isDead()) { // its users know already
        throw e;
      }
    }
  }

  /** The virtqueues of all queue pairs are alike, and so are those of all completion queues. */
  private static Limits limits(VirtioDevice virtio, Commands commands, QueuePlan plan) {
    String what = "to tell its limits";
    return Limits.of(
        plan,
        commands.ask(RoceCommand.QUERY_DEVICE, Errno.EIO, what),
        commands.ask(RoceCommand.QUERY_PORT, Errno.EIO, what),
        Math.min(virtio.entries(plan.send(0)), virtio.entries(plan.receiveOf(0))),
        virtio.entries(plan.completion(0)));
  }

  /** The MAC is that of the device, unless it has none. */
  private static LinkAddress address(VirtioDevice virtio) {
    if (!virtio.has(NetFeature.MAC)) {
      return LinkAddress.of(virtio.function());
    }
    byte[] bytes = virtio.configuration(configuration -> configuration.get(NetConfig.MAC));
    long mac = 0;
    for (byte part : bytes) {
      mac = mac << 8 | part & 0xff;
    }
    return LinkAddress.of(virtio.function().locator(), mac);
  }

  /**
   * The link-local GID of the MAC, unless the network has no such addresses and the device refuses
   * it, then those of the IP addresses.
   */
  private static List<Gid> writeGids(Commands commands, Limits limits, LinkAddress address) {
    List<Gid> gids = new ArrayList<>();
    Gid linkLocal = Gid.ofMac(address.mac());
    if (takes(commands, linkLocal)) {
      gids.add(linkLocal);
    }
    address.addresses().stream().map(Gid::of).filter(gid -> !gids.contains(gid)).forEach(gids::add);
    if (gids.size() > limits.gids()) {
      throw new VerbsException(
          Errno.EINVAL,
          "the device takes %d GIDs, not %d: leave addresses out of ip= of the locator"
              .formatted(limits.gids(), gids.size()));
    }
    for (int index = gids.contains(linkLocal) ? 1 : 0; index < gids.size(); index++) {
      write(commands, index, gids.get(index));
    }
    return List.copyOf(gids);
  }

  private static boolean takes(Commands commands, Gid linkLocal) {
    try {
      write(commands, 0, linkLocal);
      return true;
    } catch (VerbsException e) {
      if (e.errno() != Errno.EINVAL) {
        throw e;
      }
      return false;
    }
  }

  private static void write(Commands commands, int index, Gid gid) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment data = arena.allocate(AddGid.SIZE);
      AddGid.INDEX.set(data, 0, index);
      Wire.put(gid, AddGid.GID.in(data, 0));
      commands.give(
          RoceCommand.ADD_GID,
          data,
          Errno.EINVAL,
          "GID %s: name the addresses of its network with ip= of the locator".formatted(gid));
    }
  }
}

package org.hghca.virtio.driver;

import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.hghca.virtio.DeviceConfiguration;
import org.hghca.virtio.VirtioDevice;
import org.hghca.virtio.abi.Feature;
import org.hghca.virtio.abi.net.NetFeature;
import org.hghca.virtio.abi.roce.Dialect;
import org.hghca.virtio.abi.roce.QueuePlan;

/**
 * Whether a network device offers the RoCE of a dialect. The feature bit alone does not say so: the
 * virtio specification has since given it to GUEST_USO6, the control class of RoCE to notification
 * coalescing and the place in the configuration to tunnel types. A device that means those never
 * gets a command of RoCE.
 */
public final class RoceOffer {
  private final VirtioDevice device;
  private final Dialect dialect;

  private RoceOffer(VirtioDevice device, Dialect dialect) {
    this.device = device;
    this.dialect = dialect;
  }

  /**
   * The queues of a device with RoCE.
   *
   * @param device before its features are negotiated
   * @throws VerbsException EOPNOTSUPP when it has no RoCE, saying by what that shows
   */
  public static QueuePlan check(VirtioDevice device, Dialect dialect) {
    return new RoceOffer(device, dialect).check();
  }

  private QueuePlan check() {
    if (!offers(dialect.feature())) {
      throw refusal("it does not offer feature %d".formatted(dialect.feature()));
    }
    if (dialect.feature() == NetFeature.GUEST_USO6 && offers(NetFeature.GUEST_USO4)) {
      throw refusal(
          "it offers features %d and %d, which are segmented UDP, of IPv4 and of IPv6"
              .formatted(NetFeature.GUEST_USO4, NetFeature.GUEST_USO6));
    }
    if (offers(NetFeature.NOTF_COAL)) {
      throw refusal(
          "it offers feature %d, notification coalescing, whose control class is that of RoCE"
              .formatted(NetFeature.NOTF_COAL));
    }
    if (!offers(NetFeature.CTRL_VQ)) {
      throw refusal("it offers no control queue");
    }
    return device.configuration(this::plan);
  }

  private QueuePlan plan(DeviceConfiguration configuration) {
    if (configuration.size() < dialect.configSize()) {
      throw refusal(
          "its configuration has %d bytes, not %d"
              .formatted(configuration.size(), dialect.configSize()));
    }
    long cqs = configuration.get(dialect.maxCqs());
    long qps = configuration.get(dialect.maxQps());
    if (!isNumber(cqs) || !isNumber(qps)) {
      throw refusal(
          "its configuration names %d completion queues and %d queue pairs, where 1 to %d are possible"
              .formatted(cqs, qps, Dialect.MOST_QUEUES));
    }
    // Several pairs of network queues are not negotiated.
    QueuePlan plan = new QueuePlan(1, (int) cqs, (int) qps);
    if (device.queues() < plan.queues()) {
      throw refusal("it has %d queues, not %d".formatted(device.queues(), plan.queues()));
    }
    return plan;
  }

  private static boolean isNumber(long queues) {
    return queues >= 1 && queues <= Dialect.MOST_QUEUES;
  }

  private boolean offers(int bit) {
    return (device.offered() & Feature.mask(bit)) != 0;
  }

  private VerbsException refusal(String why) {
    return new VerbsException(
        Errno.EOPNOTSUPP,
        "%s is a network device without RoCE (%s): %s; it offers features 0x%x"
            .formatted(device, dialect.name(), why, device.offered()));
  }
}

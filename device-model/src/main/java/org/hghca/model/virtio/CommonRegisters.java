package org.hghca.model.virtio;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.hghca.model.card.Faults;
import org.hghca.virtio.abi.CommonConfig;
import org.hghca.virtio.abi.DeviceStatus;
import org.hghca.virtio.abi.Feature;
import org.hghca.virtio.abi.Field;

/**
 * The common configuration: device status, negotiation of features, and the set-up of queues. An
 * access that the specification does not allow reads 0 or has no effect. Thread-safe.
 */
final class CommonRegisters {
  private static final int[] ADDRESSES = {
    CommonConfig.QUEUE_DESC.offset(),
    CommonConfig.QUEUE_DRIVER.offset(),
    CommonConfig.QUEUE_DEVICE.offset()
  };

  private static final List<Field> FIELDS =
      List.of(
          CommonConfig.DEVICE_FEATURE_SELECT,
          CommonConfig.DEVICE_FEATURE,
          CommonConfig.DRIVER_FEATURE_SELECT,
          CommonConfig.DRIVER_FEATURE,
          CommonConfig.CONFIG_VECTOR,
          CommonConfig.NUM_QUEUES,
          CommonConfig.DEVICE_STATUS,
          CommonConfig.CONFIG_GENERATION,
          CommonConfig.QUEUE_SELECT,
          CommonConfig.QUEUE_SIZE,
          CommonConfig.QUEUE_VECTOR,
          CommonConfig.QUEUE_ENABLE,
          CommonConfig.QUEUE_NOTIFY_OFF,
          CommonConfig.NOTIFY_DATA,
          CommonConfig.QUEUE_RESET);

  /** The bits that a driver writes; {@link DeviceStatus#NEEDS_RESET} is the device's. */
  private static final int DRIVERS =
      DeviceStatus.ACKNOWLEDGE
          | DeviceStatus.DRIVER
          | DeviceStatus.FEATURES_OK
          | DeviceStatus.DRIVER_OK
          | DeviceStatus.FAILED;

  private final FeatureRules features;
  private final int vectors;
  private final Faults faults;
  private final List<QueueSetup> queues;
  private final boolean[] resetting;

  private int deviceFeatureSelect;
  private int driverFeatureSelect;
  private volatile long driverFeatures;
  private int configVector;

  /** Written under the monitor; a step reads it without, when it is asked many times. */
  private volatile int status;

  private int generation;
  private int queueSelect;

  /** Whether something changed that the card has to follow in a step. */
  private volatile boolean changed;

  /**
   * @param vectors how many interrupt vectors there are, 0 for none
   * @param sizes the largest sizes of the queues
   */
  CommonRegisters(FeatureRules features, int vectors, Faults faults, int... sizes) {
    this.features = features;
    this.vectors = vectors;
    this.faults = faults;
    this.queues = IntStream.of(sizes).mapToObj(QueueSetup::new).toList();
    this.resetting = new boolean[sizes.length];
    reset();
  }

  synchronized void reset() {
    deviceFeatureSelect = 0;
    driverFeatureSelect = 0;
    driverFeatures = 0;
    configVector = CommonConfig.NO_VECTOR;
    status = 0;
    queueSelect = 0;
    queues.forEach(QueueSetup::reset);
    Arrays.fill(resetting, false);
    changed = false;
  }

  int queueCount() {
    return queues.size();
  }

  QueueSetup queue(int index) {
    return queues.get(index);
  }

  /** Whether a step has to look at the registers; it has then. */
  boolean takeChange() {
    if (!changed) {
      return false;
    }
    changed = false; // only then: a change that comes now is not to be forgotten
    return true;
  }

  boolean hasChange() {
    return changed;
  }

  /** Whether the device may use a queue now. */
  synchronized boolean runs(int queue) {
    return isRunning() && queues.get(queue).isEnabled();
  }

  /** Whether the driver is ready and the device has not failed. */
  boolean isRunning() {
    return (status & (DeviceStatus.DRIVER_OK | DeviceStatus.NEEDS_RESET)) == DeviceStatus.DRIVER_OK;
  }

  /** Whether the driver has asked for a reset of a queue, which {@link #ended} answers. */
  synchronized boolean isResetting(int queue) {
    return resetting[queue];
  }

  /** The card no longer uses a queue whose reset was asked for. */
  synchronized void ended(int queue) {
    resetting[queue] = false;
    int vector = queues.get(queue).vector();
    queues.get(queue).reset();
    queues.get(queue).vector(vector);
  }

  /** The features that were negotiated. */
  long features() {
    return (status & DeviceStatus.FEATURES_OK) != 0 ? driverFeatures : 0;
  }

  synchronized int configVector() {
    return configVector;
  }

  /** The configuration of the device has changed. */
  synchronized void configurationChanged() {
    generation = generation + 1 & 0xff;
  }

  /** The device has failed: it uses no queue until it is reset. */
  synchronized void needsReset() {
    status |= DeviceStatus.NEEDS_RESET;
  }

  synchronized long read(int offset, int width) {
    int which = address(offset, width);
    if (which >= 0) {
      int half = selected() ? queue(queueSelect).address(which / 2, which % 2 == 1) : 0;
      return Integer.toUnsignedLong(half);
    }
    Field field = field(offset, width);
    if (field.equals(CommonConfig.DEVICE_FEATURE_SELECT)) {
      return Integer.toUnsignedLong(deviceFeatureSelect);
    } else if (field.equals(CommonConfig.DEVICE_FEATURE)) {
      return word(features.offered(), deviceFeatureSelect);
    } else if (field.equals(CommonConfig.DRIVER_FEATURE_SELECT)) {
      return Integer.toUnsignedLong(driverFeatureSelect);
    } else if (field.equals(CommonConfig.DRIVER_FEATURE)) {
      return word(driverFeatures, driverFeatureSelect);
    } else if (field.equals(CommonConfig.CONFIG_VECTOR)) {
      return configVector;
    } else if (field.equals(CommonConfig.NUM_QUEUES)) {
      return queues.size();
    } else if (field.equals(CommonConfig.DEVICE_STATUS)) {
      return status;
    } else if (field.equals(CommonConfig.CONFIG_GENERATION)) {
      return generation;
    } else if (field.equals(CommonConfig.QUEUE_SELECT)) {
      return queueSelect;
    }
    return selected() ? readQueue(field, queue(queueSelect)) : 0;
  }

  private long readQueue(Field field, QueueSetup queue) {
    if (field.equals(CommonConfig.QUEUE_SIZE)) {
      return queue.size();
    } else if (field.equals(CommonConfig.QUEUE_VECTOR)) {
      return queue.vector();
    } else if (field.equals(CommonConfig.QUEUE_ENABLE)) {
      return queue.isEnabled() ? 1 : 0;
    } else if (field.equals(CommonConfig.QUEUE_NOTIFY_OFF)) {
      return queueSelect;
    } else if (field.equals(CommonConfig.QUEUE_RESET)) {
      return resetting[queueSelect] ? 1 : 0;
    }
    return 0;
  }

  /**
   * Writes a register, except for a status of 0, which is a reset of the card.
   *
   * @return whether the card has to follow in a step
   */
  synchronized boolean write(int offset, int width, long written) {
    int value = (int) written;
    int which = address(offset, width);
    if (which >= 0) {
      if (selected()) {
        queue(queueSelect).address(which / 2, which % 2 == 1, value);
      }
      return false;
    }
    Field field = field(offset, width);
    if (field.equals(CommonConfig.DEVICE_FEATURE_SELECT)) {
      deviceFeatureSelect = value;
    } else if (field.equals(CommonConfig.DRIVER_FEATURE_SELECT)) {
      driverFeatureSelect = value;
    } else if (field.equals(CommonConfig.DRIVER_FEATURE)) {
      writeFeatures(value);
    } else if (field.equals(CommonConfig.CONFIG_VECTOR)) {
      configVector = vector(value);
    } else if (field.equals(CommonConfig.DEVICE_STATUS)) {
      writeStatus(value);
    } else if (field.equals(CommonConfig.QUEUE_SELECT)) {
      queueSelect = value & 0xffff;
    } else if (selected()) {
      writeQueue(field, queue(queueSelect), value & 0xffff);
    }
    return changed;
  }

  private void writeFeatures(int value) {
    if ((status & DeviceStatus.FEATURES_OK) != 0) {
      return;
    }
    long word = Integer.toUnsignedLong(value);
    if (driverFeatureSelect == 0) {
      driverFeatures = driverFeatures & ~0xffff_ffffL | word;
    } else if (driverFeatureSelect == 1) {
      driverFeatures = driverFeatures & 0xffff_ffffL | word << 32;
    }
  }

  private void writeStatus(int value) {
    int added = value & DRIVERS & ~status;
    if ((added & DeviceStatus.FEATURES_OK) != 0) {
      String refusal = features.refusal(driverFeatures);
      if (!refusal.isEmpty()) {
        faults.record("features 0x%x are refused: %s".formatted(driverFeatures, refusal));
        added &= ~DeviceStatus.FEATURES_OK;
      }
    }
    if (((status | added) & DeviceStatus.FEATURES_OK) == 0) {
      added &= ~DeviceStatus.DRIVER_OK;
    }
    status |= added;
    changed |= (added & DeviceStatus.DRIVER_OK) != 0;
  }

  private void writeQueue(Field field, QueueSetup queue, int value) {
    if (field.equals(CommonConfig.QUEUE_SIZE)) {
      queue.size(value);
    } else if (field.equals(CommonConfig.QUEUE_VECTOR)) {
      queue.vector(vector(value));
    } else if (field.equals(CommonConfig.QUEUE_ENABLE) && value == 1 && !queue.isEnabled()) {
      if ((status & DeviceStatus.FEATURES_OK) == 0) {
        faults.record("queue %d is enabled before FEATURES_OK".formatted(queueSelect));
      } else if (queue.enable()) {
        changed = true;
      } else {
        faults.record("a ring of queue %d is not aligned".formatted(queueSelect));
      }
    } else if (field.equals(CommonConfig.QUEUE_RESET)
        && value == 1
        && (features() & Feature.mask(Feature.RING_RESET)) != 0) {
      resetting[queueSelect] = true;
      changed = true;
    }
  }

  private int vector(int value) {
    return (value & 0xffff) < vectors ? value & 0xffff : CommonConfig.NO_VECTOR;
  }

  private boolean selected() {
    return queueSelect < queues.size();
  }

  private static long word(long features, int select) {
    return select == 0 ? features & 0xffff_ffffL : select == 1 ? features >>> 32 : 0;
  }

  /** Twice the number of an address of the queue, plus 1 for its upper half; -1 for no address. */
  private static int address(int offset, int width) {
    for (int i = 0; width == 4 && i < ADDRESSES.length; i++) {
      if (offset == ADDRESSES[i] || offset == ADDRESSES[i] + 4) {
        return 2 * i + (offset == ADDRESSES[i] ? 0 : 1);
      }
    }
    return -1;
  }

  /** The register of an access; one that has no effect where there is none. */
  private static Field field(int offset, int width) {
    for (Field field : FIELDS) {
      if (field.offset() == offset && field.width() == width) {
        return field;
      }
    }
    return CommonConfig.NOTIFY_DATA;
  }
}

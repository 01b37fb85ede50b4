package org.hghca.virtio;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.PciFunction;
import org.hghca.virtio.VirtioException.Reason;
import org.hghca.virtio.abi.Bytes;
import org.hghca.virtio.abi.CommonConfig;
import org.hghca.virtio.abi.DeviceStatus;
import org.hghca.virtio.abi.Feature;
import org.hghca.virtio.abi.Field;
import org.hghca.virtio.abi.PciIds;
import org.hghca.virtio.abi.net.NetFeature;

/**
 * A modern virtio device behind a PCI function. The order of calls is {@link #attach}, {@link
 * #negotiate}, then {@link #queue} for each queue and {@link #start}; queues may be added later
 * where the device type allows it. {@link #close} resets the device and then frees all memory that
 * it could use; the function stays open, and the device may be attached again.
 *
 * <p>Thread-safe. All calls but {@link #negotiate} and {@link #configuration} may be made while
 * queues are in use.
 */
public final class VirtioDevice implements AutoCloseable {
  /** How long the device may take for a reset of its own or of a queue. */
  private static final Duration RESET_LIMIT = Duration.ofSeconds(2);

  /** How often the configuration may change while it is read. */
  private static final int CONFIGURATION_READINGS = 100;

  /** What the status reads when the function does not answer. */
  private static final int NO_ANSWER = 0xff;

  /** Without these, the device would use other structures, or other addresses, than this driver. */
  private static final int[] REQUIRED = {Feature.VERSION_1, Feature.ACCESS_PLATFORM};

  /** Accepted if offered. */
  private static final long TRANSPORT =
      Feature.mask(Feature.EVENT_IDX)
          | Feature.mask(Feature.ORDER_PLATFORM)
          | Feature.mask(Feature.RING_RESET);

  /** Bits 28 to 41: a device type has no say in them. */
  private static final long RESERVED =
      Feature.mask(Feature.ADMIN_VQ + 1) - Feature.mask(Feature.INDIRECT_DESC);

  private final PciFunction function;
  private final Structures structures;
  private final Window common;
  private final Patience patience;
  private final Map<Integer, Virtqueue> queues = new HashMap<>();

  /** Memory that the device may use until it is reset. */
  private final List<DmaMapping> memory = new ArrayList<>();

  private long offered;
  private long features;
  private boolean negotiated;
  private boolean closed;

  private VirtioDevice(PciFunction function) {
    this.function = function;
    this.structures = Structures.find(function);
    this.common = structures.common();
    this.patience = new Patience(function);
  }

  /**
   * Whether a function is a modern virtio device of a type, by its ids alone. It reads
   * configuration space and writes nothing.
   *
   * @param type such as {@link PciIds#NETWORK_TYPE}
   */
  public static boolean isDevice(ConfigurationSpace space, int type) {
    return space.vendorId() == PciIds.VENDOR
        && space.deviceId() == PciIds.FIRST_DEVICE + type
        && space.revisionId() >= PciIds.LEAST_REVISION;
  }

  /**
   * Takes a device into use: resets it, allows it to access memory, and reads its features.
   *
   * @param function stays open when the device is closed
   * @param type such as {@link PciIds#NETWORK_TYPE}
   * @throws VirtioException {@code OTHER_DEVICE} when the function is none of the type; {@code
   *     MALFORMED} when its capabilities are wrong; {@code TIMED_OUT} when its reset does not end;
   *     {@code FAILED} when it does not answer
   */
  public static VirtioDevice attach(PciFunction function, int type) {
    ConfigurationSpace space = function.configuration();
    if (!isDevice(space, type)) {
      throw new VirtioException(
          Reason.OTHER_DEVICE,
          ("%s is %04x:%04x revision %d, and no virtio device %04x:%04x revision 1 or later"
                  + " (a transitional one of QEMU becomes one with disable-legacy=on)")
              .formatted(
                  function.locator(),
                  space.vendorId(),
                  space.deviceId(),
                  space.revisionId(),
                  PciIds.VENDOR,
                  PciIds.FIRST_DEVICE + type));
    }
    if (!space.enableMemorySpace()) {
      throw new VirtioException(
          Reason.FAILED, "%s does not decode its registers".formatted(function.locator()));
    }
    VirtioDevice device = new VirtioDevice(function);
    device.reset();
    space.busMaster(true);
    device.addStatus(DeviceStatus.ACKNOWLEDGE);
    device.addStatus(DeviceStatus.DRIVER);
    device.offered = device.readFeatures();
    return device;
  }

  private long readFeatures() {
    long value = 0;
    for (int word = 0; word < 2; word++) {
      common.write(CommonConfig.DEVICE_FEATURE_SELECT, word);
      value |= common.read(CommonConfig.DEVICE_FEATURE) << 32 * word;
    }
    return value;
  }

  /** The function behind which the device is. */
  public PciFunction function() {
    return function;
  }

  /** The structures of registers, in the order of the capabilities. */
  public List<RegisterStructure> structures() {
    return structures.all();
  }

  /** Mask of the features that the device offers. */
  public long offered() {
    return offered;
  }

  /** Mask of the features that were negotiated. */
  public synchronized long features() {
    return features;
  }

  /** Whether a feature was negotiated. */
  public boolean has(int feature) {
    return (features() & Feature.mask(feature)) != 0;
  }

  /**
   * Agrees with the device on features. VERSION_1 and ACCESS_PLATFORM are always required: without
   * the latter a device may bypass the IOMMU, and would take bus addresses for physical ones.
   * EVENT_IDX, ORDER_PLATFORM and RING_RESET are accepted if they are offered.
   *
   * @param required mask of features of the device type that the device must offer
   * @param wanted mask of features of the device type that are accepted if they are offered
   * @return mask of what was negotiated
   * @throws VirtioException {@code UNSUPPORTED} when a required feature is missing, or the device
   *     refuses the selection; the device has then the status FAILED
   * @throws IllegalArgumentException when a feature is none of a device type
   * @throws IllegalStateException when features were negotiated already
   */
  public synchronized long negotiate(long required, long wanted) {
    if (negotiated) {
      throw new IllegalStateException(this + " has negotiated its features");
    }
    if (((required | wanted) & RESERVED) != 0) {
      throw new IllegalArgumentException(
          "features 0x%x and 0x%x have bits of the transport".formatted(required, wanted));
    }
    long needed = required;
    for (int bit : REQUIRED) {
      needed |= Feature.mask(bit);
    }
    if ((needed & ~offered) != 0) {
      throw refused(
          "%s offers features 0x%x without %s: %s"
              .formatted(this, offered, names(needed & ~offered), fix(needed & ~offered)));
    }
    long chosen = offered & (needed | wanted | TRANSPORT);
    for (int word = 0; word < 2; word++) {
      common.write(CommonConfig.DRIVER_FEATURE_SELECT, word);
      common.write(CommonConfig.DRIVER_FEATURE, chosen >>> 32 * word & 0xffff_ffffL);
    }
    addStatus(DeviceStatus.FEATURES_OK);
    int status = status();
    if ((status & DeviceStatus.FEATURES_OK) == 0) {
      throw refused(
          "%s refuses the features %s (0x%x of 0x%x), status %s: it needs one that this driver lacks"
              .formatted(this, names(chosen), chosen, offered, DeviceStatus.describe(status)));
    }
    features = chosen;
    negotiated = true;
    return chosen;
  }

  private VirtioException refused(String message) {
    addStatus(DeviceStatus.FAILED);
    return new VirtioException(Reason.UNSUPPORTED, message);
  }

  private static String names(long mask) {
    List<String> names = new ArrayList<>();
    for (int bit = 0; bit < Long.SIZE; bit++) {
      if ((mask & Feature.mask(bit)) != 0) {
        names.add(NetFeature.name(bit));
      }
    }
    return names.isEmpty() ? "none" : String.join(", ", names);
  }

  /** What helps when a device lacks a feature. */
  private static String fix(long missing) {
    if ((missing & Feature.mask(Feature.VERSION_1)) != 0) {
      return "it is older than version 1; QEMU makes a newer one with disable-legacy=on";
    }
    if ((missing & Feature.mask(Feature.ACCESS_PLATFORM)) != 0) {
      return "it bypasses the IOMMU; QEMU makes one that does not with iommu_platform=on";
    }
    return "use a device that has it";
  }

  /** The number of queues that the device has at most. */
  public int queues() {
    return (int) common.read(CommonConfig.NUM_QUEUES);
  }

  /**
   * The entries that a queue can have at most or, when it is set up, those that it has.
   *
   * @param index 0 to {@link #queues} - 1
   * @return 0 when the device has no such queue
   */
  public synchronized int entries(int index) {
    common.write(CommonConfig.QUEUE_SELECT, index);
    return (int) common.read(CommonConfig.QUEUE_SIZE);
  }

  /**
   * Sets a queue up and enables it. It asks for no interrupts until it is armed.
   *
   * @param index 0 to {@link #queues} - 1
   * @param entries a power of two up to {@value CommonConfig#LARGEST_QUEUE}; the queue has fewer if
   *     the device does, or if larger rings were not contiguous for it
   * @param vector interrupt vector of the function, or {@link CommonConfig#NO_VECTOR}
   * @throws VirtioException {@code UNSUPPORTED} when there is no such queue, or no vector for it;
   *     {@code MALFORMED} when the device's numbers of the queue are wrong
   * @throws IllegalStateException before {@link #negotiate}, or when the queue exists
   */
  public synchronized Virtqueue queue(int index, int entries, int vector) {
    if (entries < 1 || entries > CommonConfig.LARGEST_QUEUE || Integer.bitCount(entries) != 1) {
      throw new IllegalArgumentException("a queue has a power of two entries, not " + entries);
    }
    if (!negotiated || closed || queues.containsKey(index)) {
      throw new IllegalStateException(
          "%s: queue %d needs negotiated features, and is set up once".formatted(this, index));
    }
    if (index < 0 || index >= queues()) {
      throw new VirtioException(
          Reason.UNSUPPORTED,
          "%s has no queue %d, but queues 0 to %d".formatted(this, index, queues() - 1));
    }
    int most = entries(index);
    if (most == 0) {
      throw new VirtioException(
          Reason.UNSUPPORTED, "%s has a queue %d without entries".formatted(this, index));
    }
    if (most > CommonConfig.LARGEST_QUEUE || Integer.bitCount(most) != 1) {
      throw new VirtioException(
          Reason.MALFORMED,
          "%s has a queue %d of %d entries, which is no power of two up to %d"
              .formatted(this, index, most, CommonConfig.LARGEST_QUEUE));
    }
    Notification notification = notification(index);
    QueueMemory rings = QueueMemory.allocate(function, Math.min(most, entries));
    Virtqueue queue =
        new Virtqueue(
            "%s: queue %d".formatted(this, index),
            index,
            rings,
            has(Feature.EVENT_IDX),
            notification,
            function.trace());
    try {
      program(queue, vector);
    } catch (RuntimeException e) {
      rings.close();
      throw e;
    }
    queues.put(index, queue);
    return queue;
  }

  /** A queue's notification: a write of its index. */
  private record Notification(Window window, long at, int index) implements Runnable {
    @Override
    public void run() {
      // The registers order this after the index of the available ring.
      window.registers().writeShort(window.base() + at, index);
    }
  }

  private Notification notification(int index) {
    Window window = structures.notifications();
    long at = common.read(CommonConfig.QUEUE_NOTIFY_OFF) * structures.multiplier();
    if (at > window.length() - 2) {
      throw new VirtioException(
          Reason.MALFORMED,
          "%s notifies queue %d at 0x%x of 0x%x bytes".formatted(this, index, at, window.length()));
    }
    return new Notification(window, at, index);
  }

  private void program(Virtqueue queue, int vector) {
    QueueMemory rings = queue.memory();
    common.write(CommonConfig.QUEUE_SELECT, queue.index());
    // The vector first: if it is refused, the device still reports the size that it can have.
    setVector(CommonConfig.QUEUE_VECTOR, vector, "queue " + queue.index());
    common.write(CommonConfig.QUEUE_SIZE, rings.entries());
    common.write(CommonConfig.QUEUE_DESC, rings.descriptorsAddress());
    common.write(CommonConfig.QUEUE_DRIVER, rings.availableAddress());
    common.write(CommonConfig.QUEUE_DEVICE, rings.usedAddress());
    common.write(CommonConfig.QUEUE_ENABLE, 1);
    if (common.read(CommonConfig.QUEUE_ENABLE) != 1) {
      throw new VirtioException(
          Reason.MALFORMED, "%s does not enable queue %d".formatted(this, queue.index()));
    }
  }

  /**
   * Maps the interrupt of a queue that is set up to another vector. Not while the queue is armed.
   *
   * @param vector as in {@link #queue}
   * @throws VirtioException {@code UNSUPPORTED} when the device has no room for it
   */
  public synchronized void vector(Virtqueue queue, int vector) {
    common.write(CommonConfig.QUEUE_SELECT, queue.index());
    setVector(CommonConfig.QUEUE_VECTOR, vector, "queue " + queue.index());
  }

  private void setVector(Field register, int vector, String what) {
    if (vector != CommonConfig.NO_VECTOR
        && (vector < 0 || vector >= function.interrupts().vectors())) {
      throw new VirtioException(
          Reason.UNSUPPORTED,
          "%s has %d interrupt vectors, and no vector %d for %s"
              .formatted(this, function.interrupts().vectors(), vector, what));
    }
    common.write(register, vector);
    if (common.read(register) != vector) {
      throw new VirtioException(
          Reason.UNSUPPORTED,
          "%s has no room to map vector %d to %s".formatted(this, vector, what));
    }
  }

  /**
   * Maps the interrupt of changes of the configuration.
   *
   * @param vector interrupt vector of the function, or {@link CommonConfig#NO_VECTOR}
   * @throws VirtioException {@code UNSUPPORTED} when the device has no room for it
   */
  public synchronized void configurationVector(int vector) {
    setVector(CommonConfig.CONFIG_VECTOR, vector, "the configuration");
  }

  /** Tells the device that the driver is ready: it uses the queues from now on. */
  public synchronized void start() {
    addStatus(DeviceStatus.DRIVER_OK);
    check();
  }

  /**
   * Resets a queue alone: the device lets go of all its buffers; then the queue begins anew, with
   * the same vector.
   *
   * @param vector as in {@link #queue}
   * @throws VirtioException {@code UNSUPPORTED} without RING_RESET; {@code TIMED_OUT} when it does
   *     not end
   */
  public synchronized void reset(Virtqueue queue, int vector) {
    if (!has(Feature.RING_RESET)) {
      throw new VirtioException(
          Reason.UNSUPPORTED,
          "%s has no %s: a queue is reset with its object, or with the device"
              .formatted(this, Feature.name(Feature.RING_RESET)));
    }
    common.write(CommonConfig.QUEUE_SELECT, queue.index());
    common.write(CommonConfig.QUEUE_RESET, 1);
    if (!patience.until(RESET_LIMIT, () -> common.read(CommonConfig.QUEUE_RESET) == 0)) {
      throw new VirtioException(
          Reason.TIMED_OUT,
          "%s did not reset queue %d within %s: reset the device"
              .formatted(this, queue.index(), RESET_LIMIT));
    }
    queue.rewind();
    program(queue, vector);
  }

  /**
   * Reads the configuration of the device type, consistently: again if it has changed meanwhile.
   *
   * @param reading reads fields, perhaps several times
   * @throws VirtioException {@code UNSUPPORTED} when there is no configuration, or it is too short
   *     for a field; {@code MALFORMED} when it never stops changing
   */
  public synchronized <T> T configuration(Function<DeviceConfiguration, T> reading) {
    Window window =
        structures
            .device()
            .orElseThrow(
                () ->
                    new VirtioException(
                        Reason.UNSUPPORTED, "%s has no configuration".formatted(this)));
    DeviceConfiguration fields =
        new DeviceConfiguration() {
          @Override
          public long size() {
            return window.length();
          }

          @Override
          public long get(Field field) {
            return window.read(field);
          }

          @Override
          public byte[] get(Bytes bytes) {
            return window.read(bytes);
          }
        };
    for (int i = 0; i < CONFIGURATION_READINGS; i++) {
      long before = common.read(CommonConfig.CONFIG_GENERATION);
      T result = reading.apply(fields);
      if (common.read(CommonConfig.CONFIG_GENERATION) == before) {
        return result;
      }
    }
    throw new VirtioException(
        Reason.MALFORMED,
        "%s changed its configuration during each of %d readings"
            .formatted(this, CONFIGURATION_READINGS));
  }

  /**
   * The pending interrupts of a device without vectors, which the reading clears: a mask of {@link
   * org.hghca.virtio.abi.InterruptStatus}.
   */
  public int interruptStatus() {
    Window window = structures.interruptStatus();
    return window.registers().readByte(window.base());
  }

  /** The device status: bits of {@link DeviceStatus}, or FFh if the function does not answer. */
  public int status() {
    return (int) common.read(CommonConfig.DEVICE_STATUS);
  }

  /**
   * Checks that the device works.
   *
   * @throws VirtioException {@code FAILED} when it does not answer, or says that it needs a reset
   */
  public void check() {
    int status = status();
    if (status == NO_ANSWER) {
      throw new VirtioException(Reason.FAILED, this + " does not answer any more");
    }
    if ((status & DeviceStatus.NEEDS_RESET) != 0) {
      throw new VirtioException(
          Reason.FAILED,
          "%s has failed, status %s: close and attach it again"
              .formatted(this, DeviceStatus.describe(status)));
    }
  }

  /**
   * Zeroed memory that the device may read and write; it is freed when the device is closed.
   *
   * @param bytes at least 1
   */
  public synchronized DmaMapping allocate(long bytes) {
    DmaMapping mapping = function.allocate(bytes);
    memory.add(mapping);
    return mapping;
  }

  /** Keeps memory until the device is reset, because the device may still use it. */
  synchronized void keep(DmaMapping mapping) {
    memory.add(mapping);
  }

  /** Waiting for this device. */
  Patience patience() {
    return patience;
  }

  private void addStatus(int bit) {
    common.write(CommonConfig.DEVICE_STATUS, common.read(CommonConfig.DEVICE_STATUS) | bit);
  }

  private void reset() {
    common.write(CommonConfig.DEVICE_STATUS, 0);
    patience.until(RESET_LIMIT, () -> status() == 0 || status() == NO_ANSWER);
    int status = status();
    if (status == NO_ANSWER) {
      throw new VirtioException(Reason.FAILED, this + " does not answer");
    }
    if (status != 0) {
      throw new VirtioException(
          Reason.TIMED_OUT,
          "%s did not reset within %s, status %s: close the function, or power the machine off"
              .formatted(this, RESET_LIMIT, DeviceStatus.describe(status)));
    }
  }

  /**
   * Resets the device and frees the memory that it could use. Idempotent. Memory of a device that
   * does not confirm its reset stays until the function is closed.
   *
   * @throws VirtioException {@code TIMED_OUT} or {@code FAILED} when it does not confirm
   */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    reset();
    function.configuration().busMaster(false);
    queues.values().forEach(queue -> queue.memory().close());
    queues.clear();
    memory.forEach(DmaMapping::close);
    memory.clear();
  }

  /** The locator of the function. */
  @Override
  public String toString() {
    return function.locator().toString();
  }
}

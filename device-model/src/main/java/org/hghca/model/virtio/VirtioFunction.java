package org.hghca.model.virtio;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.hghca.model.card.PciIdentity;
import org.hghca.virtio.abi.CommonConfig;
import org.hghca.virtio.abi.PciCapability;
import org.hghca.virtio.abi.PciIds;

/**
 * Where the parts of a virtio network device are: all in one region, each in 4 KiB of its own.
 *
 * <pre>
 * 0000h  common configuration
 * 1000h  interrupt status
 * 2000h  configuration of the network device
 * 3000h  notifications, 4 bytes a queue
 * </pre>
 */
public final class VirtioFunction {
  /** The base address register of the region. */
  public static final int BAR = 0;

  /** Bytes of a part. */
  public static final int PART = 0x1000;

  /** The number of the part with the notifications. */
  public static final int NOTIFY = 3;

  /** The numbers of the other parts. */
  static final int COMMON = 0;

  static final int INTERRUPT_STATUS = 1;
  static final int DEVICE = 2;

  private static final int PARTS = 4;
  private static final int NOTIFY_MULTIPLIER = 4;

  /** Bytes of a capability that precede its content. */
  private static final int HEAD = PciCapability.TYPE.offset();

  private VirtioFunction() {}

  /**
   * The function of a device.
   *
   * @param queues number of queues
   * @param vectors number of interrupt vectors
   * @param configuration bytes of the configuration of the network device
   */
  static PciIdentity identity(int queues, int vectors, int configuration) {
    return new PciIdentity(
        PciIds.VENDOR,
        PciIds.NETWORK_DEVICE,
        PciIds.NETWORK_CLASS,
        new TreeMap<>(Map.of(BAR, (long) PARTS * PART)),
        vectors,
        List.of(
            (registers, regions) ->
                registers
                    .revision(PciIds.LEAST_REVISION)
                    .subsystem(PciIds.VENDOR, PciIds.LEAST_SUBSYSTEM)
                    .vendorCapability(
                        part(PciCapability.COMMON, COMMON, CommonConfig.QUEUE_RESET.end()))
                    .vendorCapability(part(PciCapability.INTERRUPT_STATUS, INTERRUPT_STATUS, 1))
                    .vendorCapability(part(PciCapability.DEVICE, DEVICE, configuration))
                    .vendorCapability(notifications(queues))
                    .window(PciCapability.CONFIGURATION_ACCESS, regions)));
  }

  private static byte[] part(int type, int part, int length) {
    return part(type, part, length, PciCapability.SIZE);
  }

  private static byte[] notifications(int queues) {
    byte[] content =
        part(PciCapability.NOTIFY, NOTIFY, queues * NOTIFY_MULTIPLIER, PciCapability.NOTIFY_SIZE);
    PciCapability.NOTIFY_MULTIPLIER.set(MemorySegment.ofArray(content), -HEAD, NOTIFY_MULTIPLIER);
    return content;
  }

  /** A capability without its head. */
  private static byte[] part(int type, int part, int length, int size) {
    byte[] content = new byte[size - HEAD];
    MemorySegment fields = MemorySegment.ofArray(content);
    PciCapability.TYPE.set(fields, -HEAD, type);
    PciCapability.BAR.set(fields, -HEAD, BAR);
    PciCapability.OFFSET.set(fields, -HEAD, part * PART);
    PciCapability.LENGTH.set(fields, -HEAD, length);
    return content;
  }
}

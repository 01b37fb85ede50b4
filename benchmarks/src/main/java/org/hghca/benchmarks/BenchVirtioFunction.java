package org.hghca.benchmarks;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.DmaWindow;
import org.hghca.vfio.ForwardingFunction;
import org.hghca.vfio.MmioHandler;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.PciFunction;
import org.hghca.virtio.abi.CommonConfig;
import org.hghca.virtio.abi.Feature;
import org.hghca.virtio.abi.roce.Dialect;
import org.hghca.virtio.abi.roce.QueuePlan;

/**
 * A virtio card that is not told of its work queues: commands work, and work requests are not
 * executed. It records where the driver has its virtqueues, so that a script can complete the
 * requests.
 */
final class BenchVirtioFunction extends ForwardingFunction {
  /** Where the card has its structures in its BAR; the common configuration is at 0. */
  private static final int DEVICE = 0x2000;

  private static final int NOTIFY = 0x3000;
  private static final int ADDRESSES = CommonConfig.QUEUE_DESC.offset();
  private static final int CONTROL = 2;
  private static BenchVirtioFunction last;

  private final boolean kicked;
  private final List<DmaWindow> memory = new ArrayList<>();
  private final Map<Integer, long[]> addresses = new HashMap<>();
  private final Map<Integer, Integer> sizes = new HashMap<>();
  private int featureSelect;
  private int selected;
  private int enabled;
  private long notifications;

  /**
   * @param kicked whether the driver notifies of each post
   */
  BenchVirtioFunction(PciFunction card, boolean kicked) {
    super(card);
    this.kicked = kicked;
    last = this;
  }

  /** The function that was opened last. */
  static BenchVirtioFunction last() {
    return last;
  }

  /** Number of notifications that the card did not get. */
  long notifications() {
    return notifications;
  }

  /** The queue that was enabled last. */
  DeviceQueue lastQueue() {
    return queue(enabled);
  }

  /** A queue that is enabled. */
  DeviceQueue queue(int index) {
    int size = sizes.get(index);
    long[] of = addresses.get(index);
    return new DeviceQueue(this, size, of[0], of[1], of[2]);
  }

  /** Where the queues of objects are. */
  QueuePlan plan() {
    MmioRegion registers = super.region(0);
    return new QueuePlan(
        1,
        registers.readInt(DEVICE + Dialect.RFC_V2.maxCqs().offset()),
        registers.readInt(DEVICE + Dialect.RFC_V2.maxQps().offset()));
  }

  /** The driver's memory that holds a bus address. */
  DmaWindow memory(long iova) {
    for (int i = 0; i < memory.size(); i++) {
      if (memory.get(i).holds(iova, 1)) {
        return memory.get(i);
      }
    }
    throw new IllegalStateException("no memory at bus address 0x%x".formatted(iova));
  }

  @Override
  public synchronized DmaMapping allocate(long bytes) {
    DmaMapping mapping = super.allocate(bytes);
    memory.add(new DmaWindow(mapping.iova(0), mapping.segment(), DmaAccess.READ_WRITE));
    return mapping;
  }

  @Override
  public MmioRegion region(int bar) {
    MmioRegion registers = super.region(bar);
    return bar == 0 ? MmioRegion.trapped(registers.size(), new Registers(registers)) : registers;
  }

  private final class Registers implements MmioHandler {
    private final MmioRegion card;

    Registers(MmioRegion card) {
      this.card = card;
    }

    @Override
    public long read(long offset, int width) {
      long value = card.read(offset, width);
      boolean masked =
          kicked && offset == CommonConfig.DEVICE_FEATURE.offset() && featureSelect == 0;
      return masked ? value & ~Feature.mask(Feature.EVENT_IDX) : value;
    }

    @Override
    public void write(long offset, int width, long value) {
      if (offset >= NOTIFY && value != CONTROL) {
        notifications++;
        return;
      }
      if (offset == CommonConfig.DEVICE_FEATURE_SELECT.offset()) {
        featureSelect = (int) value;
      } else if (offset == CommonConfig.QUEUE_SELECT.offset()) {
        selected = (int) value;
      } else if (offset == CommonConfig.QUEUE_SIZE.offset()) {
        sizes.put(selected, (int) value);
      } else if (offset == CommonConfig.QUEUE_ENABLE.offset()) {
        enabled = selected;
      } else if (offset >= ADDRESSES && offset < ADDRESSES + 24) {
        place((int) offset - ADDRESSES, value);
      }
      card.write(offset, width, value);
    }

    private void place(int at, long half) {
      long[] of = addresses.computeIfAbsent(selected, index -> new long[3]);
      long word = half & 0xffff_ffffL;
      of[at / 8] = at % 8 == 0 ? word : of[at / 8] & 0xffff_ffffL | word << 32;
    }
  }
}

package org.hghca.model.fault;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.hghca.model.virtio.RoceLimits;
import org.hghca.model.virtio.VirtioFunction;
import org.hghca.virtio.abi.AvailableRing;
import org.hghca.virtio.abi.CommonConfig;
import org.hghca.virtio.abi.Descriptor;
import org.hghca.virtio.abi.Field;
import org.hghca.virtio.abi.UsedRing;
import org.hghca.virtio.abi.roce.Dialect;
import org.hghca.virtio.abi.roce.QueuePlan;
import org.hghca.virtio.abi.roce.RoceCommand;

/**
 * Follows the queues of a virtio network card. What buffers they have is what the card itself
 * fetches of their descriptors.
 */
final class QueueWatch implements Watch {
  private static final QueuePlan PLAN = RoceLimits.QUEUES;

  /** Bytes in front of an answer: the result. */
  private static final int RESULT = 1;

  private static final int LARGEST = 1024;
  private static final int CQ_LARGEST = 4096;

  /** What an area is: part of a queue, or a buffer of it. */
  private enum Kind {
    DESCRIPTORS,
    RING,
    RETURNED,
    FETCHED,
    FILLED
  }

  /**
   * A piece of host memory that belongs to a queue.
   *
   * @param before of a buffer, bytes of the same request that the card fills before it
   */
  private record Area(Kind kind, int queue, long begin, long length, long before) {
    Area(Kind kind, int queue, long begin, long length) {
      this(kind, queue, begin, length, 0);
    }

    boolean holds(long iova) {
      return iova >= begin && iova < begin + length;
    }
  }

  private final TreeMap<Long, Area> areas = new TreeMap<>();
  private final Map<Long, Long> registers = new HashMap<>();
  private int selected;

  /** Class and code of the last command. */
  private int command = -1;

  /** Bytes of the buffers to fill of the chain that the card fetches. */
  private long filled;

  @Override
  public synchronized void writing(int bar, long offset, int width, long value) {
    if (bar != VirtioFunction.BAR || offset >= VirtioFunction.PART) {
      return;
    }
    if (offset == CommonConfig.QUEUE_SELECT.offset()) {
      selected = (int) value & 0xffff;
    } else if (offset >= CommonConfig.QUEUE_SIZE.offset()) {
      registers.put((long) selected << Short.SIZE | offset, value);
      if (offset == CommonConfig.QUEUE_ENABLE.offset() && value == 1) {
        take(selected);
      }
    }
  }

  /** A queue is taken into use. */
  private void take(int queue) {
    areas.values().removeIf(area -> area.queue == queue);
    int most = queue > PLAN.control() && queue < PLAN.send(0) ? CQ_LARGEST : LARGEST;
    int size = (int) register(queue, CommonConfig.QUEUE_SIZE, 0, most);
    add(new Area(Kind.DESCRIPTORS, queue, address(queue, CommonConfig.QUEUE_DESC), 16L * size));
    long available = address(queue, CommonConfig.QUEUE_DRIVER);
    add(new Area(Kind.RING, queue, available, AvailableRing.entry(size) + Short.BYTES));
    long used = address(queue, CommonConfig.QUEUE_DEVICE);
    add(new Area(Kind.RETURNED, queue, used, UsedRing.size(size)));
  }

  private long register(int queue, Field field, int add, long absent) {
    return registers.getOrDefault((long) queue << Short.SIZE | field.offset() + add, absent);
  }

  private long address(int queue, Field field) {
    return register(queue, field, Integer.BYTES, 0) << Integer.SIZE
        | register(queue, field, 0, 0) & 0xffff_ffffL;
  }

  private void add(Area area) {
    areas.put(area.begin, area);
  }

  private Area area(long iova) {
    Map.Entry<Long, Area> found = areas.floorEntry(iova);
    return found != null && found.getValue().holds(iova) ? found.getValue() : null;
  }

  @Override
  public synchronized void fetched(long iova, MemorySegment to, long offset, long length) {
    Area area = area(iova);
    if (area == null) {
      return;
    }
    if (area.kind == Kind.DESCRIPTORS && length == Descriptor.SIZE) {
      take(area.queue, to.asSlice(offset, length));
    } else if (area.kind == Kind.FETCHED
        && area.queue == PLAN.control()
        && iova == area.begin
        && length >= 2) {
      command =
          (to.get(ValueLayout.JAVA_BYTE, offset) & 0xff) << Byte.SIZE
              | to.get(ValueLayout.JAVA_BYTE, offset + 1) & 0xff;
    }
  }

  private void take(int queue, MemorySegment descriptor) {
    long begin = Descriptor.ADDRESS.getLong(descriptor, 0);
    long length = Descriptor.LENGTH.getLong(descriptor, 0);
    int flags = Descriptor.FLAGS.get(descriptor, 0);
    Kind kind =
        (flags & Descriptor.FLAG_INDIRECT) != 0
            ? Kind.DESCRIPTORS
            : (flags & Descriptor.FLAG_WRITE) != 0 ? Kind.FILLED : Kind.FETCHED;
    filled = kind == Kind.FILLED ? filled : 0;
    add(new Area(kind, queue, begin, length, filled));
    filled = (flags & Descriptor.FLAG_NEXT) != 0 && kind == Kind.FILLED ? filled + length : 0;
  }

  @Override
  public void hasRead(int bar, long offset, long value) {}

  @Override
  public synchronized Place place(long iova, boolean written) {
    Area area = area(iova);
    if (area == null) {
      return Place.of(Use.PAYLOAD);
    }
    boolean completes = area.queue > PLAN.control() && area.queue < PLAN.send(0);
    return switch (area.kind) {
      case RETURNED -> Place.of(completes ? Use.COMPLETION_RING : Use.OTHER);
      case FILLED ->
          completes
              ? Place.of(Use.COMPLETION)
              : area.queue == PLAN.control()
                  ? answer(area.before + iova - area.begin)
                  : Place.of(Use.OTHER);
      default -> Place.of(Use.REQUEST);
    };
  }

  /**
   * A place in the answer of a command.
   *
   * @param offset where it is, the byte of the result included
   */
  private Place answer(long offset) {
    boolean isRoce = command >>> Byte.SIZE == Dialect.RFC_V2.controlClass();
    Optional<RoceCommand> known = isRoce ? RoceCommand.of(command & 0xff) : Optional.empty();
    return new Place(
        known.filter(RoceCommand.QUERY_DEVICE::equals).isPresent() ? Use.LIMITS : Use.ANSWER,
        offset - RESULT,
        known.map(RoceCommand::ackSize).orElse(0),
        null);
  }

  @Override
  public boolean isDoorbell(int bar, long offset) {
    return bar == VirtioFunction.BAR && offset / VirtioFunction.PART == VirtioFunction.NOTIFY;
  }

  @Override
  public boolean isSendDoorbell(int bar, long offset, int width, long value) {
    int queue = (int) value & 0xffff;
    return isDoorbell(bar, offset) && queue >= PLAN.send(0) && (queue - PLAN.send(0)) % 2 == 0;
  }

  @Override
  public synchronized void reset() {
    areas.clear();
    registers.clear();
    command = -1;
  }
}

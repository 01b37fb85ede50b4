package org.hghca.vfio.user;

import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.EmulatedFunction;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.user.UserStructures.DeviceInfo;
import org.hghca.vfio.user.UserStructures.DmaMap;
import org.hghca.vfio.user.UserStructures.DmaUnmap;
import org.hghca.vfio.user.UserStructures.IrqInfo;
import org.hghca.vfio.user.UserStructures.IrqSet;
import org.hghca.vfio.user.UserStructures.RegionAccess;
import org.hghca.vfio.user.UserStructures.RegionEvents;
import org.hghca.vfio.user.UserStructures.RegionInfo;
import org.hghca.vfio.user.UserStructures.RingInfo;
import org.hghca.vfio.user.UserStructures.Version;
import org.hghca.vfio.user.UserStructures.WriteMulti;

/**
 * One client's commands, executed in their order by one thread. Every command gets a reply: the
 * result, or an error number. Before each the register writes in the client's ring are executed, if
 * it has one.
 */
final class UserSession implements AutoCloseable {
  private static final ConditionLog LOG = ConditionLog.of(UserSession.class);
  private static final int CONFIGURATION_BYTES = 4096;
  private static final int BARS = 6;

  private final SystemCalls system;

  /** For the log. */
  private final About about;

  private final EmulatedFunction device;
  private final Conversation conversation;
  private final DmaTable memory;
  private final EventVectors vectors;
  private final UserMessage reply =
      new UserMessage(Conversation.MAX_PAYLOAD, ClientCapabilities.MAX_DESCRIPTORS);
  private boolean greeted;
  private boolean maySendMultiple;
  private boolean mayHaveRing;

  /** Null until the client has sent one. */
  private RegisterRingReceiver ring;

  UserSession(
      SystemCalls system,
      About about,
      EmulatedFunction device,
      Conversation conversation,
      DmaTable memory,
      EventVectors vectors) {
    this.system = system;
    this.about = about;
    this.device = device;
    this.conversation = conversation;
    this.memory = memory;
    this.vectors = vectors;
  }

  /**
   * Serves the client until it hangs up.
   *
   * @throws VfioException when it does not agree on a version in time, disappears during a message,
   *     violates the message framing, or writes into its ring what no client does
   */
  void run() {
    conversation.beginHandshake(UserTimeouts.HANDSHAKE);
    try {
      for (UserMessage request = conversation.next();
          request != null;
          request = conversation.next()) {
        answer(request);
      }
    } catch (VfioException e) {
      checkRing(); // a failure there ends whatever is sent or received
      throw e;
    }
    checkRing();
  }

  private void checkRing() {
    if (ring != null && ring.failure() != null) {
      throw ring.failure();
    }
  }

  private void answer(UserMessage request) {
    try {
      // What was written to the ring before this message was sent comes before it.
      if (ring != null && !ring.drain()) {
        return;
      }
      execute(request);
    } catch (Refusal e) {
      refused(request, e.errno(), e.getMessage());
    } catch (RuntimeException e) {
      LOG.error(
          about, "the request {} of a client failed", UserCommand.describe(request.command()), e);
      refused(request, LinuxErrno.EIO, e.toString());
    } finally {
      request.closeDescriptors(system);
    }
    if (request.wantsReply()) {
      conversation.reply(reply);
    }
  }

  /** Ends the ring, and frees the memory of the replies. */
  @Override
  public void close() {
    if (ring != null) {
      RegisterRingPoller.shared().remove(ring);
      ring.close();
    }
    reply.close();
  }

  private void refused(UserMessage request, LinuxErrno errno, String reason) {
    LOG.debug(about, "{} refused, {}: {}", UserCommand.describe(request.command()), errno, reason);
    reply.failure(request, errno.number());
  }

  private void execute(UserMessage request) {
    if (request.type() != UserMessage.TYPE_COMMAND) {
      throw Refusal.invalid("a message of type " + request.type());
    }
    int command = request.command();
    checkDescriptors(request, command);
    // The most frequent commands first.
    if (UserCommand.REGION_WRITE.is(command)) {
      checkGreeted();
      writeRegion(request);
    } else if (UserCommand.REGION_READ.is(command)) {
      checkGreeted();
      readRegion(request);
    } else if (UserCommand.VERSION.is(command)) {
      greet(request);
    } else {
      checkGreeted();
      executeRare(request, command);
    }
  }

  private void executeRare(UserMessage request, int command) {
    if (UserCommand.DMA_MAP.is(command)) {
      map(request);
    } else if (UserCommand.DMA_UNMAP.is(command)) {
      unmap(request);
    } else if (UserCommand.DEVICE_GET_INFO.is(command)) {
      deviceInfo(request);
    } else if (UserCommand.DEVICE_GET_REGION_INFO.is(command)) {
      regionInfo(request);
    } else if (UserCommand.DEVICE_GET_REGION_IO_FDS.is(command)) {
      regionEvents(request);
    } else if (UserCommand.DEVICE_GET_IRQ_INFO.is(command)) {
      interruptInfo(request);
    } else if (UserCommand.DEVICE_SET_IRQS.is(command)) {
      setInterrupts(request);
    } else if (UserCommand.DEVICE_RESET.is(command)) {
      reset(request);
    } else if (UserCommand.REGION_WRITE_MULTI.is(command) && maySendMultiple) {
      writeMultiple(request);
    } else if (UserCommand.LOOK_AT_RING.is(command) && ring != null) {
      RegisterRingPoller.shared().wake(); // more will follow
      reply.reply(request, 0);
    } else if (UserCommand.REGISTER_RING.is(command) && mayHaveRing) {
      takeRing(request);
    } else {
      throw new Refusal(LinuxErrno.EOPNOTSUPP, "not offered");
    }
  }

  private void checkGreeted() {
    if (!greeted) {
      throw Refusal.invalid("VERSION must come first");
    }
  }

  private void checkDescriptors(UserMessage request, int command) {
    int most =
        UserCommand.DMA_MAP.is(command) || UserCommand.REGISTER_RING.is(command)
            ? 1
            : UserCommand.DEVICE_SET_IRQS.is(command) ? request.maxDescriptors() : 0;
    if (request.isOutOfDescriptors()) {
      LOG.warn(
          about,
          "no descriptor is left for what comes with {}: raise ulimit -n",
          UserCommand.describe(command));
      throw new Refusal(LinuxErrno.EMFILE, "this process has no descriptor left");
    }
    if (request.hasTooManyDescriptors() || request.descriptors() > most) {
      throw Refusal.invalid(
          "%d descriptors or more, at most %d are allowed".formatted(request.descriptors(), most));
    }
  }

  private static void checkBytes(UserMessage request, int least) {
    if (request.payloadBytes() < least) {
      throw Refusal.invalid(
          "a payload of %d bytes, %d are needed".formatted(request.payloadBytes(), least));
    }
  }

  /** Checks a structure that begins with its length, or with the size of the reply buffer. */
  private static void checkRoom(UserMessage request, int bytes) {
    checkRoom(request, bytes, 0xffff_ffffL);
  }

  private static void checkRoom(UserMessage request, int bytes, long most) {
    checkBytes(request, bytes);
    long room = Integer.toUnsignedLong(request.getInt(0));
    if (room < bytes || room > most) {
      throw Refusal.invalid("argsz %d, must be between %d and %d".formatted(room, bytes, most));
    }
  }

  private void greet(UserMessage request) {
    checkBytes(request, Version.DATA);
    if (greeted) {
      throw Refusal.invalid("VERSION is already agreed on");
    }
    if (request.getShort(Version.MAJOR) != 0) {
      throw Refusal.invalid("version %d".formatted(request.getShort(Version.MAJOR)));
    }
    ClientCapabilities client = ClientCapabilities.of(request);
    conversation.maxTransfer(client.maxTransfer());
    maySendMultiple = client.writeMultiple();
    mayHaveRing = client.registerRing();
    byte[] answer = client.answer();
    reply.reply(request, Version.DATA + answer.length);
    reply.putShort(Version.MAJOR, 0);
    reply.putShort(Version.MINOR, 0);
    for (int i = 0; i < answer.length; i++) {
      reply.putByte(Version.DATA + i, answer[i]);
    }
    greeted = true;
    conversation.endHandshake();
  }

  private void takeRing(UserMessage request) {
    checkBytes(request, RingInfo.BYTES);
    int layout = request.getInt(RingInfo.LAYOUT);
    if (layout != RegisterRing.LAYOUT || request.descriptors() != 1 || ring != null) {
      throw Refusal.invalid(
          "layout %d with %d descriptors%s"
              .formatted(layout, request.descriptors(), ring == null ? "" : ", a second ring"));
    }
    ring =
        RegisterRingReceiver.map(
            system, request.descriptor(0), this::writeRegister, conversation::close);
    RegisterRingPoller.shared().add(ring);
    reply.reply(request, 0);
  }

  /** Executes a write from the ring, on any thread. */
  private void writeRegister(int region, long offset, int width, long value) {
    if (region >= BARS) {
      throw Refusal.invalid("a write to region %d".formatted(region));
    }
    checkAccess(region, offset, width);
    checkNatural(offset, width);
    try {
      device.write(region, offset, width, value);
    } catch (RuntimeException e) {
      LOG.error(about, "a register write of a client failed", e);
    }
  }

  private void map(UserMessage request) {
    checkRoom(request, DmaMap.BYTES);
    int flags = request.getInt(DmaMap.FLAGS);
    boolean read = (flags & DmaMap.FLAG_READ) != 0;
    boolean write = (flags & DmaMap.FLAG_WRITE) != 0;
    long address = request.getLong(DmaMap.ADDRESS);
    long length = request.getLong(DmaMap.LENGTH);
    long offset = request.getLong(DmaMap.OFFSET);
    if ((flags & ~(DmaMap.FLAG_READ | DmaMap.FLAG_WRITE)) != 0 || !read && !write) {
      throw Refusal.invalid("flags 0x%x".formatted(flags));
    }
    checkRange(address, length);
    if (offset % DmaMapping.PAGE_SIZE != 0) {
      throw Refusal.invalid("file offset 0x%x is inside a page".formatted(offset));
    }
    int descriptor = request.descriptors() == 1 ? request.descriptor(0) : -1;
    memory.map(address, length, read, write, descriptor, offset);
    reply.reply(request, 0);
  }

  private static void checkRange(long address, long length) {
    boolean wraps = Long.compareUnsigned(address + length - 1, address) < 0;
    if (length == 0 || wraps || ((address | length) & DmaMapping.PAGE_SIZE - 1) != 0) {
      throw Refusal.invalid("0x%x bytes at 0x%x are no range of pages".formatted(length, address));
    }
  }

  private void unmap(UserMessage request) {
    checkRoom(request, DmaUnmap.BYTES, ClientCapabilities.MAX_TRANSFER);
    int flags = request.getInt(DmaUnmap.FLAGS);
    long address = request.getLong(DmaUnmap.ADDRESS);
    long length = request.getLong(DmaUnmap.LENGTH);
    if (flags == DmaUnmap.FLAG_ALL && address == 0 && length == 0) {
      memory.clear();
    } else if (flags == 0) {
      memory.unmap(address, length);
    } else {
      throw Refusal.invalid("flags 0x%x".formatted(flags));
    }
    reply.reply(request, DmaUnmap.BYTES);
    reply.putInt(DmaUnmap.ARGSZ, DmaUnmap.BYTES);
    reply.putInt(DmaUnmap.FLAGS, flags);
    reply.putLong(DmaUnmap.ADDRESS, address);
    reply.putLong(DmaUnmap.LENGTH, length);
  }

  private void deviceInfo(UserMessage request) {
    checkRoom(request, DeviceInfo.BYTES);
    reply.reply(request, DeviceInfo.BYTES);
    reply.putInt(DeviceInfo.ARGSZ, DeviceInfo.BYTES);
    reply.putInt(
        DeviceInfo.FLAGS, DeviceInfo.FLAG_PCI | (device.canReset() ? DeviceInfo.FLAG_RESET : 0));
    reply.putInt(DeviceInfo.REGIONS, RegionInfo.REGIONS);
    reply.putInt(DeviceInfo.INTERRUPTS, IrqInfo.INDICES);
  }

  private void regionInfo(UserMessage request) {
    checkRoom(request, RegionInfo.BYTES);
    int index = request.getInt(RegionInfo.INDEX);
    if (index < 0 || index >= RegionInfo.REGIONS) {
      throw Refusal.invalid("there is no region " + Integer.toUnsignedString(index));
    }
    long size = regionBytes(index);
    // Never mappable: of two stores to one doorbell the device must see both.
    int flags = size == 0 ? 0 : RegionInfo.FLAG_READ | RegionInfo.FLAG_WRITE;
    reply.reply(request, RegionInfo.BYTES);
    reply.putInt(RegionInfo.ARGSZ, RegionInfo.BYTES);
    reply.putInt(RegionInfo.FLAGS, flags);
    reply.putInt(RegionInfo.INDEX, index);
    reply.putInt(RegionInfo.CAP_OFFSET, 0);
    reply.putLong(RegionInfo.LENGTH, size);
    reply.putLong(RegionInfo.OFFSET, 0);
  }

  /** Events that the client signals instead of a message for a store: there are none. */
  private void regionEvents(UserMessage request) {
    checkRoom(request, RegionEvents.BYTES, ClientCapabilities.MAX_TRANSFER);
    int index = request.getInt(RegionEvents.INDEX);
    int flags = request.getInt(RegionEvents.FLAGS);
    int count = request.getInt(RegionEvents.COUNT);
    if (flags != 0 || count != 0) {
      throw Refusal.invalid("flags 0x%x, count %d".formatted(flags, count));
    }
    if (regionBytes(index) == 0) {
      throw Refusal.invalid("there is no region " + Integer.toUnsignedString(index));
    }
    reply.reply(request, RegionEvents.BYTES);
    reply.putInt(RegionEvents.ARGSZ, RegionEvents.BYTES);
    reply.putInt(RegionEvents.FLAGS, 0);
    reply.putInt(RegionEvents.INDEX, index);
    reply.putInt(RegionEvents.COUNT, 0);
  }

  private long regionBytes(int region) {
    if (region == RegionInfo.CONFIGURATION) {
      return CONFIGURATION_BYTES;
    }
    return region >= 0 && region < BARS ? device.regionSize(region) : 0;
  }

  private void interruptInfo(UserMessage request) {
    checkRoom(request, IrqInfo.BYTES);
    int index = request.getInt(IrqInfo.INDEX);
    int count = vectors(index);
    reply.reply(request, IrqInfo.BYTES);
    reply.putInt(IrqInfo.ARGSZ, IrqInfo.BYTES);
    reply.putInt(IrqInfo.FLAGS, count == 0 ? 0 : IrqInfo.FLAG_EVENTFD | IrqInfo.FLAG_MASKABLE);
    reply.putInt(IrqInfo.INDEX, index);
    reply.putInt(IrqInfo.COUNT, count);
  }

  private int vectors(int index) {
    if (index < 0 || index >= IrqInfo.INDICES) {
      throw Refusal.invalid("there are no interrupts of index " + Integer.toUnsignedString(index));
    }
    return index == IrqInfo.MSIX ? vectors.vectors() : 0;
  }

  private void setInterrupts(UserMessage request) {
    checkRoom(request, IrqSet.DATA);
    int present = vectors(request.getInt(IrqSet.INDEX));
    int flags = request.getInt(IrqSet.FLAGS);
    long start = Integer.toUnsignedLong(request.getInt(IrqSet.START));
    long count = Integer.toUnsignedLong(request.getInt(IrqSet.COUNT));
    if (start >= present || start + count > present) {
      throw Refusal.invalid(
          "vectors %d to %d, there are %d".formatted(start, start + count - 1, present));
    }
    if (request.descriptors() != 0 && (flags & IrqSet.DATA_EVENTFD) == 0) {
      throw Refusal.invalid("descriptors without DATA_EVENTFD");
    }
    if (count == 0) {
      if (flags != (IrqSet.DATA_NONE | IrqSet.ACTION_TRIGGER) || start != 0) {
        throw Refusal.invalid("count 0 with flags 0x%x, start %d".formatted(flags, start));
      }
      vectors.clear();
    } else {
      setInterrupts(request, flags, (int) start, (int) count);
    }
    reply.reply(request, 0);
  }

  private void setInterrupts(UserMessage request, int flags, int start, int count) {
    switch (flags) {
      case IrqSet.DATA_EVENTFD | IrqSet.ACTION_TRIGGER -> setEvents(request, start, count);
      case IrqSet.DATA_BOOL | IrqSet.ACTION_TRIGGER,
          IrqSet.DATA_BOOL | IrqSet.ACTION_MASK,
          IrqSet.DATA_BOOL | IrqSet.ACTION_UNMASK -> {
        if (request.payloadBytes() != IrqSet.DATA + count) {
          throw Refusal.invalid(
              "%d bytes for %d vectors".formatted(request.payloadBytes() - IrqSet.DATA, count));
        }
        for (int i = 0; i < count; i++) {
          if (request.getByte(IrqSet.DATA + i) != 0) {
            act(flags, start + i);
          }
        }
      }
      case IrqSet.DATA_NONE | IrqSet.ACTION_TRIGGER,
          IrqSet.DATA_NONE | IrqSet.ACTION_MASK,
          IrqSet.DATA_NONE | IrqSet.ACTION_UNMASK -> {
        for (int i = 0; i < count; i++) {
          act(flags, start + i);
        }
      }
      default -> throw Refusal.invalid("flags 0x%x".formatted(flags));
    }
  }

  private void act(int flags, int vector) {
    if ((flags & IrqSet.ACTION_TRIGGER) != 0) {
      vectors.raise(vector);
    } else if ((flags & IrqSet.ACTION_MASK) != 0) {
      vectors.mask(vector);
    } else {
      vectors.unmask(vector);
    }
  }

  /** Without a descriptor the vectors lose their events. */
  private void setEvents(UserMessage request, int start, int count) {
    int events = request.descriptors();
    if (events != 0 && events != count) {
      throw Refusal.invalid("%d events for %d vectors".formatted(events, count));
    }
    for (int i = 0; i < count; i++) {
      vectors.event(start + i, events == 0 ? -1 : request.take(i));
    }
  }

  private void reset(UserMessage request) {
    if (!device.canReset()) {
      throw new Refusal(LinuxErrno.EOPNOTSUPP, "the device has no reset");
    }
    device.reset();
    reply.reply(request, 0);
  }

  private void readRegion(UserMessage request) {
    checkBytes(request, RegionAccess.DATA);
    long offset = request.getLong(RegionAccess.OFFSET);
    int region = request.getInt(RegionAccess.REGION);
    int count = request.getInt(RegionAccess.COUNT);
    checkAccess(region, offset, count);
    reply.reply(request, RegionAccess.DATA + count);
    reply.putLong(RegionAccess.OFFSET, offset);
    reply.putInt(RegionAccess.REGION, region);
    reply.putInt(RegionAccess.COUNT, count);
    boolean registers = region != RegionInfo.CONFIGURATION;
    int widest = registers ? Long.BYTES : Integer.BYTES;
    int width;
    for (int done = 0; done < count; done += width) {
      width = width(offset + done, count - done, widest);
      long value =
          registers
              ? device.read(region, offset + done, width)
              : device.readConfiguration((int) offset + done, width);
      for (int i = 0; i < width; i++) {
        reply.putByte(RegionAccess.DATA + done + i, (int) (value >> 8 * i));
      }
    }
  }

  private void writeRegion(UserMessage request) {
    checkBytes(request, RegionAccess.DATA);
    int count = request.getInt(RegionAccess.COUNT);
    if (request.payloadBytes() - RegionAccess.DATA != count) {
      throw Refusal.invalid(
          "count %d with %d bytes of data"
              .formatted(count, request.payloadBytes() - RegionAccess.DATA));
    }
    writeRegion(request, 0, count);
    long offset = request.getLong(RegionAccess.OFFSET);
    int region = request.getInt(RegionAccess.REGION);
    reply.reply(request, RegionAccess.DATA);
    reply.putLong(RegionAccess.OFFSET, offset);
    reply.putInt(RegionAccess.REGION, region);
    reply.putInt(RegionAccess.COUNT, count);
  }

  /** Executes the write at an offset in the payload. */
  private void writeRegion(UserMessage request, int at, int count) {
    long offset = request.getLong(at + RegionAccess.OFFSET);
    int region = request.getInt(at + RegionAccess.REGION);
    checkAccess(region, offset, count);
    int data = at + RegionAccess.DATA;
    if (region == RegionInfo.CONFIGURATION) {
      int width;
      for (int done = 0; done < count; done += width) {
        width = width(offset + done, count - done, Integer.BYTES);
        int value = (int) value(request, data + done, width);
        device.writeConfiguration((int) offset + done, width, value);
      }
    } else if (count > 0) {
      checkNatural(offset, count);
      device.write(region, offset, count, value(request, data, count));
    }
  }

  private static long value(UserMessage request, int at, int width) {
    return switch (width) {
      case 8 -> request.getLong(at);
      case 4 -> Integer.toUnsignedLong(request.getInt(at));
      case 2 -> request.getShort(at);
      default -> request.getByte(at);
    };
  }

  /** The widest natural access that begins at an offset. */
  private static int width(long offset, int left, int widest) {
    int width = widest;
    while (width > left || offset % width != 0) {
      width >>= 1;
    }
    return width;
  }

  private void checkAccess(int region, long offset, int count) {
    long size = regionBytes(region);
    if (count < 0
        || count > ClientCapabilities.MAX_TRANSFER
        || offset < 0
        || offset > size - count) {
      throw Refusal.invalid(
          "%s bytes at 0x%x of region %d, which has 0x%x bytes"
              .formatted(Integer.toUnsignedString(count), offset, region, size));
    }
  }

  /** An access that does not fit one store is refused: a register would act on a part of it. */
  private static void checkNatural(long offset, int count) {
    if (count > Long.BYTES || Integer.bitCount(count) != 1 || offset % count != 0) {
      throw Refusal.invalid(
          "%d bytes at 0x%x: registers are written by 1, 2, 4 or 8 aligned bytes"
              .formatted(count, offset));
    }
  }

  private void writeMultiple(UserMessage request) {
    checkBytes(request, WriteMulti.WRITES);
    long count = request.getLong(WriteMulti.COUNT);
    int bytes = request.payloadBytes() - WriteMulti.WRITES;
    if (bytes % WriteMulti.WRITE_BYTES != 0 || count != bytes / WriteMulti.WRITE_BYTES) {
      throw Refusal.invalid("%d writes in %d bytes".formatted(count, bytes));
    }
    for (int i = 0; i < count; i++) {
      int at = WriteMulti.WRITES + i * WriteMulti.WRITE_BYTES;
      int width = request.getInt(at + RegionAccess.COUNT);
      if (width > Long.BYTES) {
        throw Refusal.invalid("a write of %d bytes among many".formatted(width));
      }
      writeRegion(request, at, width);
    }
    reply.reply(request, WriteMulti.WRITES);
    reply.putLong(WriteMulti.COUNT, count);
  }
}

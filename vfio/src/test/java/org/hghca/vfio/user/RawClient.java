package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import org.hghca.linux.Linux;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.user.UserStructures.DmaMap;
import org.hghca.vfio.user.UserStructures.DmaUnmap;
import org.hghca.vfio.user.UserStructures.IrqSet;
import org.hghca.vfio.user.UserStructures.RegionAccess;

/** A client that sends exactly the messages of a test, one command after another. */
final class RawClient implements AutoCloseable {
  static final int MOST = 2 << 20;

  final SystemCalls linux = Linux.system();
  final UserMessage out = new UserMessage(MOST, UserChannel.MAX_DESCRIPTORS);
  final UserMessage in = new UserMessage(MOST, UserChannel.MAX_DESCRIPTORS);
  final UserChannel channel;
  private int id;

  private RawClient(String path) {
    channel = UserChannel.connect(Linux.system(), path, ChannelPair.PATIENCE);
  }

  /** Connects without sending a message. */
  static RawClient connect(String path) {
    return new RawClient(path);
  }

  /** Connects and negotiates the version. */
  static RawClient greeted(String path) {
    RawClient client = connect(path);
    assertThat(client.greet("{\"capabilities\":{\"max_msg_fds\":16,\"write_multiple\":true}}"))
        .isZero();
    return client;
  }

  int greet(String capabilities) {
    return greet((capabilities + "\0").getBytes(StandardCharsets.UTF_8));
  }

  int greet(byte... text) {
    begin(UserCommand.VERSION, 4 + text.length);
    out.putInt(0, 0);
    for (int i = 0; i < text.length; i++) {
      out.putByte(4 + i, text[i]);
    }
    return call();
  }

  /** The text of the version reply. */
  String text() {
    return new String(
        in.memory()
            .asSlice(UserMessage.HEADER_BYTES + 4L, in.payloadBytes() - 4L)
            .toArray(ValueLayout.JAVA_BYTE),
        StandardCharsets.US_ASCII);
  }

  void begin(UserCommand command, int payload) {
    out.command(++id, command, 0, payload);
    for (int i = 0; i < payload; i++) {
      out.putByte(i, 0);
    }
  }

  /**
   * Sends the started message and waits for its reply.
   *
   * @return 0, or the error number
   */
  int call() {
    channel.send(out);
    return awaitReply();
  }

  int awaitReply() {
    assertThat(channel.receive(in)).as("the server replies").isTrue();
    assertThat(in.isReply()).isTrue();
    assertThat(in.id()).isEqualTo(out.id());
    assertThat(in.command()).isEqualTo(out.command());
    if (in.isFailed()) {
      assertThat(in.payloadBytes()).isZero();
      assertThat(in.error()).isPositive();
    }
    return in.isFailed() ? in.error() : 0;
  }

  /** Prepares a map; a descriptor may be attached. */
  void beginMap(long address, long length, long fileOffset, int flags) {
    begin(UserCommand.DMA_MAP, DmaMap.BYTES);
    out.putInt(DmaMap.ARGSZ, DmaMap.BYTES);
    out.putInt(DmaMap.FLAGS, flags);
    out.putLong(DmaMap.OFFSET, fileOffset);
    out.putLong(DmaMap.ADDRESS, address);
    out.putLong(DmaMap.LENGTH, length);
  }

  /** Maps for reading and writing. */
  int map(long address, long length, int descriptor, long fileOffset) {
    beginMap(address, length, fileOffset, DmaMap.FLAG_READ | DmaMap.FLAG_WRITE);
    if (descriptor >= 0) {
      out.attach(descriptor);
    }
    return call();
  }

  int unmap(long address, long length, int flags) {
    begin(UserCommand.DMA_UNMAP, DmaUnmap.BYTES);
    out.putInt(DmaUnmap.ARGSZ, DmaUnmap.BYTES);
    out.putInt(DmaUnmap.FLAGS, flags);
    out.putLong(DmaUnmap.ADDRESS, address);
    out.putLong(DmaUnmap.LENGTH, length);
    return call();
  }

  int setInterrupts(int index, int flags, int start, int count, int... events) {
    begin(UserCommand.DEVICE_SET_IRQS, IrqSet.DATA);
    out.putInt(IrqSet.ARGSZ, IrqSet.DATA);
    out.putInt(IrqSet.FLAGS, flags);
    out.putInt(IrqSet.INDEX, index);
    out.putInt(IrqSet.START, start);
    out.putInt(IrqSet.COUNT, count);
    for (int event : events) {
      out.attach(event);
    }
    return call();
  }

  void beginAccess(UserCommand command, int region, long offset, int count, int data) {
    begin(command, RegionAccess.DATA + data);
    out.putLong(RegionAccess.OFFSET, offset);
    out.putInt(RegionAccess.REGION, region);
    out.putInt(RegionAccess.COUNT, count);
  }

  int read(int region, long offset, int count) {
    beginAccess(UserCommand.REGION_READ, region, offset, count, 0);
    return call();
  }

  int write(int region, long offset, int width, long value) {
    beginWrite(region, offset, width, value);
    return call();
  }

  void beginWrite(int region, long offset, int width, long value) {
    beginAccess(UserCommand.REGION_WRITE, region, offset, width, width);
    for (int i = 0; i < width; i++) {
      out.putByte(RegionAccess.DATA + i, (int) (value >> 8 * i));
    }
  }

  /** Marks the started message as one without a reply, and sends it. */
  void post() {
    out.memory().set(ValueLayout.JAVA_INT, UserMessage.FLAGS, UserMessage.NO_REPLY);
    channel.send(out);
  }

  /** A memory file of a length, open. */
  int memory(long bytes) {
    int file = linux.memfdCreate("client", 1);
    assertThat(file).isNotNegative();
    assertThat(linux.ftruncate(file, bytes)).isZero();
    return file;
  }

  int event() {
    int event = linux.eventfd(0, 0x8_0800);
    assertThat(event).isNotNegative();
    return event;
  }

  /** The count of an event since the last read. */
  long count(int event) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment count = arena.allocate(8, 8);
      return linux.read(event, count) == 8 ? count.get(ValueLayout.JAVA_LONG, 0) : 0;
    }
  }

  void put(int file, long offset, long value) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = arena.allocate(8, 8);
      bytes.set(ValueLayout.JAVA_LONG, 0, value);
      assertThat(linux.pwrite(file, bytes, offset)).isEqualTo(8);
    }
  }

  long get(int file, long offset) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = arena.allocate(8, 8);
      assertThat(linux.pread(file, bytes, offset)).isEqualTo(8);
      return bytes.get(ValueLayout.JAVA_LONG, 0);
    }
  }

  @Override
  public void close() {
    in.closeDescriptors(linux);
    channel.close();
    in.close();
    out.close();
  }
}

package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.hghca.linux.Linux;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.user.UserStructures.DeviceInfo;
import org.hghca.vfio.user.UserStructures.DmaMap;
import org.hghca.vfio.user.UserStructures.DmaTransfer;
import org.hghca.vfio.user.UserStructures.DmaUnmap;
import org.hghca.vfio.user.UserStructures.IrqInfo;
import org.hghca.vfio.user.UserStructures.IrqSet;
import org.hghca.vfio.user.UserStructures.RegionAccess;
import org.hghca.vfio.user.UserStructures.RegionInfo;

/**
 * A server for tests of the client: records every command and answers as the protocol says, or as a
 * test tells it. BAR0 and BAR2 are trapped memory of 64 KiB, a test defines BAR4, and there are
 * four MSI-X vectors.
 */
final class FakeServer implements AutoCloseable {
  private static final int MOST = 2 << 20;

  /** Answers a command: fills a started {@code reply}, or sends no reply at all. */
  interface Answer {
    /** Returns whether the reply is to be sent. */
    boolean make(UserMessage command, UserMessage reply);
  }

  /** A command of the client, in words. */
  final List<String> calls = new CopyOnWriteArrayList<>();

  final Map<UserCommand, Answer> answers = new ConcurrentHashMap<>();

  final byte[] configuration = new byte[4096];
  final byte[] registers = new byte[0x1_0000];

  /** The client's memory with a descriptor, by I/O address, while it is mapped. */
  final Map<Long, MemorySegment> shared = new ConcurrentHashMap<>();

  /** The eventfds by vector. */
  final Map<Integer, Integer> events = new ConcurrentHashMap<>();

  /** What the client replied: header and payload. */
  final BlockingQueue<UserMessage> replies = new LinkedBlockingQueue<>();

  String version = "{\"capabilities\":{\"max_msg_fds\":8}}";
  int deviceFlags = DeviceInfo.FLAG_RESET | DeviceInfo.FLAG_PCI;

  /** Flags and count by interrupt index. */
  final Map<Integer, int[]> interrupts =
      new ConcurrentHashMap<>(Map.of(IrqInfo.MSIX, new int[] {IrqInfo.FLAG_EVENTFD, 4}));

  final Path socket;
  private final SystemCalls linux = Linux.system();
  private final int listening;
  private final Thread thread = new Thread(this::serve, "fake server");
  private final CountDownLatch connected = new CountDownLatch(1);
  private volatile UserChannel channel;
  private volatile Throwable failure;

  FakeServer(Path directory) {
    socket = directory.resolve("fake.sock");
    configuration[0] = 0x34;
    configuration[1] = 0x12;
    configuration[2] = 0x21;
    configuration[3] = 0x43;
    listening = UserSocket.create(linux);
    UserSocket.block(linux, listening);
    try (Arena arena = Arena.ofConfined()) {
      assertThat(linux.bind(listening, UserSocket.address(arena, socket.toString()))).isZero();
      assertThat(linux.listen(listening, 1)).isZero();
    }
    Map<UserCommand, Answer> usual = new EnumMap<>(UserCommand.class);
    usual.put(UserCommand.VERSION, this::version);
    usual.put(UserCommand.DEVICE_GET_INFO, this::deviceInfo);
    usual.put(UserCommand.DEVICE_GET_REGION_INFO, this::regionInfo);
    usual.put(UserCommand.DEVICE_GET_IRQ_INFO, this::interruptInfo);
    usual.put(UserCommand.DEVICE_SET_IRQS, this::setInterrupts);
    usual.put(UserCommand.REGION_READ, this::read);
    usual.put(UserCommand.REGION_WRITE, this::write);
    usual.put(UserCommand.DMA_MAP, this::map);
    usual.put(UserCommand.DMA_UNMAP, this::unmap);
    usual.put(UserCommand.DEVICE_RESET, FakeServer::header);
    answers.putAll(usual);
    thread.start();
  }

  String locator() {
    return "vfio-user:" + socket;
  }

  private void serve() {
    int accepted = linux.accept(listening, UserSocket.SOCK_CLOEXEC);
    if (accepted < 0) {
      return; // closed before a client connected
    }
    channel = new UserChannel(linux, accepted, ChannelPair.PATIENCE);
    connected.countDown();
    try (UserMessage command = new UserMessage(MOST, 64);
        UserMessage reply = new UserMessage(MOST, 64)) {
      serve(command, reply);
    }
  }

  private void serve(UserMessage command, UserMessage reply) {
    try {
      while (channel.receive(command)) {
        if (command.isReply()) {
          replies.add(command.moved());
        } else {
          answer(command, reply);
        }
      }
    } catch (VfioException e) {
      // The client has ended the connection, or a test this server.
    } catch (Throwable e) {
      failure = e;
    } finally {
      command.closeDescriptors(linux);
      channel.close();
    }
  }

  private void answer(UserMessage command, UserMessage reply) {
    calls.add(describe(command));
    UserCommand known = known(command.command());
    Answer answer = answers.get(known);
    boolean made = answer.make(command, reply);
    if (made && command.wantsReply()) {
      channel.send(reply);
    }
  }

  private static UserCommand known(int code) {
    for (UserCommand command : UserCommand.values()) {
      if (command.is(code)) {
        return command;
      }
    }
    throw new AssertionError("unknown command " + code);
  }

  private static String describe(UserMessage message) {
    String name = UserCommand.describe(message.command());
    String text =
        switch (known(message.command())) {
          case REGION_READ, REGION_WRITE ->
              "%s %d 0x%x %d%s"
                  .formatted(
                      name,
                      message.getInt(RegionAccess.REGION),
                      message.getLong(RegionAccess.OFFSET),
                      message.getInt(RegionAccess.COUNT),
                      message.payloadBytes() > RegionAccess.DATA
                          ? " = 0x%x".formatted(data(message))
                          : "");
          case DEVICE_GET_REGION_INFO, DEVICE_GET_IRQ_INFO ->
              "%s %d".formatted(name, message.getInt(RegionInfo.INDEX));
          case DEVICE_SET_IRQS ->
              "%s %d flags 0x%x %d+%d"
                  .formatted(
                      name,
                      message.getInt(IrqSet.INDEX),
                      message.getInt(IrqSet.FLAGS),
                      message.getInt(IrqSet.START),
                      message.getInt(IrqSet.COUNT));
          case DMA_MAP ->
              "%s 0x%x+0x%x flags %d"
                  .formatted(
                      name,
                      message.getLong(DmaMap.ADDRESS),
                      message.getLong(DmaMap.LENGTH),
                      message.getInt(DmaMap.FLAGS));
          case DMA_UNMAP ->
              "%s 0x%x+0x%x"
                  .formatted(
                      name, message.getLong(DmaUnmap.ADDRESS), message.getLong(DmaUnmap.LENGTH));
          default -> name;
        };
    return text
        + (message.descriptors() > 0 ? " with %d".formatted(message.descriptors()) : "")
        + (message.wantsReply() ? "" : " posted");
  }

  private static long data(UserMessage message) {
    long value = 0;
    for (int i = message.getInt(RegionAccess.COUNT) - 1; i >= 0; i--) {
      value = value << 8 | message.getByte(RegionAccess.DATA + i);
    }
    return value;
  }

  /** A reply that is a header alone. */
  static boolean header(UserMessage command, UserMessage reply) {
    reply.reply(command, 0);
    return true;
  }

  /** An answer with an error. */
  static Answer refuse(int error) {
    return (command, reply) -> {
      reply.failure(command, error);
      return true;
    };
  }

  private boolean version(UserMessage command, UserMessage reply) {
    version(command, reply, 0, 0, version);
    return true;
  }

  static void version(UserMessage command, UserMessage reply, int major, int minor, String text) {
    byte[] bytes = (text + "\0").getBytes(StandardCharsets.US_ASCII);
    reply.reply(command, 4 + bytes.length);
    reply.putShort(0, major);
    reply.putShort(2, minor);
    reply.put(4, MemorySegment.ofArray(bytes), 0, bytes.length);
  }

  private boolean deviceInfo(UserMessage command, UserMessage reply) {
    reply.reply(command, DeviceInfo.BYTES);
    reply.putInt(DeviceInfo.ARGSZ, DeviceInfo.BYTES);
    reply.putInt(DeviceInfo.FLAGS, deviceFlags);
    reply.putInt(DeviceInfo.REGIONS, RegionInfo.REGIONS);
    reply.putInt(DeviceInfo.INTERRUPTS, IrqInfo.INDICES);
    return true;
  }

  private boolean regionInfo(UserMessage command, UserMessage reply) {
    int index = command.getInt(RegionInfo.INDEX);
    long size =
        switch (index) {
          case 0, 2 -> registers.length;
          case RegionInfo.CONFIGURATION -> configuration.length;
          default -> 0;
        };
    region(command, reply, RegionInfo.FLAG_READ | RegionInfo.FLAG_WRITE, size, 0, 0);
    return true;
  }

  /** Describes the requested region; room for its capabilities is left behind. */
  static void region(
      UserMessage command, UserMessage reply, int flags, long size, long offset, int capabilities) {
    reply.reply(command, RegionInfo.BYTES + capabilities);
    reply.putInt(RegionInfo.ARGSZ, RegionInfo.BYTES + capabilities);
    reply.putInt(RegionInfo.FLAGS, flags);
    reply.putInt(RegionInfo.INDEX, command.getInt(RegionInfo.INDEX));
    reply.putInt(RegionInfo.CAP_OFFSET, capabilities > 0 ? RegionInfo.BYTES : 0);
    reply.putLong(RegionInfo.LENGTH, size);
    reply.putLong(RegionInfo.OFFSET, offset);
  }

  private boolean interruptInfo(UserMessage command, UserMessage reply) {
    int index = command.getInt(IrqInfo.INDEX);
    int[] info = interrupts.getOrDefault(index, new int[2]);
    reply.reply(command, IrqInfo.BYTES);
    reply.putInt(IrqInfo.ARGSZ, IrqInfo.BYTES);
    reply.putInt(IrqInfo.FLAGS, info[0]);
    reply.putInt(IrqInfo.INDEX, index);
    reply.putInt(IrqInfo.COUNT, info[1]);
    return true;
  }

  private boolean setInterrupts(UserMessage command, UserMessage reply) {
    int start = command.getInt(IrqSet.START);
    for (int i = 0; i < command.descriptors(); i++) {
      Integer before = events.put(start + i, command.take(i));
      if (before != null) {
        linux.close(before);
      }
    }
    return header(command, reply);
  }

  /** Signals a vector. */
  void raise(int vector) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment one = arena.allocate(ValueLayout.JAVA_LONG);
      one.set(ValueLayout.JAVA_LONG, 0, 1);
      assertThat(linux.write(events.get(vector), one)).isEqualTo(8);
    }
  }

  private byte[] bytes(int region) {
    return region == RegionInfo.CONFIGURATION ? configuration : registers;
  }

  boolean read(UserMessage command, UserMessage reply) {
    int count = command.getInt(RegionAccess.COUNT);
    int offset = (int) command.getLong(RegionAccess.OFFSET);
    byte[] bytes = bytes(command.getInt(RegionAccess.REGION));
    reply.reply(command, RegionAccess.DATA + count);
    reply.put(0, command.memory(), UserMessage.HEADER_BYTES, RegionAccess.DATA);
    reply.put(RegionAccess.DATA, MemorySegment.ofArray(bytes), offset, count);
    return true;
  }

  boolean write(UserMessage command, UserMessage reply) {
    int count = command.getInt(RegionAccess.COUNT);
    int offset = (int) command.getLong(RegionAccess.OFFSET);
    byte[] bytes = bytes(command.getInt(RegionAccess.REGION));
    command.get(RegionAccess.DATA, MemorySegment.ofArray(bytes), offset, count);
    reply.reply(command, RegionAccess.DATA);
    reply.put(0, command.memory(), UserMessage.HEADER_BYTES, RegionAccess.DATA);
    return true;
  }

  @SuppressWarnings("restricted")
  private boolean map(UserMessage command, UserMessage reply) {
    if (command.descriptors() > 0) {
      long length = command.getLong(DmaMap.LENGTH);
      long address =
          linux.mmap(length, 3, 1, command.descriptor(0), command.getLong(DmaMap.OFFSET));
      assertThat(address).isPositive();
      shared.put(
          command.getLong(DmaMap.ADDRESS), MemorySegment.ofAddress(address).reinterpret(length));
    }
    return header(command, reply);
  }

  private boolean unmap(UserMessage command, UserMessage reply) {
    MemorySegment memory = shared.remove(command.getLong(DmaUnmap.ADDRESS));
    if (memory != null) {
      linux.munmap(memory.address(), memory.byteSize());
    }
    reply.reply(command, DmaUnmap.BYTES);
    reply.put(0, command.memory(), UserMessage.HEADER_BYTES, DmaUnmap.BYTES);
    return true;
  }

  /** The connection, for arbitrary messages of a test. */
  UserChannel channel() throws InterruptedException {
    assertThat(connected.await(30, TimeUnit.SECONDS)).isTrue();
    return channel;
  }

  /** The connection of the command that is being answered. */
  UserChannel channelNow() {
    return channel;
  }

  /** A command to the client that reads memory. */
  static UserMessage dmaRead(int id, long address, long count) {
    UserMessage message = new UserMessage(MOST, 1);
    message.command(id, UserCommand.DMA_READ, 0, DmaTransfer.DATA);
    message.putLong(DmaTransfer.ADDRESS, address);
    message.putLong(DmaTransfer.COUNT, count);
    return message;
  }

  /** A command to the client that writes memory. */
  static UserMessage dmaWrite(int id, long address, byte... bytes) {
    UserMessage message = new UserMessage(MOST, 1);
    message.command(id, UserCommand.DMA_WRITE, 0, DmaTransfer.DATA + bytes.length);
    message.putLong(DmaTransfer.ADDRESS, address);
    message.putLong(DmaTransfer.COUNT, bytes.length);
    message.put(DmaTransfer.DATA, MemorySegment.ofArray(bytes), 0, bytes.length);
    return message;
  }

  /** Sends a command and waits for the client's reply. */
  UserMessage ask(UserMessage command) throws InterruptedException {
    channel().send(command);
    UserMessage reply = replies.poll(30, TimeUnit.SECONDS);
    assertThat(reply).as("reply to command %d", command.id()).isNotNull();
    assertThat(reply.id()).isEqualTo(command.id());
    assertThat(reply.command()).isEqualTo(command.command());
    return reply;
  }

  /** The commands since the last call. */
  List<String> newCalls() {
    List<String> taken = new ArrayList<>(calls);
    calls.clear();
    return taken;
  }

  /** Ends the service of the client. */
  void hangUp() throws InterruptedException {
    channel().close();
    thread.join();
  }

  @Override
  public void close() {
    linux.shutdown(listening, 2);
    UserChannel accepted = channel;
    if (accepted != null) {
      accepted.close();
    }
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (channel != null) {
      channel.close(); // it arrived during this close
    }
    linux.close(listening);
    events.values().forEach(linux::close);
    shared.values().forEach(memory -> linux.munmap(memory.address(), memory.byteSize()));
    assertThat(failure).isNull();
  }
}

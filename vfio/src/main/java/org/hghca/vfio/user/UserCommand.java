package org.hghca.vfio.user;

import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The commands of the protocol, by their codes. */
enum UserCommand {
  VERSION(1),
  DMA_MAP(2),
  DMA_UNMAP(3),
  DEVICE_GET_INFO(4),
  DEVICE_GET_REGION_INFO(5),
  DEVICE_GET_REGION_IO_FDS(6),
  DEVICE_GET_IRQ_INFO(7),
  DEVICE_SET_IRQS(8),
  REGION_READ(9),
  REGION_WRITE(10),

  /** Sent by the server, as {@link #DMA_WRITE} is; the client sends all the others. */
  DMA_READ(11),
  DMA_WRITE(12),
  DEVICE_RESET(13),

  /** Of an older edition of the protocol. */
  DIRTY_PAGES(14),
  REGION_WRITE_MULTI(15),
  DEVICE_FEATURE(16),
  MIGRATION_DATA_READ(17),
  MIGRATION_DATA_WRITE(18),

  /**
   * Of this project: gives the server a {@link RegisterRing}, if both ends have announced {@link
   * VersionText#REGISTER_RING}.
   */
  REGISTER_RING(0x6867),

  /** Of this project: the ring has writes, and the server's poller sleeps. */
  LOOK_AT_RING(0x6868);

  private static final Map<Integer, UserCommand> BY_CODE =
      Arrays.stream(values()).collect(Collectors.toMap(UserCommand::code, Function.identity()));

  private final int code;

  UserCommand(int code) {
    this.code = code;
  }

  int code() {
    return code;
  }

  /** Whether a code is this command's. */
  boolean is(int other) {
    return code == other;
  }

  /** The name of a code, known or not, for messages to people. */
  static String describe(int code) {
    UserCommand command = BY_CODE.get(code);
    return command == null ? "command " + code : command.name();
  }
}

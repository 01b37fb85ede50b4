package org.hghca.model.virtio;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Optional;
import org.hghca.model.card.HostMemory;
import org.hghca.virtio.abi.net.NetControl;
import org.hghca.virtio.abi.roce.Dialect;

/**
 * Executes the commands of the control queue. What is unknown, too short or malformed is answered
 * with an error; a command without a byte for the answer is not executed. Used in steps of the
 * card.
 */
final class ControlCommands {
  private static final int MAC_BYTES = 6;
  private static final int COUNT_BYTES = 4;

  /** Bytes of the longest command: two tables of addresses, twice as many as are kept. */
  private static final int MOST =
      NetControl.HEADER_SIZE + 2 * COUNT_BYTES + 4 * ReceiveMode.MOST * MAC_BYTES;

  private static final ValueLayout.OfInt COUNT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final HostMemory host;
  private final ReceiveMode mode;
  private final Optional<Dialect> dialect;
  private final RoceCommands roce;
  private final MemorySegment command = Arena.ofAuto().allocate(MOST, 8);
  private final MemorySegment answer = Arena.ofAuto().allocate(NetControl.ACK_SIZE);
  private long count;

  /**
   * @param dialect of the RoCE queues, if there are any
   * @param roce executes their commands
   */
  ControlCommands(HostMemory host, ReceiveMode mode, Optional<Dialect> dialect, RoceCommands roce) {
    this.host = host;
    this.mode = mode;
    this.dialect = dialect;
    this.roce = roce;
  }

  /** How many were executed. */
  long count() {
    return count;
  }

  /**
   * Executes a command.
   *
   * @param features that were negotiated
   * @return the bytes that were written into the chain
   */
  int execute(Chain chain, long features) throws QueueException {
    if (chain.writableBytes() < NetControl.ACK_SIZE) {
      return 0;
    }
    count++;
    int length = (int) Math.min(chain.readableBytes(), MOST);
    chain.read(host, 0, command, length);
    if (length >= NetControl.HEADER_SIZE && isRoce(features)) {
      return roce.execute(NetControl.COMMAND.get(command, 0), chain);
    }
    boolean done = length >= NetControl.HEADER_SIZE && execute(chain, length);
    answer.set(ValueLayout.JAVA_BYTE, 0, (byte) (done ? NetControl.OK : NetControl.ERROR));
    chain.write(host, 0, answer, NetControl.ACK_SIZE);
    return NetControl.ACK_SIZE;
  }

  private boolean isRoce(long features) {
    int type = NetControl.CLASS.get(command, 0);
    return dialect
        .filter(spoken -> spoken.controlClass() == type)
        .filter(spoken -> (features & 1L << spoken.feature()) != 0)
        .isPresent();
  }

  private boolean execute(Chain chain, int length) throws QueueException {
    int code = NetControl.COMMAND.get(command, 0);
    return switch (NetControl.CLASS.get(command, 0)) {
      case NetControl.CLASS_RX -> length > NetControl.HEADER_SIZE && receive(code);
      case NetControl.CLASS_MAC -> mac(code, chain, length);
      default -> false;
    };
  }

  private boolean receive(int code) {
    boolean on = command.get(ValueLayout.JAVA_BYTE, NetControl.HEADER_SIZE) != 0;
    switch (code) {
      case NetControl.RX_PROMISCUOUS -> mode.promiscuous(on);
      case NetControl.RX_ALL_MULTICAST -> mode.allMulticast(on);
      default -> {
        return false;
      }
    }
    return true;
  }

  private boolean mac(int code, Chain chain, int length) throws QueueException {
    if (code == NetControl.MAC_ADDRESS_SET && length == NetControl.HEADER_SIZE + MAC_BYTES) {
      mode.own(macAt(NetControl.HEADER_SIZE));
      return true;
    }
    return code == NetControl.MAC_TABLE_SET && tables(chain);
  }

  /** Both tables, of which only the first entries are kept. */
  private boolean tables(Chain chain) throws QueueException {
    long second = behindTable(chain, NetControl.HEADER_SIZE);
    if (second < 0 || behindTable(chain, second) < 0) {
      return false;
    }
    long[] unicast = table(chain, NetControl.HEADER_SIZE);
    long[] multicast = table(chain, second);
    mode.unicast(unicast.length > ReceiveMode.MOST, unicast);
    mode.multicast(multicast.length > ReceiveMode.MOST, multicast);
    return true;
  }

  /** The offset behind a table; -1 when the command ends before that. */
  private long behindTable(Chain chain, long at) throws QueueException {
    if (chain.readableBytes() < at + COUNT_BYTES) {
      return -1;
    }
    long end = at + COUNT_BYTES + entries(chain, at) * MAC_BYTES;
    return end <= chain.readableBytes() ? end : -1;
  }

  private long entries(Chain chain, long at) throws QueueException {
    chain.read(host, at, command, COUNT_BYTES);
    return Integer.toUnsignedLong(command.get(COUNT, 0));
  }

  /** Up to one address more than are kept. */
  private long[] table(Chain chain, long at) throws QueueException {
    int kept = (int) Math.min(entries(chain, at), ReceiveMode.MOST + 1);
    chain.read(host, at + COUNT_BYTES, command, (long) kept * MAC_BYTES);
    long[] macs = new long[kept];
    for (int i = 0; i < kept; i++) {
      macs[i] = macAt(i * MAC_BYTES);
    }
    return macs;
  }

  private long macAt(int at) {
    long mac = 0;
    for (int i = 0; i < MAC_BYTES; i++) {
      mac = mac << 8 | command.get(ValueLayout.JAVA_BYTE, at + (long) i) & 0xff;
    }
    return mac;
  }
}

package org.hghca.wire.shm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;

/**
 * A connection between two members: messages with descriptors, SOCK_SEQPACKET of UNIX. Nothing
 * blocks. Used by one thread at a time.
 *
 * <pre>
 * struct msghdr (56)                struct cmsghdr (16, then the descriptors)
 *  10h iovec, 18h their number       00h its length
 *  20h control, 28h its length       08h level SOL_SOCKET
 *  30h flags                         0Ch type SCM_RIGHTS
 * </pre>
 */
final class MemberSocket {
  static final int UNIX = 1;
  static final int SEQPACKET = 5;
  static final int NONBLOCK_CLOSE_ON_EXEC = 0x800 | 0x8_0000;

  /** The most descriptors of a message. */
  private static final int MOST = 2;

  private static final int SOL_SOCKET = 1;
  private static final int SO_PEERCRED = 17;
  private static final int SCM_RIGHTS = 1;
  private static final int DONT_WAIT_NO_SIGNAL = 0x40 | 0x4000;
  private static final int DONT_WAIT_CLOSE_ON_EXEC = 0x40 | 0x4000_0000;
  private static final int VECTOR = 56;
  private static final int CONTROL = VECTOR + 16;
  private static final int CONTROL_HEADER = 16;
  private static final int CONTROL_BYTES = CONTROL_HEADER + 8 * MOST; // room to notice too many
  private static final int DATA = CONTROL + CONTROL_BYTES;
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

  private final SystemCalls linux;
  private final int socket;
  private final MemorySegment memory = Arena.ofAuto().allocate(DATA + Greeting.BYTES, 8);

  /** The descriptors of the last message, which whoever received it closes. */
  private final int[] descriptors = new int[MOST];

  private int received;

  MemberSocket(SystemCalls linux, int socket) {
    this.linux = linux;
    this.socket = socket;
    memory.set(LONG, 0x10, memory.address() + VECTOR);
    memory.set(LONG, 0x18, 1);
    memory.set(LONG, VECTOR, memory.address() + DATA);
  }

  int descriptor() {
    return socket;
  }

  /** The user of the other end, -1 where the system does not say. */
  int user() {
    return credential(4);
  }

  /** The process of the other end, -1 where the system does not say. */
  int process() {
    return credential(0);
  }

  private int credential(int at) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment credentials = arena.allocate(12, 4);
      int answer = linux.getsockopt(socket, SOL_SOCKET, SO_PEERCRED, credentials);
      return answer < 0 ? -1 : credentials.get(INT, at);
    }
  }

  /**
   * Sends a message.
   *
   * @return 0 or a negative error number; EAGAIN where the other end reads nothing
   */
  int send(ByteBuffer message, int... withDescriptors) {
    int length = message.remaining();
    memory.asSlice(DATA, length).copyFrom(MemorySegment.ofBuffer(message));
    memory.set(LONG, VECTOR + 8L, length);
    int control = CONTROL_HEADER + 4 * withDescriptors.length;
    memory.set(LONG, 0x20, memory.address() + CONTROL);
    memory.set(LONG, 0x28, control + 7 & -8);
    memory.set(LONG, CONTROL, control);
    memory.set(INT, CONTROL + 8L, SOL_SOCKET);
    memory.set(INT, CONTROL + 12L, SCM_RIGHTS);
    for (int i = 0; i < withDescriptors.length; i++) {
      memory.set(INT, CONTROL + CONTROL_HEADER + 4L * i, withDescriptors[i]);
    }
    long answer;
    do {
      answer = linux.sendmsg(socket, memory, DONT_WAIT_NO_SIGNAL);
    } while (LinuxErrno.EINTR.is(answer));
    return answer < 0 ? (int) answer : 0;
  }

  /**
   * Receives a message.
   *
   * @return null where there is none
   * @throws ProtocolException when the other end is gone, or has sent what is no message
   */
  ByteBuffer receive() throws ProtocolException {
    memory.set(LONG, VECTOR + 8L, Greeting.BYTES);
    memory.set(LONG, 0x20, memory.address() + CONTROL);
    memory.set(LONG, 0x28, CONTROL_BYTES);
    memory.set(INT, 0x30, 0);
    received = 0;
    long answer;
    do {
      answer = linux.recvmsg(socket, memory, DONT_WAIT_CLOSE_ON_EXEC);
    } while (LinuxErrno.EINTR.is(answer));
    if (LinuxErrno.EAGAIN.is(answer)) {
      return null;
    }
    takeDescriptors(answer >= 0);
    if (answer <= 0) {
      closeDescriptors();
      throw new ProtocolException("end of the connection", answer);
    }
    byte[] bytes = new byte[(int) answer];
    MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, DATA, bytes, 0, bytes.length);
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private void takeDescriptors(boolean isMessage) {
    long control = memory.get(LONG, 0x28);
    if (!isMessage || control < CONTROL_HEADER || memory.get(INT, CONTROL + 12L) != SCM_RIGHTS) {
      return;
    }
    int count = (int) (memory.get(LONG, CONTROL) - CONTROL_HEADER) / 4;
    for (int i = 0; i < count; i++) {
      int descriptor = memory.get(INT, CONTROL + CONTROL_HEADER + 4L * i);
      if (received < MOST) {
        descriptors[received++] = descriptor;
      } else {
        linux.close(descriptor);
      }
    }
  }

  /** Takes a descriptor of the last message, -1 where it has none left. */
  int takeDescriptor() {
    if (received == 0) {
      return -1;
    }
    int first = descriptors[0];
    System.arraycopy(descriptors, 1, descriptors, 0, --received);
    return first;
  }

  /** Closes the descriptors of the last message that nobody took. */
  void closeDescriptors() {
    while (received > 0) {
      linux.close(takeDescriptor());
    }
  }

  void close() {
    closeDescriptors();
    linux.close(socket);
  }
}

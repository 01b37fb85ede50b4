package org.hghca.driver.rtl.ring;

import static org.hghca.driver.ring.SendOpcodeTable.ATOMIC;
import static org.hghca.driver.ring.SendOpcodeTable.DATAGRAM;
import static org.hghca.driver.ring.SendOpcodeTable.HAS_REMOTE_ADDRESS;
import static org.hghca.driver.ring.SendOpcodeTable.INLINE;
import static org.hghca.driver.ring.SendOpcodeTable.SPECIAL;

import java.util.function.IntUnaryOperator;
import org.hghca.abi.NextUnit;
import org.hghca.abi.WqeOpcode;
import org.hghca.driver.memory.KeyedMemory;
import org.hghca.driver.ring.SendOpcodeTable;
import org.hghca.driver.ring.SendWriter;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.Errno;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WrOpcode;

/**
 * The checks of a send request for a card that stops at a bad one: it has at least one byte, from
 * memory of the queue pair's protection domain, to an address that is safe for all packets; and a
 * READ from a queue pair of the same device, whose memory is known, must be permitted there. Under
 * the ring's lock.
 */
public final class SendChecks {
  /** The protection domain of an unknown queue pair. */
  public static final int UNKNOWN = -1;

  private static final int NO_PEER = -1;

  /** In an operation: the bit that the opcodes of READs and atomics have in common. */
  private static final int ANSWERED = WqeOpcode.RDMA_READ << NextUnit.OPCODE_SHIFT;

  private final RequestMemory memory;
  private final IntUnaryOperator domainOf;
  private final int readLog;
  private int mtuLog = 8;
  private int peer = NO_PEER;

  /**
   * Checks for a queue pair.
   *
   * @param domainOf the number of the protection domain of a queue pair of this device, or {@link
   *     #UNKNOWN}
   * @param mostOfRead number of bytes that a READ fetches at a time, a power of two
   */
  public SendChecks(RequestMemory memory, IntUnaryOperator domainOf, int mostOfRead) {
    this.memory = memory;
    this.domainOf = domainOf;
    this.readLog = 31 - Integer.numberOfLeadingZeros(mostOfRead);
  }

  /**
   * Sets the destination of requests from now on.
   *
   * @param packetLog logarithm of the largest packet's bytes: 8 to 12
   */
  void path(int packetLog) {
    mtuLog = packetLog;
    peer = NO_PEER;
  }

  /** Sets the destination of requests from now on: a queue pair of this device. */
  void path(int packetLog, int qpn) {
    mtuLog = packetLog;
    peer = qpn;
  }

  /** Whether the answer of a request has data: a READ or an atomic. */
  static boolean isAnswered(int operation) {
    return (operation & ANSWERED) != 0;
  }

  /**
   * Checks a request.
   *
   * @param index its index in the caller's list
   * @return the bytes of its message
   * @throws BadRequestException EINVAL, or EOPNOTSUPP for an unsupported request
   */
  long check(SendRequest request, int operation, int index) {
    boolean plain = (operation & (SPECIAL | INLINE | ANSWERED)) == 0;
    long bytes = plain ? bytes(request, index) : unusualBytes(request, operation, index);
    if (bytes == 0) {
      throw new BadRequestException(
          Errno.EOPNOTSUPP,
          index,
          "a message of zero length stops this card: send at least one byte");
    }
    if ((operation & HAS_REMOTE_ADDRESS) != 0) {
      if ((operation & ANSWERED) == 0) {
        checkTarget(request.remoteAddress(), bytes, index);
      } else if (peer != NO_PEER) {
        checkSource(request, bytes, index);
      }
    } else if ((operation & DATAGRAM) == DATAGRAM && bytes > 1L << mtuLog) {
      throw new BadRequestException(
          Errno.EINVAL,
          index,
          "a datagram of %d bytes: the port takes %d".formatted(bytes, 1 << mtuLog));
    }
    return bytes;
  }

  /** As {@link #bytes}, for requests that are not a SEND or a WRITE from memory. */
  private long unusualBytes(SendRequest request, int operation, int index) {
    if ((operation & (SPECIAL | ATOMIC | DATAGRAM)) == SPECIAL) {
      throw unsupported(request, index);
    }
    if ((operation & INLINE) != 0) {
      return inlineBytes(request);
    }
    return SendOpcodeTable.opcode(operation) == WqeOpcode.RDMA_READ
        ? readBytes(request, index)
        : bytes(request, index);
  }

  private static BadRequestException unsupported(SendRequest request, int index) {
    return request.opcode() == WrOpcode.SEND_WITH_IMM
        ? new BadRequestException(
            Errno.EOPNOTSUPP,
            index,
            "SEND_WITH_IMM is not supported: this card sends a wrong immediate; put the value into"
                + " the message")
        : SendWriter.unsupported(request.opcode().toString(), index);
  }

  private static long inlineBytes(SendRequest request) {
    long bytes = 0;
    for (int i = 0; i < request.sgeCount(); i++) {
      bytes += request.sgeLength(i);
    }
    return bytes;
  }

  private long bytes(SendRequest request, int index) {
    int count = request.sgeCount();
    // The common case without a loop, as for writing.
    if (count == 1) {
      int length = request.sgeLength(0);
      if (length != 0) {
        memory.check(request, 0, length, 0, index);
      }
      return length;
    }
    long bytes = 0;
    for (int i = 0; i < count; i++) {
      int length = request.sgeLength(i);
      if (length != 0) {
        memory.check(request, i, length, 0, index);
        bytes += length;
      }
    }
    return bytes;
  }

  /** As {@link #bytes}, for elements that the card writes. */
  private long readBytes(SendRequest request, int index) {
    long bytes = 0;
    int struck = -1;
    int last = -1;
    int elements = 0;
    for (int i = 0; i < request.sgeCount(); i++) {
      int length = request.sgeLength(i);
      if (length != 0) {
        memory.check(request, i, length, AccessFlag.LOCAL_WRITE.bit(), index);
        if (struck < 0 && PageCrossing.mayStrike(request.sgeAddress(i), length, bytes)) {
          struck = i;
        }
        bytes += length;
        elements++;
        last = i;
      }
    }
    if (struck >= 0
        && (elements > 1
            || PageCrossing.strikes(request.sgeAddress(last), bytes, packetLogOfRead(bytes)))) {
      throw RequestMemory.strikes(request, struck, index);
    }
    return bytes;
  }

  /** A long READ is split into pieces, which may also split packets. */
  private int packetLogOfRead(long bytes) {
    return bytes > 1L << readLog ? Math.min(readLog, mtuLog) : mtuLog;
  }

  private void checkTarget(long address, long bytes, int index) {
    if (PageCrossing.strikes(address, bytes, mtuLog)) {
      throw new BadRequestException(
          Errno.EINVAL,
          index,
          ("%d bytes to 0x%x in packets of %d would stop the peer's card: one of them ends less"
                  + " than 32 bytes after the end of a page; write to a multiple of 32, or in parts"
                  + " that do not cross a page")
              .formatted(bytes, address, 1 << mtuLog));
    }
  }

  /** A READ that its target refuses stops the card. */
  private void checkSource(SendRequest request, long bytes, int index) {
    int domain = domainOf.applyAsInt(peer);
    KeyedMemory entry = memory.find(request.rkey());
    String complaint;
    if (entry == null) {
      complaint = "no memory region of this device has it";
    } else if (domain != UNKNOWN && entry.pd() != domain) {
      complaint = "its memory region is of another protection domain than the peer";
    } else if (!entry.contains(request.remoteAddress(), bytes)) {
      complaint =
          "%d bytes at 0x%x do not lie in its memory region, %d bytes at 0x%x"
              .formatted(bytes, request.remoteAddress(), entry.length(), entry.start());
    } else if ((entry.access() & AccessFlag.REMOTE_READ.bit()) == 0) {
      complaint = "its memory region has no REMOTE_READ";
    } else {
      return;
    }
    throw new BadRequestException(
        Errno.EINVAL,
        index,
        "READ with rkey 0x%08x, which would stop the card: %s"
            .formatted(request.rkey(), complaint));
  }
}

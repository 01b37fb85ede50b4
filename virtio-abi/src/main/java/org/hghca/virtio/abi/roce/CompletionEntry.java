package org.hghca.virtio.abi.roce;

import java.lang.foreign.MemorySegment;
import org.hghca.virtio.abi.Bytes;
import org.hghca.virtio.abi.Field;

/** An element of a CQ, which the device writes: {@code virtio_rdma_cq_req}. */
public final class CompletionEntry {
  /** Bytes of the structure. */
  public static final int SIZE = 48;

  /** Number of the request. */
  public static final Field WR_ID = Field.le64("wr_id", 0);

  /** {@link CompletionStatus}. */
  public static final Field STATUS = Field.u8("status", 8);

  /** {@link #SEND} and so on. */
  public static final Field OPCODE = Field.u8("opcode", 9);

  /** Reason of an error that the vendor defines. */
  public static final Field VENDOR_ERROR = Field.le32("vendor_err", 12);

  /** Bytes transferred. */
  public static final Field BYTE_LENGTH = Field.le32("byte_len", 16);

  /** Immediate data, in the order of the wire although the RFC types it le32. */
  public static final Bytes IMMEDIATE = new Bytes("imm_data", 20, 4);

  /** Number of the queue pair. */
  public static final Field QPN = Field.le32("qp_num", 24);

  /** Number of the other queue pair; of UD only. */
  public static final Field SOURCE_QPN = Field.le32("src_qp", 28);

  /** Mask of {@link #FLAG_GRH} and {@link #FLAG_WITH_IMM}. */
  public static final Field FLAGS = Field.le32("wc_flags", 32);

  /** Opcode: a SEND of this side. */
  public static final int SEND = 0;

  /** Opcode: an RDMA WRITE of this side. */
  public static final int RDMA_WRITE = 1;

  /** Opcode: an RDMA READ of this side. */
  public static final int RDMA_READ = 2;

  /** Opcode: a SEND of the other side; libibverbs has 128. */
  public static final int RECV = 3;

  /** Opcode: an RDMA WRITE with immediate data of the other side; libibverbs has 129. */
  public static final int RECV_RDMA_WITH_IMM = 4;

  /** Flag: a global route header precedes the data. */
  public static final int FLAG_GRH = 1;

  /** Flag: there is immediate data. */
  public static final int FLAG_WITH_IMM = 2;

  /** {@link #VENDOR_ERROR}, two bytes of 0, {@link #OPCODE} and {@link #STATUS}, as one number. */
  private static final Field RESULT = Field.le64("vendor_err, opcode, status", 8);

  /** {@link #IMMEDIATE} and {@link #BYTE_LENGTH}, as one number. */
  private static final Field TRANSFER = Field.le64("imm_data, byte_len", 16);

  /** {@link #SOURCE_QPN} and {@link #QPN}, as one number. */
  private static final Field PAIRS = Field.le64("src_qp, qp_num", 24);

  /** Four bytes of 0 and {@link #FLAGS}, as one number; eight bytes of 0 follow. */
  private static final Field LAST = Field.le64("0, wc_flags", 32);

  private static final Field RESERVED = Field.le64("0", 40);

  private CompletionEntry() {}

  /**
   * Writes a whole entry without vendor error, by stores of eight bytes: whoever copies it at once
   * by loads of eight bytes need not wait until smaller stores have left the store buffer.
   *
   * @param at where the entry begins in the segment
   * @param status 8 bits
   * @param opcode 8 bits
   */
  public static void put(
      MemorySegment segment,
      long at,
      long wrId,
      int status,
      int opcode,
      int byteLength,
      int immediate,
      int qpn,
      int sourceQpn,
      int flags) {
    WR_ID.setLong(segment, at, wrId);
    RESULT.setLong(segment, at, opcode << 8 | status);
    TRANSFER.setLong(segment, at, both(byteLength, Integer.reverseBytes(immediate)));
    PAIRS.setLong(segment, at, both(qpn, sourceQpn));
    LAST.setLong(segment, at, Integer.toUnsignedLong(flags));
    RESERVED.setLong(segment, at, 0);
  }

  private static long both(int lower, int upper) {
    return (long) upper << 32 | Integer.toUnsignedLong(lower);
  }

  /**
   * Reads status, opcode and vendor error by one load, for {@link #status}, {@link #opcode} and
   * {@link #vendorError}.
   *
   * @param at where the entry begins in the segment
   */
  public static long result(MemorySegment segment, long at) {
    return RESULT.getLong(segment, at);
  }

  /** {@link #STATUS} of a {@link #result}. */
  public static int status(long result) {
    return (int) result & 0xff;
  }

  /** {@link #OPCODE} of a {@link #result}. */
  public static int opcode(long result) {
    return (int) result >>> 8 & 0xff;
  }

  /** {@link #VENDOR_ERROR} of a {@link #result}. */
  public static int vendorError(long result) {
    return (int) (result >>> 32);
  }
}

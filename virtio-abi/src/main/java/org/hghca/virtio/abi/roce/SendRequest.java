package org.hghca.virtio.abi.roce;

import java.lang.foreign.MemorySegment;
import org.hghca.virtio.abi.Bytes;
import org.hghca.virtio.abi.Field;

/**
 * An element of a send queue, which the device reads: {@code virtio_rdma_sq_req}. The pieces,
 * {@link ScatterGather}, follow.
 *
 * <p>The union at 10h is of RDMA or of UD. The union at 230h holds the number of pieces or, with
 * {@link #FLAG_INLINE}, the bytes of inline data; the latter has 16 bits, and a driver writes the
 * upper ones of {@link #NUM_SGE} as 0.
 */
public final class SendRequest {
  /** Bytes up to the first piece. */
  public static final int SIZE = 576;

  /** The driver's number of the request. */
  public static final Field WR_ID = Field.le64("wr_id", 0);

  /** {@link #RDMA_WRITE} and so on. */
  public static final Field OPCODE = Field.u8("opcode", 8);

  /** Mask of {@link #FLAG_FENCE} and so on. */
  public static final Field SEND_FLAGS = Field.u8("send_flags", 9);

  /** Immediate data, in the order of the wire although the RFC types it le32. */
  public static final Bytes IMMEDIATE = new Bytes("imm_data", 12, 4);

  /** RDMA: address at the other side. */
  public static final Field REMOTE_ADDRESS = Field.le64("rdma.remote_addr", 16);

  /** RDMA: key of the other side. */
  public static final Field RKEY = Field.le32("rdma.rkey", 24);

  /** UD: number of the other queue pair. */
  public static final Field REMOTE_QPN = Field.le32("ud.remote_qpn", 16);

  /** UD: Q_Key of the other queue pair. */
  public static final Field REMOTE_QKEY = Field.le32("ud.remote_qkey", 20);

  /** UD: number of the AH. */
  public static final Field AH = Field.le32("ud.ah", 24);

  /** Inline data, with {@link #FLAG_INLINE}. */
  public static final Bytes INLINE_DATA = new Bytes("inline_data", 48, 512);

  /** Number of pieces. */
  public static final Field NUM_SGE = Field.le32("num_sge", 560);

  /** Bytes of inline data. */
  public static final Field INLINE_LENGTH = Field.le16("inline_len", 560);

  /** Opcode: RDMA WRITE. */
  public static final int RDMA_WRITE = 0;

  /** Opcode: RDMA WRITE with immediate data. */
  public static final int RDMA_WRITE_WITH_IMM = 1;

  /** Opcode: SEND. */
  public static final int SEND = 2;

  /** Opcode: SEND with immediate data. */
  public static final int SEND_WITH_IMM = 3;

  /** Opcode: RDMA READ. */
  public static final int RDMA_READ = 4;

  /** Flag: begin after all earlier RDMA READs. */
  public static final int FLAG_FENCE = 1;

  /** Flag: complete visibly. */
  public static final int FLAG_SIGNALED = 2;

  /** Flag: the receiver's completion is solicited. */
  public static final int FLAG_SOLICITED = 4;

  /** Flag: the data is in the request. */
  public static final int FLAG_INLINE = 8;

  /** Opcode, flags and immediate data, as one number. */
  private static final Field OPERATION = Field.le64("opcode, send_flags, imm_data", 8);

  /** Offset of a piece. */
  public static int piece(int index) {
    return SIZE + ScatterGather.SIZE * index;
  }

  private SendRequest() {}

  /**
   * Writes {@link #WR_ID}, {@link #OPCODE}, {@link #SEND_FLAGS} and {@link #IMMEDIATE}, by two
   * stores.
   *
   * @param at where the request begins in the segment
   * @param opcode 8 bits
   * @param flags 8 bits
   */
  public static void putHead(
      MemorySegment segment, long at, long wrId, int opcode, int flags, int immediate) {
    WR_ID.setLong(segment, at, wrId);
    OPERATION.setLong(
        segment, at, (long) Integer.reverseBytes(immediate) << 32 | flags << 8 | opcode);
  }
}

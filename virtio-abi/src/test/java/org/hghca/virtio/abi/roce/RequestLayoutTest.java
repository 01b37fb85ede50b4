package org.hghca.virtio.abi.roce;

import static org.assertj.core.api.Assertions.assertThat;

import org.hghca.virtio.abi.Structure;
import org.junit.jupiter.api.Test;

/**
 * Elements of the RoCE queues, byte by byte. The value of each byte is its offset, and what belongs
 * to no field is eeh.
 */
class RequestLayoutTest {
  /** {@code virtio_rdma_sge}. */
  @Test
  void piece() {
    assertThat(ScatterGather.SIZE).isEqualTo(16);
    Structure structure = new Structure(16);
    structure.set(ScatterGather.ADDRESS, 0x0706_0504_0302_0100L);
    structure.set(ScatterGather.LENGTH, 0x0b0a_0908L);
    structure.set(ScatterGather.LKEY, 0x0f0e_0d0cL);
    assertThat(structure.hex()).isEqualTo("000102030405060708090a0b0c0d0e0f");
  }

  @Test
  void pieceThatIsWrittenAtOnce() {
    Structure structure = new Structure(16);
    ScatterGather.put(
        structure.memory(), Structure.BASE, 0x8706_0504_0302_0100L, 0x8f0e_0d0c_8b0a_0908L);
    assertThat(structure.hex()).isEqualTo("000102030405068708090a8b0c0d0e8f");
  }

  @Test
  void headOfASendRequestThatIsWrittenAtOnce() {
    Structure structure = new Structure(576);
    SendRequest.putHead(
        structure.memory(), Structure.BASE, 0x8706_0504_0302_0100L, 0x88, 0x99, 0x8c0d_0e0f);
    assertThat(structure.hex()).startsWith("00010203040506878899" + "0000" + "8c0d0e0f" + "eeee");
  }

  @Test
  void completionThatIsWrittenAtOnce() {
    Structure structure = new Structure(48);
    CompletionEntry.put(
        structure.memory(),
        Structure.BASE,
        0x8706_0504_0302_0100L,
        0x88,
        0x99,
        0x9392_9190,
        0x9495_9697,
        0x9b9a_9998,
        0x9f9e_9d9c,
        0xa3a2_a1a0);
    assertThat(structure.hex())
        .isEqualTo(
            "0001020304050687"
                + "8899"
                + "000000000000"
                + "9091929394959697"
                + "98999a9b9c9d9e9f"
                + "a0a1a2a3"
                + "000000000000000000000000");
  }

  @Test
  void resultOfACompletionIsReadAtOnce() {
    Structure structure = new Structure(48);
    structure.set(CompletionEntry.STATUS, 0x88);
    structure.set(CompletionEntry.OPCODE, 0x99);
    structure.set(CompletionEntry.VENDOR_ERROR, 0x8f0e_0d0cL);
    long result = CompletionEntry.result(structure.memory(), Structure.BASE);
    assertThat(CompletionEntry.status(result)).isEqualTo(0x88);
    assertThat(CompletionEntry.opcode(result)).isEqualTo(0x99);
    assertThat(CompletionEntry.vendorError(result)).isEqualTo(0x8f0e_0d0c);
  }

  /** {@code virtio_rdma_rq_req}. */
  @Test
  void receiveRequest() {
    assertThat(ReceiveRequest.SIZE).isEqualTo(24);
    Structure structure = new Structure(24);
    structure.set(ReceiveRequest.WR_ID, 0x0706_0504_0302_0100L);
    structure.set(ReceiveRequest.NUM_SGE, 0x0b0a_0908L);
    assertThat(structure.hex()).isEqualTo("000102030405060708090a0beeeeeeeeeeeeeeeeeeeeeeee");
  }

  /** {@code virtio_rdma_cq_req}. */
  @Test
  void completion() {
    assertThat(CompletionEntry.SIZE).isEqualTo(48);
    Structure structure = new Structure(48);
    structure.set(CompletionEntry.WR_ID, 0x0706_0504_0302_0100L);
    structure.set(CompletionEntry.STATUS, 0x08L);
    structure.set(CompletionEntry.OPCODE, 0x09L);
    structure.set(CompletionEntry.VENDOR_ERROR, 0x0f0e_0d0cL);
    structure.set(CompletionEntry.BYTE_LENGTH, 0x1312_1110L);
    structure.fill(CompletionEntry.IMMEDIATE, 20);
    structure.set(CompletionEntry.QPN, 0x1b1a_1918L);
    structure.set(CompletionEntry.SOURCE_QPN, 0x1f1e_1d1cL);
    structure.set(CompletionEntry.FLAGS, 0x2322_2120L);
    assertThat(structure.hex())
        .isEqualTo(
            "00010203040506070809eeee0c0d0e0f101112131415161718191a1b1c1d1e1f"
                + "20212223eeeeeeeeeeeeeeeeeeeeeeee");
  }

  /** {@code virtio_rdma_sq_req} with the union of RDMA. */
  @Test
  void sendRequestOfRdma() {
    assertThat(SendRequest.SIZE).isEqualTo(576);
    Structure structure = new Structure(576);
    structure.set(SendRequest.WR_ID, 0x0706_0504_0302_0100L);
    structure.set(SendRequest.OPCODE, 0x08);
    structure.set(SendRequest.SEND_FLAGS, 0x09);
    structure.fill(SendRequest.IMMEDIATE, 12);
    structure.set(SendRequest.REMOTE_ADDRESS, 0x1716_1514_1312_1110L);
    structure.set(SendRequest.RKEY, 0x1b1a_1918L);
    structure.set(SendRequest.NUM_SGE, 0x3332_3130L);
    assertThat(structure.hex())
        .isEqualTo(
            "00010203040506070809eeee0c0d0e0f"
                + "101112131415161718191a1beeeeeeee"
                + "ee".repeat(16 + 512)
                + "30313233"
                + "ee".repeat(12));
  }

  /** {@code virtio_rdma_sq_req} with the union of UD, and inline data. */
  @Test
  void sendRequestOfUd() {
    Structure structure = new Structure(576);
    structure.set(SendRequest.REMOTE_QPN, 0x1312_1110L);
    structure.set(SendRequest.REMOTE_QKEY, 0x1716_1514L);
    structure.set(SendRequest.AH, 0x1b1a_1918L);
    structure.in(SendRequest.INLINE_DATA).fill((byte) 0x77);
    structure.set(SendRequest.INLINE_LENGTH, 0x3130L);
    assertThat(structure.hex())
        .isEqualTo(
            "ee".repeat(16)
                + "101112131415161718191a1b"
                + "ee".repeat(20)
                + "77".repeat(512)
                + "3031"
                + "ee".repeat(14));
  }

  @Test
  void piecesFollowTheRequest() {
    assertThat(SendRequest.piece(0)).isEqualTo(576);
    assertThat(SendRequest.piece(2)).isEqualTo(608);
    assertThat(ReceiveRequest.piece(0)).isEqualTo(24);
    assertThat(ReceiveRequest.piece(3)).isEqualTo(72);
  }
}

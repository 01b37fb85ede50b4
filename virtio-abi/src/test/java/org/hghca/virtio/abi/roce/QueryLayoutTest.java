package org.hghca.virtio.abi.roce;

import static org.assertj.core.api.Assertions.assertThat;

import org.hghca.virtio.abi.Structure;
import org.junit.jupiter.api.Test;

/**
 * What a device tells about itself, byte by byte. The value of each byte is its offset, and what
 * belongs to no field is eeh.
 */
class QueryLayoutTest {
  /** {@code virtio_rdma_ack_query_device}. */
  @Test
  void limitsOfTheDevice() {
    assertThat(QueryDevice.SIZE).isEqualTo(128);
    Structure structure = new Structure(128);
    structure.set(QueryDevice.DEVICE_CAP_FLAGS, 0x0706_0504_0302_0100L);
    structure.set(QueryDevice.MAX_MR_SIZE, 0x0f0e_0d0c_0b0a_0908L);
    structure.set(QueryDevice.PAGE_SIZE_CAP, 0x1716_1514_1312_1110L);
    structure.set(QueryDevice.HW_VER, 0x1b1a_1918L);
    structure.set(QueryDevice.MAX_QP_WR, 0x1f1e_1d1cL);
    structure.set(QueryDevice.MAX_SEND_SGE, 0x2322_2120L);
    structure.set(QueryDevice.MAX_RECV_SGE, 0x2726_2524L);
    structure.set(QueryDevice.MAX_SGE_RD, 0x2b2a_2928L);
    structure.set(QueryDevice.MAX_CQE, 0x2f2e_2d2cL);
    structure.set(QueryDevice.MAX_MR, 0x3332_3130L);
    structure.set(QueryDevice.MAX_PD, 0x3736_3534L);
    structure.set(QueryDevice.MAX_QP_RD_ATOM, 0x3b3a_3938L);
    structure.set(QueryDevice.MAX_QP_INIT_RD_ATOM, 0x3f3e_3d3cL);
    structure.set(QueryDevice.MAX_AH, 0x4342_4140L);
    structure.set(QueryDevice.LOCAL_CA_ACK_DELAY, 0x44L);
    assertThat(structure.hex())
        .isEqualTo(
            "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
                + "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f"
                + "4041424344eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"
                + "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee");
  }

  /** {@code virtio_rdma_ack_query_port}. */
  @Test
  void limitsOfThePort() {
    assertThat(QueryPort.SIZE).isEqualTo(32);
    Structure structure = new Structure(32);
    structure.set(QueryPort.GID_TBL_LEN, 0x0302_0100L);
    structure.set(QueryPort.MAX_MSG_SZ, 0x0706_0504L);
    assertThat(structure.hex())
        .isEqualTo("0001020304050607eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee");
  }

  /** {@code virtio_rdma_cmd_create_cq}. */
  @Test
  void creationOfACq() {
    assertThat(CreateCq.SIZE).isEqualTo(4);
    Structure structure = new Structure(4);
    structure.set(CreateCq.CQE, 0x0302_0100L);
    assertThat(structure.hex()).isEqualTo("00010203");
  }

  /** {@code virtio_rdma_cmd_req_notify}. */
  @Test
  void notificationOfACq() {
    assertThat(RequestNotify.SIZE).isEqualTo(8);
    Structure structure = new Structure(8);
    structure.set(RequestNotify.CQN, 0x0302_0100L);
    structure.set(RequestNotify.FLAGS, 0x0706_0504L);
    assertThat(structure.hex()).isEqualTo("0001020304050607");
  }

  /** {@code virtio_rdma_cmd_add_gid}. */
  @Test
  void additionOfAGid() {
    assertThat(AddGid.SIZE).isEqualTo(24);
    Structure structure = new Structure(24);
    structure.set(AddGid.INDEX, 0x0100L);
    structure.fill(AddGid.GID, 8);
    assertThat(structure.hex()).isEqualTo("0001eeeeeeeeeeee08090a0b0c0d0e0f1011121314151617");
  }

  /** {@code virtio_rdma_cmd_del_gid}. */
  @Test
  void deletionOfAGid() {
    assertThat(DeleteGid.SIZE).isEqualTo(2);
    Structure structure = new Structure(2);
    structure.set(DeleteGid.INDEX, 0x0100L);
    assertThat(structure.hex()).isEqualTo("0001");
  }

  /** {@code cqn}, {@code pdn}, {@code mrn}, {@code qpn} and {@code ah} of eleven structures. */
  @Test
  void numberOfAnObject() {
    assertThat(Handle.SIZE).isEqualTo(4);
    Structure structure = new Structure(4);
    structure.set(Handle.NUMBER, 0x0302_0100L);
    assertThat(structure.hex()).isEqualTo("00010203");
  }
}

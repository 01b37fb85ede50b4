package org.hghca.virtio.abi.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.hghca.virtio.abi.Structure;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Commands of memory regions and address handles, byte by byte. The value of each byte is its
 * offset, and what belongs to no field is eeh.
 */
class RegionLayoutTest {
  /** {@code virtio_rdma_cmd_get_dma_mr}. */
  @Test
  void regionOfAllAddresses() {
    assertThat(GetDmaMr.SIZE).isEqualTo(8);
    Structure structure = new Structure(8);
    structure.set(GetDmaMr.PDN, 0x0302_0100L);
    structure.set(GetDmaMr.ACCESS_FLAGS, 0x0706_0504L);
    assertThat(structure.hex()).isEqualTo("0001020304050607");
  }

  /** {@code virtio_rdma_cmd_reg_user_mr}. */
  @Test
  void regionOfPages() {
    assertThat(RegisterUserMr.SIZE).isEqualTo(32);
    Structure structure = new Structure(32);
    structure.set(RegisterUserMr.PDN, 0x0302_0100L);
    structure.set(RegisterUserMr.ACCESS_FLAGS, 0x0706_0504L);
    structure.set(RegisterUserMr.VIRT_ADDR, 0x0f0e_0d0c_0b0a_0908L);
    structure.set(RegisterUserMr.LENGTH, 0x1716_1514_1312_1110L);
    structure.set(RegisterUserMr.NPAGES, 0x1b1a_1918L);
    assertThat(structure.hex())
        .isEqualTo("000102030405060708090a0b0c0d0e0f101112131415161718191a1beeeeeeee");
  }

  /** {@code virtio_rdma_ack_reg_user_mr}. */
  @Test
  void keysOfARegion() {
    assertThat(MrKeys.SIZE).isEqualTo(12);
    Structure structure = new Structure(12);
    structure.set(MrKeys.MRN, 0x0302_0100L);
    structure.set(MrKeys.LKEY, 0x0706_0504L);
    structure.set(MrKeys.RKEY, 0x0b0a_0908L);
    assertThat(structure.hex()).isEqualTo("000102030405060708090a0b");
  }

  /** {@code virtio_rdma_global_route}. */
  @Test
  void globalRoute() {
    assertThat(GlobalRoute.SIZE).isEqualTo(24);
    Structure structure = new Structure(24);
    structure.fill(GlobalRoute.DGID, 0);
    structure.set(GlobalRoute.FLOW_LABEL, 0x1312_1110L);
    structure.set(GlobalRoute.SGID_INDEX, 0x14L);
    structure.set(GlobalRoute.HOP_LIMIT, 0x15L);
    structure.set(GlobalRoute.TRAFFIC_CLASS, 0x16L);
    assertThat(structure.hex()).isEqualTo("000102030405060708090a0b0c0d0e0f10111213141516ee");
  }

  /** {@code virtio_rdma_ah_attr}. */
  @Test
  void addressVector() {
    assertThat(AddressVector.SIZE).isEqualTo(40);
    Structure structure = new Structure(40);
    assertThat(AddressVector.ROUTE).isEqualTo(0);
    structure.fill(AddressVector.DMAC, 24);
    assertThat(structure.hex())
        .isEqualTo(
            "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee18191a1b1c1deeee"
                + "eeeeeeeeeeeeeeee");
  }

  /** {@code virtio_rdma_cmd_create_ah}. */
  @Test
  void creationOfAnAddressHandle() {
    assertThat(CreateAh.SIZE).isEqualTo(48);
    Structure structure = new Structure(48);
    structure.set(CreateAh.PDN, 0x0302_0100L);
    assertThat(CreateAh.ADDRESS_VECTOR).isEqualTo(8);
    assertThat(structure.hex())
        .isEqualTo(
            "00010203eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"
                + "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee");
  }

  /** {@code virtio_rdma_cmd_destroy_ah}. */
  @Test
  void destructionOfAnAddressHandle() {
    assertThat(DestroyAh.SIZE).isEqualTo(8);
    Structure structure = new Structure(8);
    structure.set(DestroyAh.PDN, 0x0302_0100L);
    structure.set(DestroyAh.AH, 0x0706_0504L);
    assertThat(structure.hex()).isEqualTo("0001020304050607");
  }

  @Test
  void pagesFollowTheCommand() {
    assertThat(RegisterUserMr.page(0)).isEqualTo(32);
    assertThat(RegisterUserMr.page(2)).isEqualTo(48);
    assertThat(RegisterUserMr.page(0x1_0000_0000L)).isEqualTo(0x8_0000_0020L);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 1, 1",
    "0, 4096, 1",
    "0, 4097, 2",
    "1, 4096, 2",
    "0x7fff00000fff, 1, 1",
    "0x7fff00000fff, 2, 2",
    "0x7fff00000800, 8192, 3",
    "0xfffffffffffff000, 4096, 1",
  })
  void regionTouchesPages(String address, long length, long pages) {
    assertThat(RegisterUserMr.pages(Long.parseUnsignedLong(address.replace("0x", ""), 16), length))
        .isEqualTo(pages);
  }

  @Test
  void lengthBeyondAllPagesIsRefused() {
    assertThatThrownBy(() -> RegisterUserMr.pages(1, Long.MAX_VALUE))
        .isInstanceOf(ArithmeticException.class);
  }
}

package org.hghca.virtio.abi.net;

import static org.assertj.core.api.Assertions.assertThat;

import org.hghca.virtio.abi.Structure;
import org.junit.jupiter.api.Test;

/** The network device, byte by byte. The value of each byte is its offset. */
class NetLayoutTest {
  @Test
  void configuration() {
    Structure structure = new Structure(24);
    structure.fill(NetConfig.MAC, 0);
    structure.set(NetConfig.STATUS, 0x0706);
    structure.set(NetConfig.MAX_PAIRS, 0x0908);
    structure.set(NetConfig.MTU, 0x0b0a);
    structure.set(NetConfig.SPEED, 0x0f0e_0d0cL);
    structure.set(NetConfig.DUPLEX, 0x10);
    structure.set(NetConfig.RSS_KEY, 0x11);
    structure.set(NetConfig.RSS_TABLE, 0x1312);
    structure.set(NetConfig.HASH_TYPES, 0x1716_1514L);
    assertThat(structure.hex()).isEqualTo("000102030405060708090a0b0c0d0e0f1011121314151617");
    assertThat(NetConfig.SIZE).isEqualTo(24);
    assertThat(NetConfig.STATUS_LINK_UP).isEqualTo(1);
  }

  @Test
  void headerOfAFrame() {
    Structure structure = new Structure(12);
    structure.set(NetHeader.FLAGS, 0);
    structure.set(NetHeader.GSO_TYPE, 1);
    structure.set(NetHeader.HEADER_LENGTH, 0x0302);
    structure.set(NetHeader.GSO_SIZE, 0x0504);
    structure.set(NetHeader.CHECKSUM_START, 0x0706);
    structure.set(NetHeader.CHECKSUM_OFFSET, 0x0908);
    structure.set(NetHeader.BUFFERS, 0x0b0a);
    assertThat(structure.hex()).isEqualTo("000102030405060708090a0b");
    assertThat(NetHeader.SIZE).isEqualTo(12);
  }

  @Test
  void controlMessage() {
    Structure structure = new Structure(2);
    structure.set(NetControl.CLASS, 0);
    structure.set(NetControl.COMMAND, 1);
    assertThat(structure.hex()).isEqualTo("0001");
    assertThat(NetControl.HEADER_SIZE).isEqualTo(2);
    assertThat(NetControl.ACK_SIZE).isEqualTo(1);
    assertThat(NetControl.OK).isEqualTo(0);
    assertThat(NetControl.ERROR).isEqualTo(1);
    assertThat(NetControl.CLASS_RX).isEqualTo(0);
    assertThat(NetControl.CLASS_MAC).isEqualTo(1);
    assertThat(NetControl.CLASS_VLAN).isEqualTo(2);
    assertThat(NetControl.CLASS_ANNOUNCE).isEqualTo(3);
    assertThat(NetControl.CLASS_MQ).isEqualTo(4);
    assertThat(NetControl.CLASS_GUEST_OFFLOADS).isEqualTo(5);
    assertThat(NetControl.RX_PROMISCUOUS).isEqualTo(0);
    assertThat(NetControl.RX_ALL_MULTICAST).isEqualTo(1);
  }

  @Test
  void featureBits() {
    assertThat(NetFeature.MTU).isEqualTo(3);
    assertThat(NetFeature.MAC).isEqualTo(5);
    assertThat(NetFeature.MRG_RXBUF).isEqualTo(15);
    assertThat(NetFeature.STATUS).isEqualTo(16);
    assertThat(NetFeature.CTRL_VQ).isEqualTo(17);
    assertThat(NetFeature.CTRL_RX).isEqualTo(18);
    assertThat(NetFeature.MQ).isEqualTo(22);
    assertThat(NetFeature.CTRL_MAC_ADDR).isEqualTo(23);
    assertThat(NetFeature.NOTF_COAL).isEqualTo(53);
    assertThat(NetFeature.GUEST_USO4).isEqualTo(54);
    assertThat(NetFeature.GUEST_USO6).isEqualTo(55);
    assertThat(NetFeature.RSS).isEqualTo(60);
    assertThat(NetFeature.SPEED_DUPLEX).isEqualTo(63);
    assertThat(NetFeature.name(17)).isEqualTo("VIRTIO_NET_F_CTRL_VQ");
    assertThat(NetFeature.name(32)).isEqualTo("VIRTIO_F_VERSION_1");
    assertThat(NetFeature.name(1)).isEqualTo("VIRTIO_NET_F_GUEST_CSUM");
    assertThat(NetFeature.name(4)).isEqualTo("bit 4");
  }
}

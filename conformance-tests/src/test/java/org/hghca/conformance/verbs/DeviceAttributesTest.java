package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.conformance.verbs.Failures.assertErrno;

import java.util.List;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Context;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.GidEntry;
import org.hghca.verbs.GidType;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.PortAttributes;
import org.hghca.verbs.PortState;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.WrOpcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The reports of a device about itself, its port and its tables. */
class DeviceAttributesTest {

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_device.DeviceTest.test_query_device",
      says =
          "GUIDs and vendor are not 0, max_mr_size above and page_size_cap at least a page, every"
              + " limit above 0")
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_device.DeviceTest.test_query_device_ex",
      says = "the same, with the only query method")
  void everyAttributeOfTheDeviceIsPlausible() {
    try (Fabric fabric = Fabric.open()) {
      DeviceAttributes device = fabric.left().queryDevice();
      assertThat(device.nodeGuid()).isNotZero();
      assertThat(device.systemImageGuid()).isNotZero();
      assertThat(device.vendorId()).isNotZero();
      assertThat(device.physicalPorts()).isEqualTo(1);
      assertThat(device.maxMrSize()).isGreaterThan(4096);
      assertThat(device.pageSizes() & 4096).isEqualTo(4096);
      assertThat(device.maxQp()).isPositive();
      assertThat(device.maxQpWr()).isPositive();
      assertThat(device.maxSge()).isPositive();
      assertThat(device.maxSgeRead()).isPositive();
      assertThat(device.maxCq()).isPositive();
      assertThat(device.maxCqe()).isPositive();
      assertThat(device.maxMr()).isPositive();
      assertThat(device.maxPd()).isPositive();
      assertThat(device.maxQpReadAtomic()).isPositive();
      assertThat(device.maxQpInitiatorReadAtomic()).isPositive();
      assertThat(device.maxReadAtomic()).isGreaterThanOrEqualTo(device.maxQpReadAtomic());
      assertThat(device.maxPkeys()).isEqualTo(1);
      assertThat(device.maxInline()).isNotNegative();
      assertThat(device.remoteBoundsGranularity()).isPositive();
      assertThat(device.completionVectors()).isPositive();
      assertThat(device.nodeGuid()).isEqualTo(fabric.left().device().nodeGuid());
    }
  }

  @Test
  void portIsActiveWhenBothEndsOfTheCableAreAttached() {
    try (Fabric fabric = Fabric.inline()) {
      PortAttributes port = fabric.left().queryPort(1);
      assertThat(port.state()).isEqualTo(PortState.ACTIVE);
      assertThat(port.maxMtu()).isEqualTo(Mtu.MTU_4096);
      assertThat(port.activeMtu()).isLessThanOrEqualTo(port.maxMtu());
      assertThat(port.gidTableLength()).isEqualTo(2);
      assertThat(port.pkeyTableLength()).isEqualTo(1);
      assertThat(port.maxMessageSize()).isEqualTo(1L << 31);
      assertThat(port.lid()).isZero();
      assertThat(port.mac()).isPositive();
    }
  }

  @Test
  @Needs(Feature.PORT_STATE)
  void portIsDownWithoutAPeer() {
    try (Context alone =
        RdmaDevices.open(TestProfile.model("model:alone?mode=inline&cable=nobody"))) {
      assertThat(alone.queryPort(1).state()).isEqualTo(PortState.DOWN);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 2, 3, 11, -1, 256, Integer.MAX_VALUE})
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_device.DeviceTest.test_query_port_bad_flow",
      says = "ports phys_port_cnt + 1 to + 10 are EINVAL")
  void missingPortsAreRefused(int port) {
    try (Fabric fabric = Fabric.open()) {
      Context context = fabric.left();
      assertErrno(Errno.EINVAL, () -> context.queryPort(port));
      assertErrno(Errno.EINVAL, () -> context.queryGid(port, 0));
      assertErrno(Errno.EINVAL, () -> context.queryPkey(port, 0));
      assertErrno(Errno.EINVAL, () -> context.pkeyIndex(port, 0xffff));
    }
  }

  /** Without IPv6 addresses a link-local GID stands for a MAC alone, as RoCE v1 has it. */
  @Test
  void gidTableHoldsTheLinkLocalAndTheIpv4Gid() {
    try (Context context =
        RdmaDevices.open(
            TestProfile.model("model:gids?mode=inline&mac=02:12:34:56:78:9a&ip=192.168.3.4"))) {
      boolean hasIpv6 = !TestProfile.isRtl();
      Gid linkLocal = new Gid(0xfe80_0000_0000_0000L, 0x0012_34ff_fe56_789aL);
      Gid ipv4 = new Gid(0, 0x0000_ffff_c0a8_0304L);
      assertThat(context.queryGid(1, 0)).isEqualTo(linkLocal);
      assertThat(context.queryGid(1, 1)).isEqualTo(ipv4);
      assertThat(context.queryGidTable())
          .containsExactly(
              new GidEntry(linkLocal, 1, 0, hasIpv6 ? GidType.ROCE_V2 : GidType.ROCE_V1),
              new GidEntry(ipv4, 1, 1, GidType.ROCE_V2));
      assertThat(context.queryDevice().nodeGuid()).isEqualTo(0x0012_34ff_fe56_789aL);
      assertThat(context.queryPort(1).mac()).isEqualTo(0x0212_3456_789aL);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 127, -1, Integer.MAX_VALUE})
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_device.DeviceTest.test_query_gid_ex_bad_flow",
      says = "an index that holds no GID is ENODATA")
  void emptyGidIndexesAreReported(int index) {
    try (Fabric fabric = Fabric.open()) {
      assertErrno(Errno.ENODATA, () -> fabric.left().queryGid(1, index));
    }
  }

  @Test
  void twoDevicesHaveDifferentAddresses() {
    try (Fabric fabric = Fabric.inline()) {
      assertThat(fabric.left().queryGid(1, 0)).isNotEqualTo(fabric.right().queryGid(1, 0));
      assertThat(fabric.left().queryGid(1, 1)).isNotEqualTo(fabric.right().queryGid(1, 1));
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_device.DeviceTest.test_query_pkey",
      says = "entry 0 of the P_Key table is returned")
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_device.DeviceTest.test_get_pkey_index",
      says = "the index of the P_Key of entry 0 is 0")
  void pkeyTableHoldsTheDefaultKey() {
    try (Fabric fabric = Fabric.open()) {
      Context context = fabric.left();
      assertThat(context.queryPkey(1, 0)).isEqualTo(0xffff);
      assertThat(context.pkeyIndex(1, 0xffff)).isZero();
      assertErrno(Errno.EINVAL, () -> context.queryPkey(1, 1));
      assertErrno(Errno.EINVAL, () -> context.queryPkey(1, -1));
      assertErrno(Errno.EINVAL, () -> context.pkeyIndex(1, 0x7fff));
    }
  }

  @Test
  void peerWithoutLinkLocalGidIsReachedOnceItsMacIsAdded() {
    try (RcPair pair = new RcSetup().unconnected().on(Fabric.inline())) {
      Gid ofLeft = pair.left.context.queryGid(1, 1);
      Gid ofRight = pair.right.context.queryGid(1, 1);
      pair.left.context.addNeighbor(ofRight, pair.right.context.queryPort(1).mac());
      pair.right.context.addNeighbor(ofLeft, pair.left.context.queryPort(1).mac());
      var setup = pair.setup().connection();
      for (Side side : new Side[] {pair.left, pair.right}) {
        Side peer = side == pair.left ? pair.right : pair.left;
        side.qp.modify(setup.toInit(side.qp.type()));
        var rtr = setup.toRtr(side.qp.type(), RcPair.endpoint(peer.qp, 0));
        Gid destination = peer.context.queryGid(1, 1);
        side.qp.modify(rtr.addressVector(AddressVector.to(destination, 1)));
      }
      pair.left.qp.modify(setup.toRts(pair.left.qp.type(), 0));
      pair.right.qp.modify(setup.toRts(pair.right.qp.type(), 0));
      new Transfer(pair.left, pair.right, 1)
          .run(WrOpcode.SEND, Pieces.one(0, 3000), Pieces.one(1, 3000));
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_device.DeviceTest.test_dev_list",
      says = "the list of devices is returned, also when it is empty")
  void devicesAreListed() {
    List<RdmaDevice> devices = RdmaDevices.list();
    assertThat(devices.stream().map(RdmaDevice::name)).doesNotHaveDuplicates();
    assertThat(devices).allSatisfy(device -> assertThat(device.locator()).isNotEmpty());
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_device.DeviceTest.test_open_dev",
      says = "a device is opened and closed; a missing one is ENODEV")
  void deviceIsOpened() {
    try (Fabric fabric = Fabric.open()) {
      assertThat(fabric.left().device().name()).isNotEmpty();
    }
    assertErrno(Errno.ENODEV, () -> RdmaDevices.open("nobody0"));
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_device.DeviceTest.test_phys_port_cnt_ex",
      says = "phys_port_cnt is at least 1")
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_device.DeviceTest.test_query_port",
      says = "each port from 1 to phys_port_cnt reports its state, MTUs and table lengths")
  void everyPortIsQueried() {
    try (Fabric fabric = Fabric.open()) {
      int ports = fabric.left().queryDevice().physicalPorts();
      assertThat(ports).isPositive();
      for (int port = 1; port <= ports; port++) {
        var attributes = fabric.left().queryPort(port);
        assertThat(attributes.state()).isNotNull();
        assertThat(attributes.activeMtu()).isLessThanOrEqualTo(attributes.maxMtu());
        assertThat(attributes.gidTableLength()).isPositive();
        assertThat(attributes.pkeyTableLength()).isPositive();
        assertThat(attributes.maxMessageSize()).isPositive();
      }
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_device.DeviceTest.test_query_gid",
      says = "entry 0 of the GID table is returned")
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_device.DeviceTest.test_query_gid_table",
      says = "the table holds every entry that is not empty")
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_device.DeviceTest.test_query_gid_ex",
      says = "each entry reports its GID, port, index and type, as in the table")
  void gidTableMatchesTheSingleQueries() {
    try (Fabric fabric = Fabric.open()) {
      Context context = fabric.left();
      assertThat(context.queryGid(1, 0)).isNotEqualTo(Gid.NONE);
      List<GidEntry> table = context.queryGidTable();
      assertThat(table).isNotEmpty();
      for (GidEntry entry : table) {
        assertThat(context.queryGid(entry.port(), entry.index())).isEqualTo(entry.gid());
        assertThat(entry.type()).isNotNull();
      }
      int length = context.queryPort(1).gidTableLength();
      assertThat(table).hasSizeLessThanOrEqualTo(length);
      assertThat(table).extracting(GidEntry::index).allMatch(index -> index < length);
    }
  }
}

package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Context;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.GidEntry;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.Test;

/** Devices, ports and protection domains, as in rdma-core's tests. */
class BehaviorOfDevicesTest {

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
    assertThatThrownBy(() -> RdmaDevices.open("nobody0"))
        .isInstanceOf(VerbsException.class)
        .extracting("errno")
        .isEqualTo(Errno.ENODEV);
  }

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
  void deviceReportsItsAttributes() {
    try (Fabric fabric = Fabric.open()) {
      DeviceAttributes device = fabric.left().queryDevice();
      assertThat(device.nodeGuid()).isNotZero();
      assertThat(device.systemImageGuid()).isNotZero();
      assertThat(device.vendorId()).isNotZero();
      assertThat(device.maxMrSize()).isGreaterThan(4096);
      assertThat(device.pageSizes()).isGreaterThanOrEqualTo(4096);
      assertThat(
              List.of(
                  device.maxQp(),
                  device.maxQpWr(),
                  device.maxSge(),
                  device.maxSgeRead(),
                  device.maxCq(),
                  device.maxCqe(),
                  device.maxMr(),
                  device.maxPd(),
                  device.maxQpReadAtomic(),
                  device.maxQpInitiatorReadAtomic(),
                  device.maxPkeys(),
                  device.completionVectors()))
          .allSatisfy(limit -> assertThat(limit).isPositive());
    }
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
      source = "test_device.DeviceTest.test_query_port_bad_flow",
      says = "ports phys_port_cnt + 1 to + 10 are EINVAL")
  void portsBeyondTheLastAreInvalid() {
    try (Fabric fabric = Fabric.open()) {
      int ports = fabric.left().queryDevice().physicalPorts();
      for (int port = ports + 1; port <= ports + 10; port++) {
        int wrong = port;
        assertThatThrownBy(() -> fabric.left().queryPort(wrong))
            .isInstanceOf(VerbsException.class)
            .hasMessageContaining("port " + wrong)
            .extracting("errno")
            .isEqualTo(Errno.EINVAL);
      }
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
  void firstPkeyIsFoundAtIndexZero() {
    try (Fabric fabric = Fabric.open()) {
      int pkey = fabric.left().queryPkey(1, 0);
      assertThat(pkey).isEqualTo(0xffff);
      assertThat(fabric.left().pkeyIndex(1, pkey)).isZero();
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

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_device.DeviceTest.test_query_gid_ex_bad_flow",
      says = "an index that holds no GID is ENODATA")
  void emptyGidEntryIsEnodata() {
    try (Fabric fabric = Fabric.open()) {
      Set<Integer> used = new HashSet<>();
      fabric.left().queryGidTable().forEach(entry -> used.add(entry.index()));
      int empty = 0;
      while (used.contains(empty)) {
        empty++;
      }
      int index = empty;
      assertThatThrownBy(() -> fabric.left().queryGid(1, index))
          .isInstanceOf(VerbsException.class)
          .extracting("errno")
          .isEqualTo(Errno.ENODATA);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_pd.PDTest.test_alloc_pd",
      says = "a protection domain is allocated")
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_pd.PDTest.test_dealloc_pd",
      says = "and deallocated")
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_pd.PDTest.test_multiple_pd_creation",
      says = "200 times one after the other")
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_pd.PDTest.test_destroy_pd_twice",
      says = "closing twice has no effect")
  void protectionDomainsAreAllocatedRepeatedlyAndClosedTwice() {
    try (Fabric fabric = Fabric.open()) {
      for (int i = 0; i < 200; i++) {
        ProtectionDomain pd = fabric.left().allocateProtectionDomain();
        assertThat(pd.context()).isSameAs(fabric.left());
        pd.close();
        assertThatCode(pd::close).doesNotThrowAnyException();
      }
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_mr.MRTest.test_reg_mr_bad_flags",
      says = "REMOTE_WRITE or REMOTE_ATOMIC without LOCAL_WRITE is EINVAL")
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_mr.MRTest.test_reg_mrex_bad_flags",
      says = "the same, with the only register method")
  void remoteWriteWithoutLocalWriteIsInvalid() {
    try (Fabric fabric = Fabric.open();
        ProtectionDomain pd = fabric.left().allocateProtectionDomain()) {
      for (Set<AccessFlag> flags :
          List.of(
              Set.of(AccessFlag.REMOTE_WRITE),
              Set.of(AccessFlag.REMOTE_ATOMIC),
              Set.of(AccessFlag.REMOTE_ATOMIC, AccessFlag.REMOTE_WRITE),
              Set.of(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ))) {
        assertThatThrownBy(() -> pd.allocate(64, flags).close())
            .isInstanceOf(VerbsException.class)
            .hasMessageContaining("LOCAL_WRITE")
            .extracting("errno")
            .isEqualTo(Errno.EINVAL);
      }
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.NOT_HERE,
      source = "test_odp.OdpTestCase.test_odp_*",
      says = "memory registered but not pinned",
      unsupported = true)
  void registrationOnDemandIsUnsupported() {
    try (Fabric fabric = Fabric.open();
        ProtectionDomain pd = fabric.left().allocateProtectionDomain()) {
      assertThatThrownBy(
              () -> pd.allocate(64, AccessFlag.LOCAL_WRITE, AccessFlag.ON_DEMAND).close())
          .isInstanceOf(VerbsException.class)
          .extracting("errno")
          .isEqualTo(Errno.EOPNOTSUPP);
    }
  }
}

package org.hghca.virtio.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.Set;
import java.util.stream.Stream;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.AlternatePath;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.Errno;
import org.hghca.verbs.FeatureSupport;
import org.hghca.verbs.Gid;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.PathMigrationState;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.Reregistration;
import org.hghca.verbs.SendRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The commands that objects give, byte by byte, and what the device lacks. */
class ObjectsTest extends ScriptedDeviceFixture {

  @Test
  void protectionDomain() {
    context.allocateProtectionDomain().close();

    assertThat(device.commands).containsExactly("0604", "060505000000");
  }

  @Test
  void objectThatTheDeviceHasNoRoomForIsRefused() {
    device.answer(4, data -> null);

    assertErrno(Errno.ENOMEM, context::allocateProtectionDomain)
        .withMessageContaining("CREATE_PD: the device refuses another protection domain");
    context.close();
  }

  @Test
  void regionBeginsInItsFirstPage() {
    try (Arena arena = Arena.ofShared();
        ProtectionDomain pd = context.allocateProtectionDomain()) {
      MemorySegment memory = arena.allocate(3 * 4096, 4096).asSlice(4000, 4200);
      memory.set(ValueLayout.JAVA_BYTE, 0, (byte) 0x5a);
      memory.set(ValueLayout.JAVA_BYTE, 4199, (byte) 0xa5);
      try (MemoryRegion region =
          pd.register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ)) {
        assertThat(region.lkey()).isEqualTo(0x345);
        assertThat(region.rkey()).isEqualTo(0x346);
        byte[] data = HexFormat.of().parseHex(device.commands(7).getFirst());
        ByteBuffer fields = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
        assertThat(data).hasSize(32 + 3 * 8);
        assertThat(fields.getInt(0)).isEqualTo(5);
        assertThat(fields.getInt(4)).isEqualTo(5);
        assertThat(fields.getLong(8)).isEqualTo(memory.address());
        assertThat(fields.getLong(16)).isEqualTo(4200);
        assertThat(fields.getInt(24)).isEqualTo(3);
        assertThat(fields.getLong(32) % 4096).isZero();
        assertThat(fields.getLong(40) % 4096).isZero();
        long first = fields.getLong(32) + (memory.address() & 4095);
        assertThat(device.memory(first, 1)).containsExactly(0x5a);
        long last = fields.getLong(48) + (memory.address() + 4199 & 4095);
        assertThat(device.memory(last, 1)).containsExactly(0xa5);
      }
      assertThat(device.commands(8)).containsExactly("03000000");
    }
  }

  @Test
  void regionFromZeroHasThatAddress() {
    try (ProtectionDomain pd = context.allocateProtectionDomain();
        MemoryRegion region = pd.allocate(8192, AccessFlag.LOCAL_WRITE, AccessFlag.ZERO_BASED)) {
      assertThat(region.address()).isZero();
      assertThat(device.commands(7).getFirst())
          .startsWith("05000000" + "01000000" + "0".repeat(16) + "0020000000000000" + "02000000");
    }
  }

  @Test
  void rightsThatTheDeviceLacksAreRefused() {
    try (ProtectionDomain pd = context.allocateProtectionDomain()) {
      for (AccessFlag flag :
          EnumSet.of(AccessFlag.REMOTE_ATOMIC, AccessFlag.MW_BIND, AccessFlag.ON_DEMAND)) {
        assertErrno(Errno.EOPNOTSUPP, () -> pd.allocate(64, AccessFlag.LOCAL_WRITE, flag));
      }
      try (MemoryRegion region = pd.allocate(64, AccessFlag.LOCAL_WRITE)) {
        assertErrno(
            Errno.EOPNOTSUPP, () -> region.reregister(Reregistration.to(AccessFlag.LOCAL_WRITE)));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(
      names = {
        "ATOMICS",
        "RESIZE_CQ",
        "REREGISTRATION",
        "MEMORY_WINDOWS",
        "PATH_MIGRATION",
        "MULTICAST",
        "ON_DEMAND_PAGING"
      })
  void featureIsMissing(DeviceFeature feature) {
    assertThat(context.queryDevice().features()).containsEntry(feature, FeatureSupport.MISSING);
  }

  @Test
  void addressHandle() {
    try (ProtectionDomain pd = context.allocateProtectionDomain()) {
      try (AddressHandle handle =
          pd.createAddressHandle(new AddressVector(PEER, 0, 0x12345, 33, 0x44, 0, 1))) {
        assertThat(handle.vector().hopLimit()).isEqualTo(33);
        assertThat(device.commands(13))
            .containsExactly(
                "0500000000000000"
                    + "fe80000000000000000000fffe00000b"
                    + "45230100"
                    + "00214400"
                    + "02000000000b"
                    + "00".repeat(10));
      }
      assertThat(device.commands(14)).containsExactly("0500000006000000");
      assertErrno(
          Errno.EOPNOTSUPP,
          () -> pd.createAddressHandle(AddressVector.to(Gid.ofIpv4(0xef010203), 1)));
    }
  }

  @Test
  void completionQueueIsFilledAfterItsCommand() {
    try (CompletionQueue cq = completionQueue()) {
      assertThat(cq.entries()).isEqualTo(16);
      assertThat(device.commands).containsExactly("060210000000");
      assertThat(device.isEnabled(ScriptedDevice.FIRST_CQ)).isTrue();
      assertThat(device.available(ScriptedDevice.FIRST_CQ)).isEqualTo(16);
      assertErrno(Errno.EOPNOTSUPP, () -> cq.resize(8));
    }
    assertThat(device.commands(3)).containsExactly("00000000");
    device.rewind(ScriptedDevice.FIRST_CQ);
    try (CompletionQueue _ = completionQueue()) {
      assertThat(device.available(ScriptedDevice.FIRST_CQ)).isEqualTo(16);
    }
  }

  @Test
  void completionQueueBeyondTheLimitsIsRefusedWithoutACommand() {
    assertErrno(Errno.EINVAL, () -> context.createCompletionQueue(0));
    assertErrno(Errno.EINVAL, () -> context.createCompletionQueue(65));
    assertErrno(
        Errno.EINVAL,
        () -> context.createCompletionQueue(CompletionQueueConfig.of(1).withVector(3)));
    assertThat(device.commands).isEmpty();
  }

  @Test
  void numberThatIsNoneOfTheDeviceEndsIt() {
    device.answer(2, data -> ScriptedDevice.number(4));

    assertErrno(Errno.EIO, this::completionQueue).withMessageContaining("number 4");
    assertErrno(Errno.EIO, context::allocateProtectionDomain);
  }

  @Test
  void queuePairThroughAllStates() {
    try (ProtectionDomain pd = context.allocateProtectionDomain();
        CompletionQueue cq = completionQueue()) {
      try (QueuePair qp = connected(pd, cq)) {
        assertThat(qp.number()).isEqualTo(2);
        assertThat(qp.state()).isEqualTo(QpState.RTS);
        assertThat(device.commands(9))
            .containsExactly(
                "05000000"
                    + "02000000"
                    + "00000000"
                    + "00000000"
                    + "04000000"
                    + "04000000"
                    + "02000000"
                    + "02000000"
                    + "40000000"
                    + "00000000"
                    + "00".repeat(16));
        assertThat(device.isEnabled(ScriptedDevice.FIRST_SQ + 4)).isTrue();
        assertThat(device.isEnabled(ScriptedDevice.FIRST_RQ + 4)).isTrue();
        assertThat(device.commands(10).stream().map(data -> data.substring(0, 48)))
            .containsExactly(
                // STATE, ACCESS_FLAGS
                "02000000" + "05000000" + "01" + "00".repeat(15),
                // STATE, AV, PATH_MTU, RQ_PSN, MIN_RNR_TIMER, MAX_DEST_RD_ATOMIC, DEST_QPN
                "02000000" + "31aa0000" + "0200" + "03" + "00" + "04" + "0c" + "00".repeat(10),
                // STATE, TIMEOUT, RETRY_CNT, RNR_RETRY, MAX_QP_RD_ATOMIC, SQ_PSN
                "02000000"
                    + "c1150000"
                    + "0300"
                    + "00"
                    + "03"
                    + "0000"
                    + "0e"
                    + "07"
                    + "06"
                    + "00".repeat(7));
        assertThat(device.commands(10).get(0).substring(80, 88)).isEqualTo("02000000");
        assertThat(device.commands(10).get(1).substring(56, 80))
            .isEqualTo("22222200" + "00000000" + "77000000");
        assertThat(device.commands(10).get(2).substring(64, 72)).isEqualTo("11111100");
        String way = device.commands(10).get(1).substring(144, 224);
        assertThat(way).startsWith("fe80000000000000000000fffe00000b");
        assertThat(way.substring(40, 48)).isEqualTo("00400000");
        assertThat(way.substring(48, 60)).isEqualTo("02000000000b");
      }
      assertThat(device.commands(12)).containsExactly("02000000");
    }
  }

  @Test
  void flowLabelIsThatOfTheNumbers() {
    try (ProtectionDomain pd = context.allocateProtectionDomain();
        CompletionQueue cq = completionQueue();
        QueuePair qp = connected(pd, cq)) {
      int label = context.entropy().flowLabel(2, 0x77);
      device.answer(11, data -> ScriptedDevice.bytes(120).put(0, (byte) 3).array());

      assertThat(label).isNotZero();
      assertThat(device.commands(10).get(1).substring(176, 184))
          .isEqualTo(hex(ScriptedDevice.number(label), 0, 4));
      assertThat(qp.query().addressVector().flowLabel()).isEqualTo(label);
      assertThat(qp.query().sendPsn()).isEqualTo(0x111111);
    }
  }

  @Test
  void readsAreToldWhereTheProgramLeavesThemOut() {
    try (ProtectionDomain pd = context.allocateProtectionDomain();
        CompletionQueue cq = completionQueue();
        QueuePair qp = pd.createQueuePair(sized(QueuePairConfig.rc(cq, cq)))) {
      qp.modify(QpAttributes.to(QpState.INIT).pkeyIndex(0).port(1).access(Set.of()));
      qp.modify(
          QpAttributes.to(QpState.RTR)
              .addressVector(AddressVector.to(PEER, 0))
              .pathMtu(Mtu.MTU_256)
              .destinationQpn(3)
              .receivePsn(0)
              .minRnrTimer(0));
      qp.modify(QpAttributes.to(QpState.RTS).timeout(1).retryCount(1).rnrRetry(1).sendPsn(0));

      assertThat(device.commands(10).get(1)).startsWith("02000000" + "31aa0000");
      assertThat(device.commands(10).get(2)).startsWith("02000000" + "c1150000");
    }
  }

  @Test
  void refusedTransitionChangesNothing() {
    try (ProtectionDomain pd = context.allocateProtectionDomain();
        CompletionQueue cq = completionQueue();
        QueuePair qp = connected(pd, cq)) {
      device.answer(10, data -> null);

      assertErrno(Errno.EINVAL, () -> qp.modify(QpAttributes.to(QpState.SQD)));
      assertErrno(Errno.EINVAL, () -> qp.modify(QpAttributes.to(QpState.RESET)));
      assertThat(qp.state()).isEqualTo(QpState.RTS);
    }
  }

  static Stream<Arguments> attributesThatTheDeviceLacks() {
    return Stream.of(
        Arguments.of(
            "alternate paths",
            new QpAttributes().alternatePath(new AlternatePath(AddressVector.to(PEER, 0), 0, 14))),
        Arguments.of("alternate paths", new QpAttributes().pathMigration(PathMigrationState.REARM)),
        Arguments.of(
            "an event when the send queue is drained",
            QpAttributes.to(QpState.SQD).sqdNotify(true)));
  }

  @ParameterizedTest
  @MethodSource("attributesThatTheDeviceLacks")
  void attributeThatTheDeviceLacksIsRefused(String what, QpAttributes attributes) {
    try (ProtectionDomain pd = context.allocateProtectionDomain();
        CompletionQueue cq = completionQueue();
        QueuePair qp = connected(pd, cq)) {
      int given = device.commands(10).size();

      assertErrno(Errno.EOPNOTSUPP, () -> qp.modify(attributes))
          .withMessageContaining("the device lacks " + what);
      assertThat(qp.state()).isEqualTo(QpState.RTS);
      assertThat(device.commands(10)).hasSize(given);
    }
  }

  static Stream<SendRequest> operationsThatTheDeviceLacks() {
    return Stream.of(
        new SendRequest(1).fetchAndAdd(8, 1, 1).sge(8, 8, 1),
        new SendRequest(1).compareAndSwap(8, 1, 1, 2).sge(8, 8, 1));
  }

  @ParameterizedTest
  @MethodSource("operationsThatTheDeviceLacks")
  void operationThatTheDeviceLacksIsRefused(SendRequest request) {
    try (ProtectionDomain pd = context.allocateProtectionDomain();
        CompletionQueue cq = completionQueue();
        QueuePair qp = connected(pd, cq)) {
      assertErrno(Errno.EOPNOTSUPP, () -> qp.postSend(request))
          .withMessageContaining("RC queue pairs of this device do not have it");
    }
  }

  @Test
  void multicastGroupsAreRefused() {
    Gid group = Gid.ofIpv4(0xef010203);
    try (ProtectionDomain pd = context.allocateProtectionDomain();
        CompletionQueue cq = completionQueue();
        QueuePair qp = pd.createQueuePair(sized(QueuePairConfig.ud(cq, cq)))) {
      assertErrno(Errno.EOPNOTSUPP, () -> qp.attachMulticast(group));
      assertErrno(Errno.EOPNOTSUPP, () -> qp.detachMulticast(group));
      assertThat(context.queryDevice().maxMulticastGroups()).isZero();
      assertThat(device.commands(13)).isEmpty();
    }
  }

  @Test
  void serviceLevelIsRefused() {
    try (ProtectionDomain pd = context.allocateProtectionDomain()) {
      assertErrno(
              Errno.EOPNOTSUPP,
              () -> pd.createAddressHandle(new AddressVector(PEER, 0, 0, 33, 0, 3, 1)))
          .withMessageContaining("service level 3");
    }
  }

  @Test
  void stateIsThatOfTheDevice() {
    try (ProtectionDomain pd = context.allocateProtectionDomain();
        CompletionQueue cq = completionQueue();
        QueuePair qp = connected(pd, cq)) {
      device.answer(11, data -> ScriptedDevice.bytes(120).put(0, (byte) 6).array());

      assertThat(qp.query().state()).isEqualTo(QpState.ERR);
      assertThat(device.commands(11)).containsExactly("02000000" + "01000000");
      assertThat(qp.state()).isEqualTo(QpState.ERR);
    }
  }

  @Test
  void generalServicesAreQueuePairOne() {
    device.answer(9, data -> ScriptedDevice.number(1));
    try (ProtectionDomain pd = context.allocateProtectionDomain();
        CompletionQueue cq = completionQueue();
        QueuePair qp = pd.createQueuePair(QueuePairConfig.gsi(cq, cq))) {
      assertThat(qp.number()).isEqualTo(1);
      assertThat(device.commands(9).getFirst()).startsWith("05000000" + "01");
      assertErrno(
          Errno.EINVAL,
          () -> qp.modify(QpAttributes.to(QpState.INIT).pkeyIndex(0).port(1).qkey(5)));
    }
  }

  @Test
  void pathMtuIsThatOfTheNetwork() {
    try (ProtectionDomain pd = context.allocateProtectionDomain();
        CompletionQueue cq = completionQueue();
        QueuePair qp = pd.createQueuePair(sized(QueuePairConfig.uc(cq, cq)))) {
      qp.modify(QpAttributes.to(QpState.INIT).pkeyIndex(0).port(1).access(Set.of()));
      assertErrno(
              Errno.EINVAL,
              () ->
                  qp.modify(
                      QpAttributes.to(QpState.RTR)
                          .addressVector(AddressVector.to(PEER, 0))
                          .pathMtu(Mtu.MTU_2048)
                          .destinationQpn(3)
                          .receivePsn(0)))
          .withMessageContaining("beyond the port's 1024");
    }
  }
}

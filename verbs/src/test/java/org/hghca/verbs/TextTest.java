package org.hghca.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The text of values and requests in logs and debuggers. */
class TextTest {
  private final MemoryRegion region = new FakeRegion(0x1000, 4096, 0x105);

  @Test
  void requestNamesItsOperationAndElements() {
    SendRequest request = new SendRequest().wrId(7);

    assertThat(request.send()).hasToString("SEND wr_id 7");
    assertThat(request.sendWithImmediate(0xab).sge(0x1000, 64, 0x105).signaled().solicited())
        .hasToString(
            "SEND_WITH_IMM wr_id 7 immediate 0x000000ab [0x1000+64 lkey 0x00000105], signaled,"
                + " solicited");
    assertThat(request.rdmaWrite(0x2000, 0x206).sge(0x1000, 8, 1).sge(0x1100, 9, 2).fence())
        .hasToString(
            "RDMA_WRITE wr_id 7 at 0x2000 rkey 0x00000206 [0x1000+8 lkey 0x00000001]"
                + " [0x1100+9 lkey 0x00000002], fenced");
    assertThat(request.rdmaWriteWithImmediate(0x2000, 0x206, 1).inline())
        .hasToString(
            "RDMA_WRITE_WITH_IMM wr_id 7 at 0x2000 rkey 0x00000206 immediate 0x00000001, inline");
    assertThat(request.rdmaRead(0x2000, 0x206))
        .hasToString("RDMA_READ wr_id 7 at 0x2000 rkey 0x00000206");
    assertThat(request.fetchAndAdd(0x2000, 0x206, -1))
        .hasToString("ATOMIC_FETCH_AND_ADD wr_id 7 at 0x2000 rkey 0x00000206, add -1");
    assertThat(request.compareAndSwap(0x2000, 0x206, 3, 4))
        .hasToString("ATOMIC_CMP_AND_SWP wr_id 7 at 0x2000 rkey 0x00000206, compare 3, swap 4");
  }

  @Test
  void datagramNamesItsDestination() {
    AddressVector vector = AddressVector.to(Gid.ofIpv4(0x0a00_0001), 0);
    AddressHandle handle = Fakes.of(AddressHandle.class, Map.of("vector", a -> vector));

    assertThat(new SendRequest().wrId(1).send().to(handle, 0x12, 5))
        .hasToString("SEND wr_id 1 to QP 0x000012 at 0000:0000:0000:0000:0000:ffff:0a00:0001");
  }

  @Test
  void receiveNamesItsElements() {
    assertThat(new ReceiveRequest().wrId(9).into(region, 16, 64))
        .hasToString("RECV wr_id 9 [0x1010+64 lkey 0x00000105]");
  }

  @Test
  void countersOmitZeros() {
    assertThat(Counters.of(Map.of())).hasToString("all counters are 0");
    Counters counters = Counters.of(Map.of(Counter.DOORBELLS, 3L, Counter.SENDS_POSTED, 5L));
    assertThat(counters).hasToString("sends_posted 5, doorbells 3");
    assertThat(counters.doorbells()).isEqualTo(3);
    assertThat(counters.naks()).isZero();
    assertThat(counters.asMap()).hasSize(Counter.values().length);
  }

  @Test
  void unsetAttributesAreOmitted() {
    DeviceAttributes attributes = DeviceAttributes.builder().vendorId(0x10ee).maxQp(7).build();

    assertThat(attributes.maxQp()).isEqualTo(7);
    assertThat(attributes.maxSrq()).isZero();
    assertThat(attributes.boardId()).isEmpty();
    assertThat(attributes.quirks()).isEmpty();
    assertThat(attributes.advice()).isEqualTo(DeviceAdvice.NONE);
    assertThat(attributes.features().keySet()).containsExactly(DeviceFeature.values());
    assertThat(attributes.features().values()).containsOnly(FeatureSupport.MISSING);
    assertThat(attributes.toString()).startsWith("device 10ee:0000").contains("7 QPs");
  }

  /** Built objects do not change with their builder. */
  @Test
  void builtAttributesDoNotChangeLater() {
    DeviceAttributes.Builder builder = DeviceAttributes.builder().maxQp(7);
    DeviceAttributes before = builder.build();
    builder
        .maxQp(8)
        .features(Map.of(DeviceFeature.ATOMICS, FeatureSupport.NATIVE))
        .quirks(Set.of(DeviceQuirk.NO_GRH));

    assertThat(before.maxQp()).isEqualTo(7);
    assertThat(before.has(DeviceFeature.ATOMICS)).isFalse();
    assertThat(before.has(DeviceQuirk.NO_GRH)).isFalse();
    assertThat(builder.build().quirks()).containsExactly(DeviceQuirk.NO_GRH);
    assertThat(builder.build().has(DeviceFeature.ATOMICS)).isTrue();
  }

  @Test
  void reregistrationNamesItsChanges() {
    assertThat(Reregistration.NONE).hasToString("change memory to -, domain to -, access to -");
    assertThat(Reregistration.to(AccessFlag.LOCAL_WRITE).access())
        .contains(Set.of(AccessFlag.LOCAL_WRITE));
  }
}

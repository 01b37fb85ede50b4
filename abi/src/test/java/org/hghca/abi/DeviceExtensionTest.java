package org.hghca.abi;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The extension part of QUERY_DEV_LIM. */
class DeviceExtensionTest {
  /** The answer of the makers' first RTL; 30h holds a filler, 38h zeros. */
  private static final String RTL =
      "0100000000000000000d000d0e0d050e0c000001000800000100008000400040"
          + "005000f1000c0000001002000010020012345678876500000000000000000000";

  private static MemorySegment outbox(String lastEightBytes) {
    return MemorySegment.ofArray(
        HexFormat.of().parseHex(RTL.substring(0, 2 * 0x38) + lastEightBytes));
  }

  private static Set<DeviceExtension> announced(String lastEightBytes) {
    return DeviceLimits.decode(outbox(lastEightBytes)).extensions();
  }

  @Test
  void magicVersionAndBitsAreInTheLastEightBytes() {
    assertThat(announced("4867582b01000003"))
        .containsExactlyInAnyOrder(
            DeviceExtension.SHARED_RECEIVE_QUEUES, DeviceExtension.RING_OFFSETS);
    assertThat(announced("4867582b01000001"))
        .containsExactly(DeviceExtension.SHARED_RECEIVE_QUEUES);
    assertThat(announced("4867582b01000002")).containsExactly(DeviceExtension.RING_OFFSETS);
    assertThat(announced("4867582b01000004")).containsExactly(DeviceExtension.NEIGHBOR_DISCOVERY);
    assertThat(announced("4867582b01000008")).containsExactly(DeviceExtension.IPV6_ADDRESSES);
    assertThat(announced("4867582b01000010")).containsExactly(DeviceExtension.FLOW_LABELS);
    assertThat(announced("4867582b01000040")).containsExactly(DeviceExtension.MULTICAST);
    assertThat(announced("4867582b01000080")).containsExactly(DeviceExtension.ALTERNATE_PATHS);
    assertThat(announced("4867582b01000100")).containsExactly(DeviceExtension.GSI_QUEUE_PAIR);
    assertThat(announced("4867582b01000200"))
        .containsExactly(DeviceExtension.COMPLETION_RING_OFFSETS);
    assertThat(announced("4867582b01000400")).containsExactly(DeviceExtension.RINGS_OF_ALL_DOMAINS);
    assertThat(announced("4867582b01000000")).isEmpty();
  }

  @Test
  void unknownBitsAreIgnored() {
    assertThat(announced("4867582b01ff0001"))
        .containsExactly(DeviceExtension.SHARED_RECEIVE_QUEUES);
  }

  /** Zeros, ones, the filler of the RTL in other places, another version, other byte orders. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "0000000000000000",
        "ffffffffffffffff",
        "1234567887650000",
        "8765000012345678",
        "4867582b00000003",
        "4867582b02000003",
        "2b58674801000003",
        "010000034867582b",
        "0000000001000003"
      })
  void otherContentsAnnounceNothing(String bytes) {
    assertThat(announced(bytes)).isEmpty();
  }

  @Test
  void announcementIsReadBack() {
    DeviceLimits limits = DeviceLimits.decode(outbox("4867582b01000003"));
    MemorySegment written = MemorySegment.ofArray(new byte[64]);
    limits.encode(written);
    assertThat(written.mismatch(outbox("4867582b01000003"))).isEqualTo(-1);
    MemorySegment none = MemorySegment.ofArray(new byte[64]);
    DeviceLimits.decode(outbox("0000000000000000")).encode(none);
    assertThat(none.mismatch(outbox("0000000000000000"))).isEqualTo(-1);
  }
}

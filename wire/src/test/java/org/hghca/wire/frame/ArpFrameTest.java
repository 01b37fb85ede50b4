package org.hghca.wire.frame;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Frames of ARP against literal bytes. */
final class ArpFrameTest {
  private static final String REQUEST =
      "ffffffffffff"
          + "525400123456"
          + "0806"
          + "0001"
          + "0800"
          + "0604"
          + "0001"
          + "525400123456"
          + "0a630001"
          + "000000000000"
          + "0a63000b";
  private static final String REPLY =
      "525400123456"
          + "525400654321"
          + "0806"
          + "0001"
          + "0800"
          + "0604"
          + "0002"
          + "525400654321"
          + "0a63000b"
          + "525400123456"
          + "0a630001";
  private static final String PADDING = "00".repeat(18);

  private final MemorySegment memory = Arena.ofAuto().allocate(128, 8);

  private void put(String hex) {
    byte[] bytes = HexFormat.of().parseHex(hex);
    MemorySegment.copy(MemorySegment.ofArray(bytes), 0, memory, 4, bytes.length);
  }

  private String written() {
    byte[] bytes = memory.asSlice(4, ArpFrame.SIZE).toArray(ValueLayout.JAVA_BYTE);
    return HexFormat.of().formatHex(bytes);
  }

  @Test
  void requestIsBroadcast() {
    memory.fill((byte) 0x55);
    ArpFrame.writeRequest(memory, 4, 0x5254_0012_3456L, 0x0a63_0001, 0x0a63_000b);
    assertThat(written()).isEqualTo(REQUEST + PADDING);
    assertThat(memory.get(ValueLayout.JAVA_BYTE, 3)).isEqualTo((byte) 0x55);
    assertThat(memory.get(ValueLayout.JAVA_BYTE, 64)).isEqualTo((byte) 0x55);
  }

  @Test
  void replyGoesToTheRequester() {
    memory.fill((byte) 0x55);
    ArpFrame.writeReply(memory, 4, 0x5254_0065_4321L, 0x0a63_000b, 0x5254_0012_3456L, 0x0a63_0001);
    assertThat(written()).isEqualTo(REPLY + PADDING);
  }

  @Test
  void frameIsRead() {
    put(REQUEST);
    assertThat(ArpFrame.isArp(memory, 4, 42)).isTrue();
    assertThat(ArpFrame.isRequest(memory, 4)).isTrue();
    assertThat(ArpFrame.senderMac(memory, 4)).isEqualTo(0x5254_0012_3456L);
    assertThat(ArpFrame.senderIp(memory, 4)).isEqualTo(0x0a63_0001);
    assertThat(ArpFrame.targetIp(memory, 4)).isEqualTo(0x0a63_000b);
    put(REPLY);
    assertThat(ArpFrame.isArp(memory, 4, 60)).isTrue();
    assertThat(ArpFrame.isRequest(memory, 4)).isFalse();
    assertThat(ArpFrame.senderMac(memory, 4)).isEqualTo(0x5254_0065_4321L);
  }

  /** Another type, hardware, protocol, sizes, operation. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "0800" + "0001" + "0800" + "0604" + "0001",
        "0806" + "0006" + "0800" + "0604" + "0001",
        "0806" + "0001" + "86dd" + "0604" + "0001",
        "0806" + "0001" + "0800" + "0804" + "0001",
        "0806" + "0001" + "0800" + "0604" + "0003"
      })
  void otherFramesAreRefused(String part) {
    put(REQUEST.substring(0, 24) + part + REQUEST.substring(44));
    assertThat(ArpFrame.isArp(memory, 4, 60)).isFalse();
  }

  @Test
  void truncatedFrameIsRefused() {
    put(REQUEST);
    assertThat(ArpFrame.isArp(memory, 4, 41)).isFalse();
  }
}

package org.hghca.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.verbs.Failures.assertErrno;

import java.nio.BufferOverflowException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RemoteMemoryTest {
  private static final RemoteMemory MEMORY =
      new RemoteMemory(0x7f01_0203_0405_0607L, 0xdeadbeef, 0x1_0000_0008L);

  /** The documented layout, byte by byte. */
  private static final String BYTES = "7f01020304050607" + "0000000100000008" + "deadbeef";

  @Test
  void bytesAreInNetworkOrder() {
    assertThat(HexFormat.of().formatHex(MEMORY.toBytes())).isEqualTo(BYTES);
    assertThat(RemoteMemory.of(HexFormat.of().parseHex(BYTES))).isEqualTo(MEMORY);
  }

  @Test
  void orderOfTheBufferDoesNotMatterAndIsKept() {
    ByteBuffer buffer = ByteBuffer.allocate(30).order(ByteOrder.LITTLE_ENDIAN).position(3);
    MEMORY.writeTo(buffer);

    assertThat(buffer.position()).isEqualTo(23);
    assertThat(buffer.order()).isEqualTo(ByteOrder.LITTLE_ENDIAN);
    assertThat(HexFormat.of().formatHex(buffer.array(), 3, 23)).isEqualTo(BYTES);

    assertThat(RemoteMemory.readFrom(buffer.position(3))).isEqualTo(MEMORY);
    assertThat(buffer.position()).isEqualTo(23);
    assertThat(buffer.order()).isEqualTo(ByteOrder.LITTLE_ENDIAN);
  }

  @Test
  void bufferThatIsTooShortStaysUnchanged() {
    ByteBuffer buffer = ByteBuffer.allocate(19);

    assertThatThrownBy(() -> MEMORY.writeTo(buffer)).isInstanceOf(BufferOverflowException.class);
    assertThatThrownBy(() -> RemoteMemory.readFrom(buffer))
        .isInstanceOf(BufferUnderflowException.class);
    assertThat(buffer.position()).isZero();
    assertThat(buffer.array()).containsOnly(0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "00", BYTES + "00", "7f01020304050607ffffffffffffffffdeadbeef"})
  void otherBytesAreRefused(String hex) {
    assertErrno(Errno.EINVAL, () -> RemoteMemory.of(HexFormat.of().parseHex(hex)));
  }

  @Test
  void sliceLiesWithin() {
    assertThat(MEMORY.slice(8, 0x1_0000_0000L))
        .isEqualTo(new RemoteMemory(0x7f01_0203_0405_060fL, 0xdeadbeef, 0x1_0000_0000L));
    assertThatThrownBy(() -> MEMORY.slice(9, 0x1_0000_0000L))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> MEMORY.slice(-1, 1)).isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void requestsUseItAsTarget() {
    SendRequest write = new SendRequest().rdmaWrite(MEMORY.slice(8, 8));
    assertThat(write.opcode()).isEqualTo(WrOpcode.RDMA_WRITE);
    assertThat(write.remoteAddress()).isEqualTo(0x7f01_0203_0405_060fL);
    assertThat(write.rkey()).isEqualTo(0xdeadbeef);

    SendRequest read = new SendRequest().rdmaRead(MEMORY);
    assertThat(read.opcode()).isEqualTo(WrOpcode.RDMA_READ);
    assertThat(read.remoteAddress()).isEqualTo(0x7f01_0203_0405_0607L);
    assertThat(read.rkey()).isEqualTo(0xdeadbeef);
  }

  @Test
  void textNamesAddressAndKey() {
    assertThat(new RemoteMemory(0x1000, 0x105, 64))
        .hasToString("64 bytes at 0x1000 rkey 0x00000105");
  }
}

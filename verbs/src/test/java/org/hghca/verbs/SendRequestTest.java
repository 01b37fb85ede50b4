package org.hghca.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.verbs.Failures.assertErrno;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class SendRequestTest {
  private static final FakeRegion REGION = new FakeRegion(0x7000_0000_1000L, 4096, 0x5a);
  private static final FakeHandle HANDLE =
      new FakeHandle(AddressVector.to(Gid.ofIpv4(0x7f000001), 0));

  private final SendRequest request = new SendRequest();

  static Stream<Arguments> operations() {
    return Stream.of(
        operation(WrOpcode.SEND, 0, 0, 0, r -> r.send()),
        operation(WrOpcode.SEND_WITH_IMM, 0, 0, -5, r -> r.sendWithImmediate(-5)),
        operation(WrOpcode.RDMA_WRITE, 0x1_0000_0002L, -3, 0, r -> r.rdmaWrite(0x1_0000_0002L, -3)),
        operation(WrOpcode.RDMA_WRITE_WITH_IMM, -1, 4, 5, r -> r.rdmaWriteWithImmediate(-1, 4, 5)),
        operation(WrOpcode.RDMA_READ, 0x10, 6, 0, r -> r.rdmaRead(0x10, 6)));
  }

  private static Arguments operation(
      WrOpcode opcode, long address, int rkey, int immediate, UnaryOperator<SendRequest> call) {
    return Arguments.of(opcode, address, rkey, immediate, call);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("operations")
  void operationStartsEmptyAndKeepsOnlyTheWrId(
      WrOpcode opcode, long address, int rkey, int immediate, UnaryOperator<SendRequest> call) {
    request
        .wrId(77)
        .rdmaWriteWithImmediate(0x9999, 0x88, 0x77)
        .sge(REGION)
        .sge(REGION)
        .signaled()
        .solicited()
        .fence()
        .inline();

    assertThat(call.apply(request)).isSameAs(request);

    assertThat(request.opcode()).isEqualTo(opcode);
    assertThat(request.wrId()).isEqualTo(77);
    assertThat(request.sgeCount()).isZero();
    assertThat(request.isSignaled()).isFalse();
    assertThat(request.isSolicited()).isFalse();
    assertThat(request.isFenced()).isFalse();
    assertThat(request.isInline()).isFalse();
    assertThat(request.remoteAddress()).isEqualTo(address);
    assertThat(request.rkey()).isEqualTo(rkey);
    assertThat(request.immediate()).isEqualTo(immediate);
  }

  static Stream<Arguments> contents() {
    return Stream.of(
        contents("[0x700000001000+4096 lkey 0x0000005a]", r -> r.sge(REGION)),
        contents(", inline", r -> r.inline(MemorySegment.ofArray(new byte[1]))),
        contents(", inline", r -> r.inline()),
        contents(", signaled", r -> r.signaled()),
        contents(", solicited", r -> r.solicited()),
        contents(", fenced", r -> r.fence()),
        contents(" to QP 0x000005 at 0000:", r -> r.to(HANDLE, 5, 6)));
  }

  private static Arguments contents(String text, UnaryOperator<SendRequest> call) {
    return Arguments.of(text, call);
  }

  /** They would be lost, and an empty request posted. */
  @ParameterizedTest(name = "{0}")
  @MethodSource("contents")
  void firstOperationAfterContentsIsRefused(String text, UnaryOperator<SendRequest> call) {
    assertThat(call.apply(request)).isSameAs(request);

    assertThatThrownBy(() -> request.rdmaWrite(1, 2))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContainingAll("RDMA_WRITE", text, "new SendRequest().send().sge(region)");
    assertThatThrownBy(() -> request.fetchAndAdd(8, 2, 1))
        .isInstanceOf(IllegalStateException.class);
    assertThat(request.toString()).as("as it was").startsWith("SEND wr_id 0").contains(text);
  }

  @Test
  void newRequestWithContentsIsASend() {
    request.sge(REGION, 0, 8).signaled();

    assertThat(request.toString()).startsWith("SEND wr_id 0 [0x700000001000+8");
    assertThat(request.isSignaled()).isTrue();
  }

  @Test
  void newRequestIsAnEmptySend() {
    assertThat(request.opcode()).isEqualTo(WrOpcode.SEND);
    assertThat(request.wrId()).isZero();
    assertThat(request.sgeCount()).isZero();
    assertThat(request.isSignaled()).isFalse();
  }

  @Test
  void eachFlagIsIndependent() {
    assertThat(request.send().signaled().isSignaled()).isTrue();
    assertThat(request.isSolicited() || request.isFenced() || request.isInline()).isFalse();
    assertThat(request.send().solicited().isSolicited()).isTrue();
    assertThat(request.isSignaled() || request.isFenced() || request.isInline()).isFalse();
    assertThat(request.send().fence().isFenced()).isTrue();
    assertThat(request.isSignaled() || request.isSolicited() || request.isInline()).isFalse();
    assertThat(request.send().inline().isInline()).isTrue();
    assertThat(request.isSignaled() || request.isSolicited() || request.isFenced()).isFalse();
  }

  @Test
  void elementsComeInOrder() {
    request.send().sge(REGION).sge(REGION, 16, 100).sge(-8, Integer.MAX_VALUE, -1);

    assertThat(request.sgeCount()).isEqualTo(3);
    assertElement(0, 0x7000_0000_1000L, 4096, 0x5a);
    assertElement(1, 0x7000_0000_1010L, 100, 0x5a);
    assertElement(2, -8, Integer.MAX_VALUE, -1);
  }

  private void assertElement(int index, long address, int length, int lkey) {
    assertThat(request.sgeAddress(index)).isEqualTo(address);
    assertThat(request.sgeLength(index)).isEqualTo(length);
    assertThat(request.sgeLkey(index)).isEqualTo(lkey);
  }

  @ParameterizedTest
  @CsvSource({"-1,1", "0,4097", "1,4096", "4096,1", "4097,0", "0,-1", "9223372036854775807,1"})
  void partBeyondTheRegionIsRefused(long offset, long length) {
    request.send();

    assertThatThrownBy(() -> request.sge(REGION, offset, length))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThat(request.sgeCount()).isZero();
  }

  @Test
  void emptyPartAtTheEndIsWithinTheRegion() {
    request.send().sge(REGION, 4096, 0);

    assertElement(0, 0x7000_0000_2000L, 0, 0x5a);
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 1L << 31, Long.MAX_VALUE})
  void elementLongerThan31BitsIsRefused(long length) {
    assertErrno(Errno.EINVAL, () -> request.send().sge(0x1000, length, 1))
        .hasMessageContainingAll(length + " bytes", "2^31 - 1");
    assertThat(request.sgeCount()).isZero();
  }

  @Test
  void partOfARegionBeyond31BitsIsReached() {
    FakeRegion large = new FakeRegion(0x1000, 1L << 40, 1);

    request.send().sge(large, (1L << 40) - 8, 8);

    assertElement(0, 0x1000 + (1L << 40) - 8, 8, 1);
    assertThatThrownBy(() -> request.sge(large)).isInstanceOf(VerbsException.class);
  }

  @Test
  void sixteenElementsFitByDefault() {
    request.send();
    for (int i = 0; i < 16; i++) {
      request.sge(REGION, i, 1);
    }

    assertFull(request, 16);
    assertFull(new SendRequest(1).send().sge(REGION), 1);
    assertFull(new SendRequest(0).send(), 0);
  }

  private static void assertFull(SendRequest request, int room) {
    assertThatThrownBy(() -> request.sge(REGION, 0, 1)).hasMessageContaining("room for " + room);
    assertThatThrownBy(() -> request.inline(MemorySegment.ofArray(new byte[1])))
        .isInstanceOf(VerbsException.class);
    assertErrno(Errno.EINVAL, () -> request.sge(0, 1, 1));
    assertThat(request.sgeCount()).isEqualTo(room);
    assertThat(request.isInline()).isFalse();
  }

  @Test
  void registeredElementsCanBeCopied() {
    MemorySegment memory = Arena.ofAuto().allocate(64);
    memory.set(ValueLayout.JAVA_BYTE, 10, (byte) 1);
    memory.set(ValueLayout.JAVA_BYTE, 12, (byte) 3);
    MemorySegment copy = MemorySegment.ofArray(new byte[6]);

    request.send().sge(new FakeRegion(memory, 9), 10, 3).inline();

    assertThat(request.copyData(0, copy, 2, 3)).isEqualTo(3);
    assertThat(copy.toArray(ValueLayout.JAVA_BYTE)).containsExactly(0, 0, 1, 0, 3, 0);
  }

  @Test
  void anySegmentCanBeInline() {
    MemorySegment heap = MemorySegment.ofArray(new byte[] {1, 2, 3, 4}).asSlice(1, 2);
    MemorySegment copy = MemorySegment.ofArray(new byte[2]);

    request.send().inline(heap);

    assertThat(request.isInline()).isTrue();
    assertThat(request.sgeLength(0)).isEqualTo(2);
    assertThat(request.copyData(0, copy, 0, 2)).isEqualTo(2);
    assertThat(copy.toArray(ValueLayout.JAVA_BYTE)).containsExactly(2, 3);
  }

  @Test
  void elementsWithOnlyAnAddressCannotBeCopied() {
    MemorySegment copy = MemorySegment.ofArray(new byte[8]);
    request.send().sge(REGION);
    request.send().sge(0x1000, 8, 1);

    assertThat(request.copyData(0, copy, 0, 8)).isNegative();
  }

  @Test
  void emptyElementNeedsNoMemory() {
    request.send().sge(0x1000, 0, 1);

    assertThat(request.copyData(0, MemorySegment.ofArray(new byte[8]), 0, 8)).isZero();
  }

  /** The destination may be unchecked memory: each way of copying keeps to the allowed bytes. */
  @ParameterizedTest
  @ValueSource(ints = {1, 7, 8, 9, 16, 17, 64})
  void elementIsCopiedWhollyOrNotAtAll(int bytes) {
    byte[] data = new byte[bytes];
    Arrays.fill(data, (byte) 5);
    byte[] copy = new byte[bytes + 4];
    request.send().inline(MemorySegment.ofArray(data));

    assertThat(request.copyData(0, MemorySegment.ofArray(copy), 2, bytes - 1)).isEqualTo(bytes);
    assertThat(copy).containsOnly(0);

    assertThat(request.copyData(0, MemorySegment.ofArray(copy), 2, bytes)).isEqualTo(bytes);
    assertThat(Arrays.copyOfRange(copy, 2, 2 + bytes)).isEqualTo(data);
    assertThat(new byte[] {copy[0], copy[1], copy[bytes + 2], copy[bytes + 3]}).containsOnly(0);
  }
}

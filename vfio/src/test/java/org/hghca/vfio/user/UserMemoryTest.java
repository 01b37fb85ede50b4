package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaFault;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.memory.BufferPool;
import org.hghca.vfio.user.UserStructures.DmaTransfer;
import org.hghca.vfio.user.UserStructures.DmaUnmap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The server reaches mapped memory, directly or by requests, and no other. */
final class UserMemoryTest extends WithFakeServer {
  private static final int EINVAL = 22;
  private static final int EFAULT = 14;
  private static final int EOPNOTSUPP = 95;

  @BeforeEach
  void open() {
    open("");
    server.newCalls();
  }

  private List<String> calls() {
    return server.newCalls();
  }

  @Test
  void allocatedMemoryIsSharedByItsDescriptor() {
    DmaMapping mapping = function.allocate(5000);
    long iova = mapping.iova(0);
    assertThat(iova & 0xfff).isZero();
    assertThat(iova).isGreaterThanOrEqualTo(0x1_0000);
    assertThat(mapping.segment().byteSize()).isEqualTo(8192);
    assertThat(calls()).containsExactly("DMA_MAP 0x%x+0x2000 flags 3 with 1".formatted(iova));
    MemorySegment seen = server.shared.get(iova);
    mapping.segment().set(ValueLayout.JAVA_LONG, 4096, 77);
    assertThat(seen.get(ValueLayout.JAVA_LONG, 4096)).isEqualTo(77);
    seen.set(ValueLayout.JAVA_BYTE, 0, (byte) 5);
    assertThat(mapping.segment().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 5);

    mapping.close();
    mapping.close();
    assertThat(calls()).containsExactly("DMA_UNMAP 0x%x+0x2000".formatted(iova));
  }

  @Test
  void everyPieceOfSharedMemoryIsFoundInItsFile() {
    DmaMapping first = function.allocate(4096);
    DmaMapping second = function.allocate(4096);
    second.segment().set(ValueLayout.JAVA_INT, 8, 22);
    first.segment().set(ValueLayout.JAVA_INT, 8, 11);
    assertThat(server.shared.get(first.iova(0)).get(ValueLayout.JAVA_INT, 8)).isEqualTo(11);
    assertThat(server.shared.get(second.iova(0)).get(ValueLayout.JAVA_INT, 8)).isEqualTo(22);
  }

  @Test
  void memoryOfABufferPoolIsSharedWhenItIsMapped() {
    try (BufferPool pool = new BufferPool(function.memory());
        BufferPool.Buffer buffer = pool.allocate(100)) {
      DmaMapping mapping = function.map(buffer.deviceMemory(), DmaAccess.READ);
      assertThat(calls()).singleElement().asString().endsWith("+0x1000 flags 1 with 1");
      buffer.segment().set(ValueLayout.JAVA_BYTE, 99, (byte) 3);
      long page = mapping.iova(0) & -4096;
      assertThat(server.shared.get(page).get(ValueLayout.JAVA_BYTE, mapping.iova(99) - page))
          .isEqualTo((byte) 3);
      mapping.close();
    }
  }

  @Test
  void gibibyteIsOneMessage() {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = function.memory().allocate(arena, 1L << 30);
      DmaMapping mapping = function.map(memory, DmaAccess.READ_WRITE);
      assertThat(calls())
          .containsExactly("DMA_MAP 0x%x+0x40000000 flags 3 with 1".formatted(mapping.iova(0)));
      mapping.close();
      assertThat(calls()).hasSize(1);
    }
  }

  @Test
  void memoryWithoutADescriptorIsServedByRequests() throws Exception {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(10_000, 4096).asSlice(0x123, 5000);
      DmaMapping mapping = function.map(memory, DmaAccess.READ_WRITE);
      long iova = mapping.iova(0);
      assertThat(iova & 0xfff).isEqualTo(0x123);
      assertThat(calls()).containsExactly("DMA_MAP 0x%x+0x2000 flags 3".formatted(iova - 0x123));
      memory.set(ValueLayout.JAVA_BYTE, 4999, (byte) 9);

      UserMessage read = server.ask(FakeServer.dmaRead(1, iova, 5000));
      assertThat(read.isReply()).isTrue();
      assertThat(read.isFailed()).isFalse();
      assertThat(read.payloadBytes()).isEqualTo(DmaTransfer.DATA + 5000);
      assertThat(read.getLong(DmaTransfer.ADDRESS)).isEqualTo(iova);
      assertThat(read.getLong(DmaTransfer.COUNT)).isEqualTo(5000);
      assertThat(read.getByte(DmaTransfer.DATA + 4999)).isEqualTo(9);

      UserMessage write =
          server.ask(FakeServer.dmaWrite(0xffff, mapping.iova(10), (byte) 1, (byte) 2, (byte) 3));
      assertThat(write.isFailed()).isFalse();
      assertThat(write.payloadBytes()).isEqualTo(DmaTransfer.DATA);
      assertThat(write.getLong(DmaTransfer.ADDRESS)).isEqualTo(iova + 10);
      assertThat(write.getLong(DmaTransfer.COUNT)).isEqualTo(3);
      assertThat(memory.asSlice(9, 5).toArray(ValueLayout.JAVA_BYTE))
          .containsExactly(0, 1, 2, 3, 0);
      assertThat(function.dmaFaults()).isEmpty();
      mapping.close();
    }
  }

  @Test
  void sharedMemoryCanBeRequestedToo() throws Exception {
    DmaMapping mapping = function.allocate(4096);
    mapping.segment().set(ValueLayout.JAVA_BYTE, 7, (byte) 70);
    UserMessage read = server.ask(FakeServer.dmaRead(3, mapping.iova(7), 1));
    assertThat(read.getByte(DmaTransfer.DATA)).isEqualTo(70);
  }

  @Test
  void requestMovesAtMostAMebibyte() throws Exception {
    int most = 1 << 20;
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(most + 1L);
      DmaMapping mapping = function.map(memory, DmaAccess.READ_WRITE);
      memory.fill((byte) 6);
      UserMessage read = server.ask(FakeServer.dmaRead(1, mapping.iova(0), most));
      assertThat(read.getByte(DmaTransfer.DATA + most - 1)).isEqualTo(6);
      UserMessage refused = server.ask(FakeServer.dmaRead(2, mapping.iova(0), most + 1L));
      assertThat(refused.error()).isEqualTo(EINVAL);
      assertThat(server.ask(FakeServer.dmaWrite(3, mapping.iova(1), new byte[most])).isFailed())
          .isFalse();
      assertThat(memory.get(ValueLayout.JAVA_BYTE, most)).isZero();
      mapping.close();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "-1, 1",
    "-1, 2",
    "5000, 1",
    "4999, 2",
    "0, 5001",
    "-0x123, 16",
    "0x7000000000000000, 8",
    "-0x7000000000000000, 8"
  })
  void accessOutsideIsRefusedAndRecorded(String offset, int count) throws Exception {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment all = arena.allocate(10_000, 4096);
      DmaMapping mapping = function.map(all.asSlice(0x123, 5000), DmaAccess.READ_WRITE);
      long address = mapping.iova(0) + Long.decode(offset);
      UserMessage read = server.ask(FakeServer.dmaRead(1, address, count));
      assertThat(read.isFailed()).isTrue();
      assertThat(read.error()).isEqualTo(EFAULT);
      assertThat(read.payloadBytes()).isZero();
      byte[] ones = new byte[count];
      Arrays.fill(ones, (byte) 1);
      assertThat(server.ask(FakeServer.dmaWrite(2, address, ones)).error()).isEqualTo(EFAULT);
      assertThat(all.toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
      assertThat(function.dmaFaults())
          .containsExactly(
              new DmaFault(address, count, false, "not mapped"),
              new DmaFault(address, count, true, "not mapped"));
      assertThat(function.dmaFaultCount()).isEqualTo(2);
      mapping.close();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 32, (1 << 20) + 1})
  void impossibleLengthIsRefused(long count) throws Exception {
    DmaMapping mapping = function.allocate(4096);
    assertThat(server.ask(FakeServer.dmaRead(1, mapping.iova(0), count)).error()).isEqualTo(EINVAL);
    UserMessage write = FakeServer.dmaWrite(2, mapping.iova(0), new byte[8]);
    write.putLong(DmaTransfer.COUNT, count);
    assertThat(server.ask(write).error()).isEqualTo(EINVAL);
    assertThat(mapping.segment().get(ValueLayout.JAVA_LONG, 0)).isZero();
  }

  @Test
  void readOnlyMemoryIsNotWritten() throws Exception {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(64).asReadOnly();
      DmaMapping mapping = function.map(memory, DmaAccess.READ);
      assertThat(calls()).singleElement().asString().endsWith("flags 1");
      assertThat(server.ask(FakeServer.dmaRead(1, mapping.iova(0), 64)).isFailed()).isFalse();
      assertThat(server.ask(FakeServer.dmaWrite(2, mapping.iova(0), (byte) 1)).error())
          .isEqualTo(EFAULT);
      assertThat(function.dmaFaults().getFirst().cause()).isEqualTo("mapped read-only");
      mapping.close();
    }
  }

  @Test
  void unmappedMemoryIsOutOfReach() throws Exception {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(64);
      DmaMapping mapping = function.map(memory, DmaAccess.READ_WRITE);
      long iova = mapping.iova(0);
      mapping.close();
      assertThat(server.ask(FakeServer.dmaWrite(1, iova, (byte) 1)).error()).isEqualTo(EFAULT);
      assertThat(memory.get(ValueLayout.JAVA_BYTE, 0)).isZero();
    }
  }

  @Test
  void memoryOfAClosedArenaIsARefusalAndNoCrash() throws Exception {
    Arena arena = Arena.ofShared();
    DmaMapping mapping = function.map(arena.allocate(1 << 22), DmaAccess.READ_WRITE);
    arena.close();
    assertThat(server.ask(FakeServer.dmaRead(1, mapping.iova(0), 4096)).error()).isEqualTo(EFAULT);
    assertThat(server.ask(FakeServer.dmaWrite(2, mapping.iova(4096), new byte[100])).error())
        .isEqualTo(EFAULT);
    assertThat(function.dmaFaultCount()).isEqualTo(2);
    mapping.close();
  }

  @Test
  void overlappingMemoryIsMappedAndUnmappedIndependently() throws Exception {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(8192, 4096);
      DmaMapping all = function.map(memory, DmaAccess.READ_WRITE);
      DmaMapping part = function.map(memory.asSlice(100, 100), DmaAccess.READ);
      assertThat(part.iova(0)).isNotEqualTo(all.iova(100));
      all.close();
      assertThat(server.ask(FakeServer.dmaRead(1, part.iova(0), 100)).isFailed()).isFalse();
      assertThat(server.ask(FakeServer.dmaRead(2, all.iova(0), 1)).isFailed()).isTrue();
      part.close();
    }
  }

  @Test
  void commandWithoutReplyFlagGetsNoReply() throws Exception {
    DmaMapping mapping = function.allocate(4096);
    UserMessage write = new UserMessage(64, 0);
    write.command(5, UserCommand.DMA_WRITE, UserMessage.NO_REPLY, DmaTransfer.DATA + 1);
    write.putLong(DmaTransfer.ADDRESS, mapping.iova(0));
    write.putLong(DmaTransfer.COUNT, 1);
    write.putByte(DmaTransfer.DATA, 8);
    server.channel().send(write);
    assertThat(server.ask(FakeServer.dmaRead(6, mapping.iova(0), 1)).getByte(DmaTransfer.DATA))
        .isEqualTo(8);
    assertThat(server.replies).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"VERSION", "DMA_MAP", "REGION_READ", "DEVICE_RESET", "DEVICE_FEATURE"})
  void commandsOfOtherDirectionsAreRefused(String name) throws Exception {
    UserMessage message = new UserMessage(64, 0);
    message.command(9, UserCommand.valueOf(name), 0, 16);
    assertThat(server.ask(message).error()).isEqualTo(EOPNOTSUPP);
    assertThat(function.region(0).readInt(0)).isZero();
  }

  @Test
  void serverThatRequestsMemoryBeforeItRepliesIsServed() throws Exception {
    try (Arena arena = Arena.ofShared()) {
      DmaMapping mapping = function.map(arena.allocate(64), DmaAccess.READ_WRITE);
      server.answers.put(
          UserCommand.REGION_READ,
          (command, reply) -> {
            server.channelNow().send(FakeServer.dmaWrite(1, mapping.iova(0), (byte) 42));
            return server.read(command, reply);
          });
      assertThat(function.region(0).readInt(0)).isZero();
      // The access arrived first, and was served first.
      assertThat(mapping.segment().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 42);
      assertThat(server.replies.take().isFailed()).isFalse();
      mapping.close();
    }
  }

  @Test
  void memoryThatTheServerRefusesIsNotMapped() throws Exception {
    FakeServer.Answer usual = server.answers.put(UserCommand.DMA_MAP, FakeServer.refuse(12));
    assertReason(Reason.NO_MEMORY, () -> function.allocate(4096))
        .hasMessageContainingAll("refused DMA_MAP", "ENOMEM");
    String first = calls().getFirst();
    assertThat(server.ask(FakeServer.dmaRead(1, 0x1_0000, 1)).isFailed()).isTrue();
    server.answers.put(UserCommand.DMA_MAP, usual);
    function.allocate(4096);
    assertThat(calls()).containsExactly(first); // the address was released
  }

  @Test
  void unmapThatTheServerRefusesIsReportedAndItsAddressRetired() {
    FakeServer.Answer usual = server.answers.get(UserCommand.DMA_UNMAP);
    DmaMapping mapping = function.allocate(4096);
    long iova = mapping.iova(0);
    server.answers.put(UserCommand.DMA_UNMAP, FakeServer.refuse(22));
    assertReason(Reason.INVALID, mapping::close).hasMessageContaining("refused DMA_UNMAP");
    server.answers.put(UserCommand.DMA_UNMAP, usual);
    assertThat(function.allocate(4096).iova(0)).isNotEqualTo(iova);
  }

  /** As libvfio-user answers when its device never reaches memory. */
  @Test
  void unmapMayBeAnsweredWithoutAPayload() {
    server.answers.put(UserCommand.DMA_MAP, FakeServer::header);
    server.answers.put(UserCommand.DMA_UNMAP, FakeServer::header);
    DmaMapping mapping = function.allocate(4096);
    long iova = mapping.iova(0);
    mapping.close();
    assertThat(function.allocate(4096).iova(0)).as("its address is free").isEqualTo(iova);
  }

  @Test
  void unansweredUnmapIsReportedByItsClose() throws IOException {
    function.close();
    server.close();
    server = new FakeServer(Files.createDirectory(directory.resolve("next")));
    function = PciFunctions.open(Locator.parse(server.locator() + "?timeout=PT0.3S"));
    DmaMapping first = function.allocate(4096);
    DmaMapping second = function.allocate(4096);
    server.answers.put(UserCommand.DMA_UNMAP, (command, reply) -> false);
    assertReason(Reason.CLOSED, first::close).hasMessageContaining("has not answered DMA_UNMAP");
    second.close();
  }

  @Test
  void unmapIsDoneWhenTheServerHangsUp() {
    DmaMapping mapping = function.allocate(4096);
    server.answers.put(
        UserCommand.DMA_UNMAP,
        (command, reply) -> {
          server.channelNow().close();
          return false;
        });
    mapping.close();
    assertReason(Reason.CLOSED, () -> function.allocate(1));
  }

  @Test
  void unmapReplyForOtherMemoryBreaksTheProtocol() {
    DmaMapping mapping = function.allocate(4096);
    FakeServer.Answer usual = server.answers.get(UserCommand.DMA_UNMAP);
    server.answers.put(
        UserCommand.DMA_UNMAP,
        (command, reply) -> {
          boolean made = usual.make(command, reply);
          reply.putLong(DmaUnmap.LENGTH, 8192);
          return made;
        });
    assertReason(Reason.CLOSED, mapping::close)
        .hasMessageContainingAll("broke the protocol: 0x1000 bytes at", "it replies to 0x2000");
    assertReason(Reason.CLOSED, () -> function.allocate(1));
  }

  @Test
  void confinedMemoryIsRefused() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(64);
      assertReason(Reason.INVALID, () -> function.map(memory, DmaAccess.READ))
          .hasMessageContaining("confined");
    }
    assertReason(
        Reason.INVALID, () -> function.map(MemorySegment.ofArray(new byte[8]), DmaAccess.READ));
    assertThat(calls()).isEmpty();
  }
}

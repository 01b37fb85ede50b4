package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.hghca.linux.LinuxErrno;
import org.hghca.vfio.DmaFault;
import org.hghca.vfio.user.UserStructures.DmaMap;
import org.hghca.vfio.user.UserStructures.DmaTransfer;
import org.hghca.vfio.user.UserStructures.DmaUnmap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The device reaches the memory that its client mapped, and nothing else, whatever the client does.
 */
final class ClientMemoryTest {
  private static final int EINVAL = LinuxErrno.EINVAL.number();
  private static final long PAGE = 4096;

  @TempDir Path directory;
  private Served served;
  private ServedDevice device;
  private RawClient client;

  @BeforeEach
  void serve() {
    served = new Served(directory);
    device = served.device;
    client = RawClient.greeted(served.path);
  }

  @AfterEach
  void close() throws IOException {
    client.close();
    served.close();
    assertThat(mappings()).isZero();
  }

  /** The number of mappings of clients' memory in this process. */
  private static long mappings() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
      return lines.filter(line -> line.contains("/memfd:client")).count();
    }
  }

  @Test
  void memoryIsShared() {
    int file = client.memory(4 * PAGE);
    client.put(file, PAGE + 16, 0x1234);
    assertThat(client.map(0x10_0000, 2 * PAGE, file, PAGE)).isZero();
    assertThat(client.in.payloadBytes()).isZero();
    assertThat(device.read(0x10_0010)).isEqualTo(0x1234);
    assertThat(device.write(0x10_0000 + 2 * PAGE - 8, 0x5678)).isTrue();
    assertThat(client.get(file, 3 * PAGE - 8)).isEqualTo(0x5678);
    assertThat(device.read(0x10_0000 + 2 * PAGE - 4)).as("over the end").isNull();
    assertThat(device.read(0x10_0000 - 4)).as("before the beginning").isNull();
    assertThat(served.server.dmaFaults())
        .extracting(DmaFault::toString)
        .containsExactly(
            "DMA read of 8 bytes at IOVA 0x101ffc: not mapped",
            "DMA read of 8 bytes at IOVA 0xffffc: not mapped");
    client.linux.close(file);
    assertThat(device.read(0x10_0010)).isEqualTo(0x1234);
  }

  @Test
  void kindOfAccessIsChecked() {
    int file = client.memory(PAGE);
    client.beginMap(0x10_0000, PAGE, 0, DmaMap.FLAG_READ);
    client.out.attach(file);
    assertThat(client.call()).isZero();
    assertThat(device.write(0x10_0000, 1)).isFalse();
    assertThat(device.read(0x10_0000)).isZero();
    client.beginMap(0x20_0000, PAGE, 0, DmaMap.FLAG_WRITE);
    client.out.attach(file);
    assertThat(client.call()).isZero();
    assertThat(device.read(0x20_0000)).isNull();
    assertThat(device.write(0x20_0000, 7)).isTrue();
    assertThat(device.read(0x10_0000)).isEqualTo(7);
    assertThat(served.server.dmaFaultCount()).isEqualTo(2);
    client.linux.close(file);
  }

  @Test
  void readOnlyFileIsMappedOnlyForReading() throws IOException {
    Path path = Files.write(directory.resolve("file"), new byte[8192]);
    int readOnly = client.linux.open(path.toString(), 0);
    assertThat(client.map(0x10_0000, PAGE, readOnly, 0)).isEqualTo(LinuxErrno.EACCES.number());
    client.beginMap(0x10_0000, PAGE, 0, DmaMap.FLAG_READ);
    client.out.attach(readOnly);
    assertThat(client.call()).isZero();
    assertThat(device.read(0x10_0000)).isZero();
    // The same file by a descriptor that may also write it.
    int both = client.linux.open(path.toString(), 2);
    assertThat(client.map(0x20_0000, PAGE, both, 0)).isZero();
    assertThat(device.write(0x20_0000, 9)).isTrue();
    assertThat(device.read(0x10_0000)).isEqualTo(9);
    client.linux.close(readOnly);
    client.linux.close(both);
  }

  @Test
  void accessMaySpanAdjacentRanges() {
    int file = client.memory(4 * PAGE);
    // Pages in the opposite order, as a client with a page table of its own may have them.
    for (int i = 0; i < 4; i++) {
      assertThat(client.map(0x10_0000 + i * PAGE, PAGE, file, (3 - i) * PAGE)).isZero();
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = arena.allocate(3 * PAGE);
      for (long i = 0; i < 3 * PAGE; i += 8) {
        bytes.set(ValueLayout.JAVA_LONG, i, i);
      }
      assertThat(device.bus().write(0x10_0000 + 2048, bytes, 0, 3 * PAGE)).isTrue();
      assertThat(client.get(file, 3 * PAGE + 2048)).isZero();
      assertThat(client.get(file, 2 * PAGE)).isEqualTo(2048);
      assertThat(client.get(file, 0)).isEqualTo(2 * PAGE + 2048);
      MemorySegment back = arena.allocate(3 * PAGE);
      assertThat(device.bus().read(0x10_0000 + 2048, back, 0, 3 * PAGE)).isTrue();
      assertThat(back.mismatch(bytes)).isEqualTo(-1);

      // One page less: nothing of it is written.
      assertThat(client.unmap(0x10_0000 + 2 * PAGE, PAGE, 0)).isZero();
      bytes.fill((byte) -1);
      assertThat(device.bus().write(0x10_0000 + 2048, bytes, 0, 3 * PAGE)).isFalse();
      assertThat(client.get(file, 2 * PAGE)).isEqualTo(2048);
    }
    client.linux.close(file);
  }

  @Test
  void impossibleRangesAreRefused() {
    int file = client.memory(2 * PAGE);
    int eexist = LinuxErrno.EEXIST.number();
    assertThat(client.map(0x10_0000, 2 * PAGE, file, 0)).isZero();
    assertThat(client.map(0x10_0000, 2 * PAGE, file, 0)).isEqualTo(eexist);
    assertThat(client.map(0x10_1000, PAGE, file, 0)).isEqualTo(eexist);
    assertThat(client.map(0xf_f000, 2 * PAGE, file, 0)).isEqualTo(eexist);
    assertThat(client.map(0xf_f000, 4 * PAGE, -1, 0)).isEqualTo(eexist);
    assertThat(client.map(0x20_0000, 0, file, 0)).isEqualTo(EINVAL);
    assertThat(client.map(0x20_0000, 100, file, 0)).isEqualTo(EINVAL);
    assertThat(client.map(0x20_0008, PAGE, file, 0)).isEqualTo(EINVAL);
    assertThat(client.map(0x20_0000, PAGE, file, 8)).isEqualTo(EINVAL);
    assertThat(client.map(0x20_0000, PAGE, file, 2 * PAGE)).isEqualTo(EINVAL);
    assertThat(client.map(0x20_0000, PAGE, file, -PAGE)).isEqualTo(EINVAL);
    assertThat(client.map(0x20_0000, 3 * PAGE, file, 0)).isEqualTo(EINVAL);
    assertThat(client.map(-PAGE, 2 * PAGE, file, 0)).as("wraps").isEqualTo(EINVAL);
    assertThat(client.map(PAGE, -PAGE, -1, 0)).as("all but a page").isEqualTo(eexist);
    int event = client.event();
    assertThat(client.map(0x20_0000, PAGE, event, 0)).isEqualTo(EINVAL);
    client.linux.close(event);
    for (int flags : new int[] {0, 4, 7, -1}) {
      client.beginMap(0x20_0000, PAGE, 0, flags);
      assertThat(client.call()).isEqualTo(EINVAL);
    }
    client.beginMap(0x20_0000, PAGE, 0, 3);
    client.out.attach(file);
    client.out.attach(file);
    assertThat(client.call()).as("two descriptors").isEqualTo(EINVAL);
    assertThat(served.server.mappings()).isEqualTo(1);
    assertThat(client.map(-PAGE, PAGE, file, 0)).as("the last page").isZero();
    assertThat(device.write(-8, 5)).isTrue();
    assertThat(device.write(-4, 5)).isFalse();
    client.linux.close(file);
  }

  @Test
  void unmapSplitsNoMapping() {
    int enoent = LinuxErrno.ENOENT.number();
    int file = client.memory(2 * PAGE);
    assertThat(client.map(0x20_0000, PAGE, file, 0)).isZero();
    assertThat(client.map(0x20_1000, PAGE, file, PAGE)).isZero();
    assertThat(client.map(0x60_0000, 2 * PAGE, file, 0)).isZero();
    assertThat(client.unmap(0x60_0000, PAGE, 0)).as("half of one").isEqualTo(EINVAL);
    assertThat(client.unmap(0x60_1000, PAGE, 0)).as("the other half").isEqualTo(EINVAL);
    assertThat(client.unmap(0x60_1000, 3 * PAGE, 0)).as("and beyond").isEqualTo(EINVAL);
    assertThat(client.unmap(0x20_1000, 0x40_0000, 0)).as("one and a half").isEqualTo(EINVAL);
    assertThat(client.unmap(0x20_0000, 0, 0)).as("nothing").isEqualTo(EINVAL);
    assertThat(client.unmap(0x20_0000, -1, 0)).as("wraps").isEqualTo(EINVAL);
    assertThat(client.unmap(0x20_0008, 8, 0)).isEqualTo(EINVAL);
    assertThat(client.unmap(0x20_0000, PAGE, 1)).as("dirty pages").isEqualTo(EINVAL);
    assertThat(client.unmap(0x20_0000, PAGE, DmaUnmap.FLAG_ALL)).isEqualTo(EINVAL);
    assertThat(client.unmap(0, 0x20_0000, 0)).as("below").isEqualTo(enoent);
    assertThat(client.unmap(0x20_2000, 0x3f_e000, 0)).as("between").isEqualTo(enoent);
    assertThat(client.unmap(0x60_2000, PAGE, 0)).as("above").isEqualTo(enoent);
    assertThat(served.server.mappings()).isEqualTo(3);

    assertThat(client.unmap(0x60_0000, 2 * PAGE, 0)).isZero();
    assertThat(client.in.payloadBytes()).isEqualTo(DmaUnmap.BYTES);
    assertThat(client.in.getLong(DmaUnmap.ADDRESS)).isEqualTo(0x60_0000);
    assertThat(client.in.getLong(DmaUnmap.LENGTH)).isEqualTo(2 * PAGE);
    assertThat(served.server.mappings()).isEqualTo(2);
    assertThat(device.read(0x60_0000)).isNull();
    assertThat(device.read(0x20_0000)).isNotNull();
    assertThat(client.unmap(0x60_0000, 2 * PAGE, 0)).as("a second time").isEqualTo(enoent);
    assertThat(client.unmap(0, 0, DmaUnmap.FLAG_ALL)).isZero();
    assertThat(served.server.mappings()).isZero();
    client.linux.close(file);
  }

  /** QEMU does so when a page directory of a guest's I/O page table becomes empty. */
  @Test
  void oneUnmapTakesAllMappingsOfItsRange() {
    int old = client.memory(4 * PAGE);
    for (int i = 0; i < 4; i++) {
      assertThat(client.map(0x20_0000 + 2L * i * PAGE, PAGE, old, i * PAGE)).isZero();
    }
    assertThat(client.map(0x40_0000, PAGE, old, 0)).isZero();
    assertThat(client.unmap(0x20_0000, 0x20_0000, 0)).isZero();
    assertThat(client.in.getLong(DmaUnmap.LENGTH)).isEqualTo(0x20_0000);
    assertThat(served.server.mappings()).isEqualTo(1);
    assertThat(device.read(0x40_0000)).isNotNull();

    int other = client.memory(PAGE);
    client.put(old, 0, 1);
    assertThat(client.map(0x20_0000, PAGE, other, 0)).as("the same address again").isZero();
    assertThat(device.write(0x20_0000, 7)).isTrue();
    assertThat(client.get(other, 0)).isEqualTo(7);
    assertThat(client.get(old, 0)).as("memory that was taken back").isEqualTo(1);
    assertThat(client.unmap(0x1f_f000, 0x40_0000, 0)).as("holes on both sides").isZero();
    assertThat(served.server.mappings()).isZero();
    client.linux.close(old);
    client.linux.close(other);
  }

  @Test
  void thousandsOfRangesOfAFileAreOneMapping() throws IOException {
    int pages = 5_000;
    int file = client.memory(pages * PAGE);
    List<Integer> order = IntStream.range(0, pages).boxed().collect(Collectors.toList());
    Collections.shuffle(order, new Random(5));
    for (int i : order) {
      assertThat(client.map(0x1000_0000L + 2L * i * PAGE, PAGE, file, i * PAGE)).isZero();
    }
    assertThat(mappings()).isEqualTo(1);
    for (int i = 0; i < pages; i += 7) {
      assertThat(device.write(0x1000_0000L + 2L * i * PAGE, i)).isTrue();
      assertThat(client.get(file, i * PAGE)).isEqualTo(i);
      assertThat(device.read(0x1000_0000L + (2L * i + 1) * PAGE)).isNull();
    }
    Collections.shuffle(order, new Random(6));
    for (int i : order) {
      assertThat(client.unmap(0x1000_0000L + 2L * i * PAGE, PAGE, 0)).isZero();
    }
    assertThat(served.server.mappings()).isZero();
    assertThat(mappings()).isZero();
    client.linux.close(file);
  }

  @Test
  void numberOfRangesIsLimited() {
    for (int i = 0; i < 65_535; i++) {
      client.beginMap(0x1000_0000L + i * PAGE, PAGE, 0, DmaMap.FLAG_READ);
      client.post();
    }
    assertThat(client.map(0x1000, PAGE, -1, 0)).isEqualTo(LinuxErrno.ENOSPC.number());
    assertThat(served.server.mappings()).isEqualTo(65_535);
  }

  @Test
  void numberOfFilesIsLimited() throws IOException {
    for (int i = 0; i < ClientFiles.MOST_MAPPINGS; i++) {
      int file = client.memory(PAGE);
      assertThat(client.map(0x1000_0000L + i * PAGE, PAGE, file, 0)).isZero();
      client.linux.close(file);
    }
    int file = client.memory(PAGE);
    assertThat(client.map(0x10_0000, PAGE, file, 0)).isEqualTo(LinuxErrno.ENOSPC.number());
    assertThat(client.map(0x10_0000, PAGE, -1, 0)).as("by messages").isZero();
    assertThat(client.unmap(0x1000_0000L, PAGE, 0)).isZero();
    assertThat(client.map(0x20_0000, PAGE, file, 0)).isZero();
    client.linux.close(file);
  }

  @Test
  void filesOfAnyLengthLeaveTheServerItsAddresses() throws IOException {
    int half = client.memory(ClientFiles.MOST_BYTES / 2);
    int more = client.memory(ClientFiles.MOST_BYTES / 2 + PAGE);
    assertThat(client.map(0x10_0000, PAGE, half, 0)).isZero();
    assertThat(client.map(0x20_0000, PAGE, more, 0)).isEqualTo(LinuxErrno.ENOSPC.number());
    assertThat(client.unmap(0x10_0000, PAGE, 0)).isZero();
    assertThat(client.map(0x20_0000, PAGE, more, 0)).isZero();
    assertThat(client.map(0x30_0000, PAGE, half, 0)).isEqualTo(LinuxErrno.ENOSPC.number());
    assertThat(device.write(0x20_0000, 5)).isTrue();
    assertThat(client.get(more, 0)).isEqualTo(5);
    client.linux.close(half);
    client.linux.close(more);
  }

  @Test
  void fileMayGrow() throws IOException {
    int file = client.memory(PAGE);
    assertThat(client.map(0x10_0000, PAGE, file, 0)).isZero();
    assertThat(client.map(0x20_0000, PAGE, file, PAGE)).isEqualTo(EINVAL);
    assertThat(client.linux.ftruncate(file, 2 * PAGE)).isZero();
    assertThat(client.map(0x20_0000, PAGE, file, PAGE)).isZero();
    assertThat(device.write(0x10_0000, 1)).isTrue();
    assertThat(device.write(0x20_0000, 2)).isTrue();
    assertThat(client.get(file, 0)).isEqualTo(1);
    assertThat(client.get(file, PAGE)).isEqualTo(2);
    assertThat(client.unmap(0x10_0000, PAGE, 0)).isZero();
    assertThat(mappings()).as("the shorter one is gone").isEqualTo(1);
    assertThat(client.map(0x10_0000, PAGE, file, 0)).isZero();
    assertThat(mappings()).isEqualTo(1);
    assertThat(device.read(0x20_0000)).isEqualTo(2);
    client.linux.close(file);
  }

  @Test
  void memoryTruncatedByItsOwnerIsAFault() {
    int file = client.memory(64 * PAGE);
    assertThat(client.map(0x10_0000, 64 * PAGE, file, 0)).isZero();
    long expected = 0;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = arena.allocate(4 * PAGE);
      // Often enough for the compiled code to meet the fault.
      for (int i = 0; i < 20_000; i++) {
        int length = 1 + i * 37 % (int) (4 * PAGE);
        assertThat(device.bus().read(0x10_0000, bytes, 0, length)).isTrue();
        assertThat(device.bus().write(0x10_0000, bytes, 0, length)).isTrue();
      }
      for (int round = 0; round < 50; round++) {
        assertThat(client.linux.ftruncate(file, PAGE)).isZero();
        for (int length : new int[] {1, 2, 4, 8, 15, 16, 63, 64, 100, 1024, 4096, 16384}) {
          assertThat(device.bus().read(0x10_0000 + 2 * PAGE, bytes, 0, length)).isFalse();
          assertThat(device.bus().write(0x10_0000 + 2 * PAGE, bytes, 0, length)).isFalse();
          expected += 2;
          assertThat(device.bus().read(0x10_0000, bytes, 0, Math.min(length, PAGE))).isTrue();
        }
        assertThat(client.linux.ftruncate(file, 64 * PAGE)).isZero();
        assertThat(device.write(0x10_0000 + 2 * PAGE, round)).isTrue();
        assertThat(device.read(0x10_0000 + 2 * PAGE)).isEqualTo(round);
      }
    }
    assertThat(served.server.dmaFaultCount()).isEqualTo(expected);
    assertThat(served.server.dmaFaults())
        .allSatisfy(fault -> assertThat(fault.cause()).isEqualTo("the client's memory is gone"));
    client.linux.close(file);
  }

  @Test
  void memoryWithoutADescriptorIsRequestedFromTheClient() {
    assertThat(client.map(0x10_0000, 2 * PAGE, -1, 0)).isZero();
    CompletableFuture<Long> reading = CompletableFuture.supplyAsync(() -> device.read(0x10_0010));
    awaitRequest(UserCommand.DMA_READ, 0x10_0010, 8);
    answer(DmaTransfer.DATA + 8);
    client.out.putLong(DmaTransfer.DATA, 0x1234);
    client.channel.send(client.out);
    assertThat(reading.join()).isEqualTo(0x1234);

    CompletableFuture<Boolean> writing =
        CompletableFuture.supplyAsync(() -> device.write(0x10_0018, 0x5678));
    awaitRequest(UserCommand.DMA_WRITE, 0x10_0018, 8);
    assertThat(client.in.getLong(DmaTransfer.DATA)).isEqualTo(0x5678);
    answer(DmaTransfer.DATA);
    client.channel.send(client.out);
    assertThat(writing.join()).isTrue();

    CompletableFuture<Long> refused = CompletableFuture.supplyAsync(() -> device.read(0x10_0020));
    awaitRequest(UserCommand.DMA_READ, 0x10_0020, 8);
    client.out.failure(client.in, LinuxErrno.EFAULT.number());
    client.channel.send(client.out);
    assertThat(refused.join()).isNull();
    assertThat(client.read(7, 0, 4)).as("they still talk").isZero();

    CompletableFuture<Long> tooShort = CompletableFuture.supplyAsync(() -> device.read(0x10_0028));
    awaitRequest(UserCommand.DMA_READ, 0x10_0028, 8);
    answer(DmaTransfer.DATA + 4);
    client.channel.send(client.out);
    assertThat(tooShort.join()).isNull();
    assertThat(served.server.dmaFaultCount()).isEqualTo(2);
  }

  /** Errors in an answer to a read or a write of 8 bytes. */
  enum WrongAnswer {
    COUNT_0,
    COUNT_4,
    COUNT_16,
    COUNT_HIGH,
    ADDRESS,
    NO_PAYLOAD,
    HALF_A_PAYLOAD,
    TOO_LONG
  }

  @ParameterizedTest
  @EnumSource
  void answerToAnotherRequestIsAFault(WrongAnswer wrong) {
    assertThat(client.map(0x10_0000, PAGE, -1, 0)).isZero();
    for (boolean write : new boolean[] {false, true}) {
      CompletableFuture<Boolean> access =
          CompletableFuture.supplyAsync(
              () -> write ? device.write(0x10_0008, 1) : device.read(0x10_0008) != null);
      awaitRequest(write ? UserCommand.DMA_WRITE : UserCommand.DMA_READ, 0x10_0008, 8);
      int payload = DmaTransfer.DATA + (write ? 0 : 8);
      switch (wrong) {
        case COUNT_0 -> answerCount(payload, 0);
        case COUNT_4 -> answerCount(payload, 4);
        case COUNT_16 -> answerCount(payload, 16);
        case COUNT_HIGH -> answerCount(payload, 8 | 1L << 32);
        case ADDRESS -> {
          answer(payload);
          client.out.putLong(DmaTransfer.ADDRESS, 0x10_0000);
        }
        case NO_PAYLOAD -> client.out.reply(client.in, 0);
        case HALF_A_PAYLOAD -> {
          client.out.reply(client.in, 8);
          client.out.putLong(DmaTransfer.ADDRESS, 0x10_0008);
        }
        case TOO_LONG -> answer(payload + 8);
      }
      client.channel.send(client.out);
      assertThat(access.join()).as(write ? "write" : "read").isFalse();
    }
    assertThat(client.read(7, 0, 4)).as("they still talk").isZero();
    assertThat(served.server.dmaFaults())
        .containsExactly(
            new DmaFault(0x10_0008, 8, false, "the client did not serve it"),
            new DmaFault(0x10_0008, 8, true, "the client did not serve it"));
  }

  private void answerCount(int payload, long count) {
    answer(payload);
    client.out.putLong(DmaTransfer.COUNT, count);
  }

  private void awaitRequest(UserCommand command, long address, long count) {
    assertThat(client.channel.receive(client.in)).isTrue();
    assertThat(client.in.command()).isEqualTo(command.code());
    assertThat(client.in.type()).isEqualTo(UserMessage.TYPE_COMMAND);
    assertThat(client.in.getLong(DmaTransfer.ADDRESS)).isEqualTo(address);
    assertThat(client.in.getLong(DmaTransfer.COUNT)).isEqualTo(count);
  }

  private void answer(int payload) {
    client.out.reply(client.in, payload);
    client.out.putLong(DmaTransfer.ADDRESS, client.in.getLong(DmaTransfer.ADDRESS));
    client.out.putLong(DmaTransfer.COUNT, client.in.getLong(DmaTransfer.COUNT));
  }

  /** The reference's own client takes 1024 bytes at once. */
  @ParameterizedTest
  @ValueSource(ints = {4096, 1024, 1000, 7, 1})
  void largeTransfersAreSplitToTheClientsLimit(int most) {
    client.close();
    served.awaitNobody();
    client = RawClient.connect(served.path);
    assertThat(client.greet("{\"capabilities\":{\"max_data_xfer_size\":%d}}".formatted(most)))
        .isZero();
    assertThat(client.map(0x10_0000, 16 * PAGE, -1, 0)).isZero();
    int length = Math.min(10_000, 20 * most + most / 2);
    try (Arena arena = Arena.ofShared()) {
      MemorySegment bytes = arena.allocate(length);
      CompletableFuture<Boolean> reading =
          CompletableFuture.supplyAsync(() -> device.bus().read(0x10_0000, bytes, 0, length));
      for (int done = 0; done < length; done += most) {
        int piece = Math.min(most, length - done);
        awaitRequest(UserCommand.DMA_READ, 0x10_0000 + done, piece);
        answer(DmaTransfer.DATA + piece);
        for (int j = 0; j < piece; j++) {
          client.out.putByte(DmaTransfer.DATA + j, 1 + done / most);
        }
        client.channel.send(client.out);
      }
      assertThat(reading.join()).isTrue();
      for (int i = 0; i < length; i++) {
        assertThat(bytes.get(ValueLayout.JAVA_BYTE, i)).isEqualTo((byte) (1 + i / most));
      }
      CompletableFuture<Boolean> writing =
          CompletableFuture.supplyAsync(() -> device.bus().write(0x10_0000, bytes, 0, length));
      for (int done = 0; done < length; done += most) {
        int piece = Math.min(most, length - done);
        awaitRequest(UserCommand.DMA_WRITE, 0x10_0000 + done, piece);
        assertThat(client.in.payloadBytes()).isEqualTo(DmaTransfer.DATA + piece);
        answer(DmaTransfer.DATA);
        client.channel.send(client.out);
      }
      assertThat(writing.join()).isTrue();
    }
  }

  @Test
  void clientIsAskedWhileItWaitsForAReply() {
    assertThat(client.map(0x10_0000, PAGE, -1, 0)).isZero();
    // This write makes the device read memory on the thread that serves the client's commands.
    client.beginWrite(2, 0, 8, 0x10_0008);
    int id = client.out.id();
    client.channel.send(client.out);
    awaitRequest(UserCommand.DMA_READ, 0x10_0008, 8);
    answer(DmaTransfer.DATA + 8);
    client.out.putLong(DmaTransfer.DATA, 77);
    client.channel.send(client.out);
    assertThat(client.channel.receive(client.in)).isTrue();
    assertThat(client.in.isReply()).isTrue();
    assertThat(client.in.id()).isEqualTo(id);
    assertThat(client.read(2, 0, 8)).isZero();
    assertThat(client.in.getLong(16)).isEqualTo(77);
  }

  @Test
  void commandsContinueWhileTheDeviceWaitsForMemory() {
    assertThat(client.map(0x10_0000, PAGE, -1, 0)).isZero();
    CompletableFuture<Long> reading = CompletableFuture.supplyAsync(() -> device.read(0x10_0000));
    awaitRequest(UserCommand.DMA_READ, 0x10_0000, 8);
    answer(DmaTransfer.DATA + 8);
    client.out.putLong(DmaTransfer.DATA, 99);
    // Before it answers, it sends commands of its own and waits for their replies.
    UserMessage answer = new UserMessage(64, 0);
    answer.command(client.out.id(), UserCommand.DMA_READ, UserMessage.TYPE_REPLY, 24);
    answer.put(0, client.out.memory(), UserMessage.HEADER_BYTES, 24);
    for (int i = 0; i < 100; i++) {
      assertThat(client.write(0, 8, 8, i)).isZero();
    }
    for (int i = 0; i < 100; i++) {
      client.beginWrite(0, 16, 8, i);
      client.post();
    }
    assertThat(reading).isNotDone();
    client.channel.send(answer);
    assertThat(reading.join()).isEqualTo(99);
    assertThat(client.read(0, 0, 4)).isZero();
    assertThat(device.calls).hasSize(201);
    for (int i = 0; i < 100; i++) {
      assertThat(device.calls.get(100 + i)).isEqualTo("write BAR0 0x10 8 0x%x".formatted(i));
    }
  }

  @Test
  void unmapReturnsAfterTheAccessInFlight() {
    assertThat(client.map(0x10_0000, PAGE, -1, 0)).isZero();
    CompletableFuture<Long> reading = CompletableFuture.supplyAsync(() -> device.read(0x10_0000));
    awaitRequest(UserCommand.DMA_READ, 0x10_0000, 8);
    UserMessage answer = new UserMessage(64, 0);
    answer.reply(client.in, 24);
    answer.putLong(DmaTransfer.ADDRESS, 0x10_0000);
    answer.putLong(DmaTransfer.COUNT, 8);
    answer.putLong(DmaTransfer.DATA, 5);
    client.begin(UserCommand.DMA_UNMAP, DmaUnmap.BYTES);
    client.out.putInt(DmaUnmap.ARGSZ, DmaUnmap.BYTES);
    client.out.putLong(DmaUnmap.ADDRESS, 0x10_0000);
    client.out.putLong(DmaUnmap.LENGTH, PAGE);
    client.channel.send(client.out);
    assertThat(client.channel.awaitMessage(Duration.ofMillis(50))).as("no reply yet").isFalse();
    client.channel.send(answer);
    assertThat(client.awaitReply()).isZero();
    assertThat(reading.join()).isEqualTo(5);
    assertThat(device.read(0x10_0000)).isNull();
  }

  @Test
  void clientThatExitsWhileItIsAskedIsAFault() {
    assertThat(client.map(0x10_0000, PAGE, -1, 0)).isZero();
    CompletableFuture<Long> reading = CompletableFuture.supplyAsync(() -> device.read(0x10_0000));
    awaitRequest(UserCommand.DMA_READ, 0x10_0000, 8);
    client.close();
    assertThat(reading.join()).isNull();
    served.awaitNobody();
    client = RawClient.greeted(served.path);
    assertThat(client.read(0, 0, 4)).isZero();
  }

  @Test
  void unsolicitedAnswerEndsTheConnection() {
    client.out.command(3, UserCommand.DMA_READ, UserMessage.TYPE_REPLY, 24);
    client.channel.send(client.out);
    assertThat(client.channel.receive(client.in)).isFalse();
    client.close();
    client = RawClient.greeted(served.path);
  }
}

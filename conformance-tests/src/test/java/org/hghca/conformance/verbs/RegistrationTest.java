package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.hghca.conformance.profile.OnlyOn;
import org.hghca.conformance.verbs.Pieces.Piece;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.WrOpcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory of every kind and size that can be registered, accessed from both sides. */
class RegistrationTest {
  private static final long MIB = 1 << 20;

  /** The peer writes the whole region and reads it back. */
  static void use(RcPair pair, MemoryRegion region) {
    long length = region.length();
    long most = Math.min(length, 1 << 15);
    SplittableRandom random = new SplittableRandom(length);
    Side left = pair.left;
    for (long wanted : new long[] {0, (length - most) / 2, length - most}) {
      Piece part = Landing.within(region.address(), new Piece(wanted, most));
      long at = part.offset();
      long piece = part.length();
      long back = Landing.legal(Pieces.one(most, piece)).parts().getFirst().offset();
      left.randomize(0, piece, random);
      left.qp.postSend(
          left.send
              .rdmaWrite(region.address() + at, region.rkey())
              .sge(left.buffer, 0, piece)
              .signaled());
      Side.assertSuccess(left.sent());
      MemorySegment there = region.segment().asSlice(at, piece);
      pair.fabric.awaitWritten(there, left.memory().asSlice(0, piece));
      left.qp.postSend(
          left.send
              .rdmaRead(region.address() + at, region.rkey())
              .sge(left.buffer, back, piece)
              .signaled());
      Side.assertSuccess(left.sent());
      left.expect(back, left, 0, piece);
      left.verify("READ of written data");
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 4095, 4096, 4097, 8192, 100_000, 1 << 20, (1 << 20) + 1, 64 << 20})
  void everySizeIsAccessibleFromEndToEnd(long size) {
    try (RcPair pair = RcPair.open();
        MemoryRegion region = pair.right.pd.allocate(size, Side.ALL)) {
      assertThat(region.length()).isEqualTo(size);
      assertThat(region.segment().byteSize()).isEqualTo(size);
      assertThat(region.address()).isEqualTo(region.segment().address());
      assertThat(region.address() % 4096).isZero();
      assertThat(region.access()).isEqualTo(Side.ALL);
      assertThat(region.protectionDomain()).isSameAs(pair.right.pd);
      assertThat(region.segment().get(ValueLayout.JAVA_BYTE, size - 1)).isZero();
      use(pair, region);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 7, 63, 4095, 4097, 12_345})
  void memoryAtAnyAddressCanBeRegistered(long offset) {
    try (RcPair pair = RcPair.open();
        Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(64 * 4096, 4096);
      for (long length : new long[] {1, 100, 4096, 40_001}) {
        try (MemoryRegion region =
            pair.right.pd.register(memory.asSlice(offset, length), Side.ALL)) {
          assertThat(region.address()).isEqualTo(memory.address() + offset);
          use(pair, region);
        }
      }
      MemorySegment before = memory.asSlice(0, offset);
      assertThat(before.mismatch(arena.allocate(offset))).isEqualTo(-1);
    }
  }

  @Test
  void overlappingRegionsWorkIndependently() {
    try (RcPair pair = RcPair.open();
        Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(16_384);
      List<MemoryRegion> regions = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        regions.add(pair.right.pd.register(memory.asSlice(100L * i, 9000), Side.ALL));
      }
      assertThat(regions).extracting(MemoryRegion::rkey).doesNotHaveDuplicates();
      // Each continues to work after the others are deregistered.
      while (!regions.isEmpty()) {
        regions.forEach(region -> use(pair, region));
        regions.remove(regions.size() / 2).close();
      }
    }
  }

  @Test
  void readOnlySegmentCanBeReadByAPeer() {
    try (RcPair pair = RcPair.open();
        Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocateFrom("look, do not touch").asReadOnly();
      try (MemoryRegion region = pair.right.pd.register(memory, AccessFlag.REMOTE_READ)) {
        pair.left.qp.postSend(
            pair.left.read(region).sge(pair.left.buffer, 0, memory.byteSize()).signaled());
        Side.assertSuccess(pair.left.sent());
        assertThat(pair.left.memory().getString(0)).isEqualTo("look, do not touch");
      }
    }
  }

  @Test
  void memoryOfTheGlobalAndOfAnAutomaticArenaCanBeRegistered() {
    try (RcPair pair = RcPair.open();
        MemoryRegion global = pair.right.pd.register(Arena.global().allocate(5000), Side.ALL);
        MemoryRegion auto = pair.right.pd.register(Arena.ofAuto().allocate(5000), Side.ALL)) {
      use(pair, global);
      use(pair, auto);
    }
  }

  @Test
  @OnlyOn(value = "s", why = "on the RTL a driver thread also rings doorbells, and so runs the HCA")
  void memoryConfinedToTheThreadOfTheSoftwareHcaCanBeRegistered() {
    try (RcPair pair = new RcSetup().on(Fabric.inline());
        Arena arena = Arena.ofConfined();
        MemoryRegion region = pair.right.pd.register(arena.allocate(5000), Side.ALL)) {
      use(pair, region);
    }
  }

  @Test
  void mappedFileCanBeRegistered(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("mapped");
    Files.write(file, new byte[100_000]);
    byte[] sent = new byte[32_768];
    try (RcPair pair = RcPair.open();
        Arena arena = Arena.ofShared();
        FileChannel channel =
            FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      MemorySegment mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, 100_000, arena);
      try (MemoryRegion region = pair.right.pd.register(mapped, Side.ALL)) {
        use(pair, region);
      }
      mapped.force();
      pair.left.memory().asSlice(0, sent.length).asByteBuffer().get(sent);
    }
    byte[] found = Files.readAllBytes(file);
    assertThat(found).hasSize(100_000).endsWith(sent);
  }

  @Test
  void fileMappedReadOnlyCanBeSent(@TempDir Path directory) throws IOException {
    byte[] content = new byte[5000];
    new SplittableRandom(5).nextBytes(content);
    Path file = Files.write(directory.resolve("mapped"), content);
    try (RcPair pair = RcPair.open();
        Arena arena = Arena.ofShared();
        FileChannel channel = FileChannel.open(file)) {
      MemorySegment mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, 5000, arena);
      try (MemoryRegion region = pair.left.pd.register(mapped)) {
        pair.right.postReceive(1, 0, 5000);
        pair.left.qp.postSend(pair.left.send.send().sge(region).signaled());
        Side.assertSuccess(pair.left.sent());
        Side.assertSuccess(pair.right.received());
        assertThat(pair.right.memory().asSlice(0, 5000).mismatch(mapped)).isEqualTo(-1);
      }
    }
  }

  @Test
  void moreThanTwoGibibytesAreAccessibleFromEndToEnd(@TempDir Path directory) throws IOException {
    long length = (2L << 30) + 4097;
    long most = mostBytes() / 2;
    if (length > most) {
      length = most + 1; // of the device's limit
    }
    // A sparse file: only written blocks use memory.
    try (RcPair pair = RcPair.open();
        Arena arena = Arena.ofShared();
        FileChannel channel =
            FileChannel.open(
                directory.resolve("sparse"),
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.SPARSE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
      MemorySegment mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, length, arena);
      try (MemoryRegion region = pair.right.pd.register(mapped, Side.ALL)) {
        assertThat(region.length()).isEqualTo(length);
        use(pair, region);
      }
    }
  }

  private static long mostBytes() {
    try (Fabric fabric = Fabric.open()) {
      return fabric.left().queryDevice().maxMrSize();
    }
  }

  @Test
  void manyRegionsAtOnceHaveDifferentKeys() {
    int count = 500;
    try (RcPair pair = RcPair.open();
        Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(8L * count, 8);
      List<MemoryRegion> regions = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        regions.add(pair.right.pd.register(memory.asSlice(8L * i, 8), Side.ALL));
      }
      assertThat(regions).extracting(MemoryRegion::rkey).doesNotHaveDuplicates();
      assertThat(regions).extracting(MemoryRegion::rkey).doesNotContain(0);
      for (int i = 0; i < count; i++) {
        pair.left.memory().set(ValueLayout.JAVA_LONG, 0, i * 0x0101_0101L);
        pair.left.qp.postSend(
            pair.left.write(regions.get(i)).sge(pair.left.buffer, 0, 8).signaled());
        Side.assertSuccess(pair.left.sent());
      }
      for (int i = 0; i < count; i++) {
        assertThat(memory.get(ValueLayout.JAVA_LONG, 8L * i)).isEqualTo(i * 0x0101_0101L);
      }
      regions.forEach(MemoryRegion::close);
    }
  }

  @Test
  void keyIsNotReusedAtOnce() {
    try (RcPair pair = RcPair.open();
        Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(64);
      List<Integer> keys = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        try (MemoryRegion region = pair.left.pd.register(memory, AccessFlag.LOCAL_WRITE)) {
          keys.add(region.lkey());
        }
      }
      assertThat(keys).doesNotHaveDuplicates();
    }
  }

  @Test
  void messageMayCrossThousandsOfPages() {
    try (RcPair pair = new RcSetup().bufferSize(8 * MIB).open()) {
      Transfer transfer = new Transfer(pair.left, pair.right, 3);
      for (WrOpcode opcode : Transfer.possible(MessageSizeTest.OPCODES)) {
        transfer.run(opcode, Pieces.one(1, 8 * MIB - 67), Pieces.one(5, 8 * MIB - 67));
      }
    }
  }
}

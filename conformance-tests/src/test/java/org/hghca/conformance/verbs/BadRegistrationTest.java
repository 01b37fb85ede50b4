package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.hghca.conformance.verbs.Failures.assertErrno;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.linux.Linux;
import org.hghca.linux.SystemCalls;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.Reregistration;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory that cannot be registered: a clear error, and nothing left behind. */
class BadRegistrationTest {
  private static final int PROT_READ = 1;
  private static final int MAP_PRIVATE_ANONYMOUS_NORESERVE = 0x4022;

  private static void assertRefused(
      ProtectionDomain pd, MemorySegment memory, Set<AccessFlag> access, String... words) {
    for (int i = 0; i < 3; i++) {
      assertErrno(Errno.EINVAL, () -> pd.register(memory, access), words);
    }
  }

  @Test
  void heapMemoryIsRefused() {
    try (RcPair pair = RcPair.open()) {
      assertRefused(pair.left.pd, MemorySegment.ofArray(new byte[64]), Side.ALL, "heap");
      MemorySegment buffer = MemorySegment.ofBuffer(ByteBuffer.allocate(64));
      assertRefused(pair.left.pd, buffer, Side.ALL, "heap");
    }
  }

  @Test
  void emptyMemoryIsRefused() {
    try (RcPair pair = RcPair.open();
        Arena arena = Arena.ofShared()) {
      assertRefused(pair.left.pd, arena.allocate(0), Side.ALL, "0 bytes");
      assertRefused(pair.left.pd, MemorySegment.ofAddress(4096), Side.ALL, "0 bytes");
      assertRefused(pair.left.pd, arena.allocate(8).asSlice(8, 0), Side.ALL, "0 bytes");
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, Long.MIN_VALUE, Long.MAX_VALUE})
  void allocationsOfImpossibleLengthsAreRefused(long bytes) {
    try (RcPair pair = RcPair.open()) {
      assertThatThrownBy(() -> pair.left.pd.allocate(bytes, Side.ALL))
          .isInstanceOf(VerbsException.class)
          .extracting("errno")
          .isIn(Errno.EINVAL, bytes > 0 ? Errno.ENOMEM : Errno.EINVAL);
    }
  }

  @Test
  void moreMemoryThanTheTranslationTableHoldsIsRefused() {
    try (RcPair pair = RcPair.open()) {
      long most = pair.left.context.queryDevice().maxMrSize();
      SystemCalls linux = Linux.system();
      long address = linux.mmap(most + 4096, PROT_READ, MAP_PRIVATE_ANONYMOUS_NORESERVE, -1, 0);
      // No page of it is ever touched.
      @SuppressWarnings("restricted")
      MemorySegment huge = MemorySegment.ofAddress(address).reinterpret(most + 4096);
      assertErrno(
          Errno.ENOMEM,
          () -> pair.left.pd.register(huge, AccessFlag.REMOTE_READ),
          TestProfile.isVirtio() ? "the device refuses" : "translation table");
      assertThat(linux.munmap(address, most + 4096)).isZero();
    }
  }

  @Test
  @SuppressWarnings("restricted")
  void unmappedMemoryIsRefused() {
    try (RcPair pair = RcPair.open();
        Arena arena = Arena.ofShared()) {
      SystemCalls linux = Linux.system();
      long address = linux.mmap(16384, PROT_READ | 2, MAP_PRIVATE_ANONYMOUS_NORESERVE, -1, 0);
      assertThat(linux.munmap(address + 8192, 4096)).isZero();
      MemorySegment pages = MemorySegment.ofAddress(address).reinterpret(16384, arena, null);
      MemorySegment nowhere = MemorySegment.ofAddress(4096).reinterpret(100, arena, null);
      for (MemorySegment hole :
          new MemorySegment[] {
            pages, pages.asSlice(8191, 2), pages.asSlice(8192, 100), pages.asSlice(12287), nowhere
          }) {
        for (Set<AccessFlag> access : Set.of(Side.ALL, Set.of(AccessFlag.REMOTE_READ))) {
          assertErrno(
              Errno.EFAULT, () -> pair.left.pd.register(hole, access), "is not mapped at 0x");
        }
      }
      pair.left.pd.register(pages.asSlice(1, 8191), Side.ALL).close();
      pair.left.pd.register(pages.asSlice(12288, 4096), Side.ALL).close();
      try (MemoryRegion region = pair.left.pd.register(pages.asSlice(12288), Side.ALL)) {
        assertThatThrownBy(() -> region.reregister(Reregistration.to(nowhere)))
            .extracting("errno")
            .isEqualTo(TestProfile.pick(Feature.REREGISTRATION, Errno.EFAULT, Errno.EOPNOTSUPP));
      }
      assertThat(linux.munmap(address, 8192)).isZero();
      assertThat(linux.munmap(address + 12288, 4096)).isZero();
    }
  }

  @Test
  @SuppressWarnings("restricted")
  void memoryNotMappedForWritingIsRefused() {
    try (RcPair pair = RcPair.open();
        Arena arena = Arena.ofShared()) {
      SystemCalls linux = Linux.system();
      long address = linux.mmap(4096, PROT_READ, MAP_PRIVATE_ANONYMOUS_NORESERVE, -1, 0);
      MemorySegment page = MemorySegment.ofAddress(address).reinterpret(4096, arena, null);
      assertErrno(Errno.EFAULT, () -> pair.left.pd.register(page, Side.ALL), "may not be written");
      pair.left.pd.register(page, AccessFlag.REMOTE_READ).close();
      assertThat(linux.munmap(address, 4096)).isZero();
    }
  }

  @Test
  void memoryOfAClosedArenaIsRefused() {
    try (RcPair pair = RcPair.open()) {
      for (Arena arena : new Arena[] {Arena.ofShared(), Arena.ofConfined()}) {
        MemorySegment memory = arena.allocate(64);
        arena.close();
        assertRefused(pair.left.pd, memory, Side.ALL, "closed arena");
      }
    }
  }

  @Test
  void memoryConfinedToAnotherThreadIsRefused() throws InterruptedException {
    try (RcPair pair = new RcSetup().on(Fabric.threaded());
        Arena arena = Arena.ofConfined()) {
      String me = Thread.currentThread().getName();
      assertRefused(pair.left.pd, arena.allocate(64), Side.ALL, "confined", me, "ofShared");
    }
    try (RcPair pair = new RcSetup().on(Fabric.inline());
        Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(64);
      Throwable[] found = new Throwable[1];
      Thread stranger =
          new Thread(
              () -> found[0] = catchThrowable(() -> pair.left.pd.register(memory, Side.ALL)));
      stranger.start();
      stranger.join();
      assertThat(found[0])
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("confined")
          .extracting("errno")
          .isEqualTo(Errno.EINVAL);
    }
  }

  @Test
  void localWriteOnAReadOnlySegmentIsRefused() {
    try (RcPair pair = RcPair.open();
        Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(64).asReadOnly();
      assertRefused(pair.left.pd, memory, Set.of(AccessFlag.LOCAL_WRITE), "read-only");
      assertRefused(pair.left.pd, memory, Side.ALL, "read-only");
    }
  }

  @Test
  void localWriteOnAFileMappedReadOnlyIsRefused(@TempDir Path directory) throws IOException {
    Path file = Files.write(directory.resolve("mapped"), new byte[5000]);
    try (RcPair pair = RcPair.open();
        Arena arena = Arena.ofShared();
        FileChannel channel = FileChannel.open(file)) {
      MemorySegment mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, 5000, arena);
      assertRefused(pair.left.pd, mapped, Set.of(AccessFlag.LOCAL_WRITE), "read-only");
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"REMOTE_WRITE", "REMOTE_ATOMIC"})
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_mr.MRTest.test_reg_mr_bad_flags",
      says = "REMOTE_WRITE or REMOTE_ATOMIC without LOCAL_WRITE is EINVAL")
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_mr.MRTest.test_reg_mrex_bad_flags",
      says = "the same, with the only register method")
  void remoteWriteWithoutLocalWriteIsRefused(AccessFlag flag) {
    try (RcPair pair = RcPair.open();
        Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(64);
      assertRefused(pair.left.pd, memory, Set.of(flag), flag.name(), "LOCAL_WRITE");
      Set<AccessFlag> both = Set.of(flag, AccessFlag.REMOTE_READ);
      assertRefused(pair.left.pd, memory, both, flag.name(), "LOCAL_WRITE");
      assertErrno(Errno.EINVAL, () -> pair.left.pd.allocate(64, flag));
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"MW_BIND", "ON_DEMAND"})
  @VerbsCase(says = "a region with MW_BIND, to which windows may be bound", unsupported = true)
  @VerbsCase(
      tier = Tier.NOT_HERE,
      source = "test_odp.OdpTestCase.test_odp_*",
      says = "memory registered but not pinned",
      unsupported = true)
  void flagsThatTheDeviceLacksAreRefused(AccessFlag flag) {
    try (RcPair pair = RcPair.open();
        Arena arena = Arena.ofShared()) {
      assertErrno(
          Errno.EOPNOTSUPP,
          () -> pair.left.pd.register(arena.allocate(64), AccessFlag.LOCAL_WRITE, flag),
          flag.name());
    }
  }

  @Test
  void relaxedOrderingIsAHintThatEveryDeviceAccepts() {
    try (RcPair pair = RcPair.open();
        MemoryRegion region =
            pair.left.pd.allocate(64, AccessFlag.LOCAL_WRITE, AccessFlag.RELAXED_ORDERING)) {
      assertThat(region.access()).contains(AccessFlag.RELAXED_ORDERING);
    }
  }

  @Test
  void elementsOutsideTheRegionAreRefusedBeforeThePost() {
    try (RcPair pair = RcPair.open()) {
      long length = pair.left.buffer.length();
      for (long[] part : new long[][] {{-1, 1}, {0, length + 1}, {length, 1}, {0, -1}}) {
        assertThatThrownBy(() -> pair.left.send.send().sge(pair.left.buffer, part[0], part[1]))
            .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> pair.left.receive.into(pair.left.buffer, part[0], part[1]))
            .isInstanceOf(IndexOutOfBoundsException.class);
      }
    }
  }

  @Test
  void arenaClosedUnderARegionIsADmaFaultAndNoCrash() {
    for (boolean threaded : new boolean[] {false, true}) {
      try (RcPair pair = new RcSetup().on(threaded ? Fabric.threaded() : Fabric.inline())) {
        pair.fabric.expectFaults();
        Arena arena = Arena.ofShared();
        MemorySegment memory = arena.allocate(4096);
        try (MemoryRegion region = pair.right.pd.register(memory, Side.ALL)) {
          arena.close();
          pair.left.qp.postSend(pair.left.write(region).sge(pair.left.buffer, 0, 8).signaled());
          Wc completion = pair.left.sent();
          if (!TestProfile.isRtl()) { // the RTL's writes to the host have no answer
            assertThat(completion.status().code()).as("%s", completion).isNotZero();
          }
        }
      }
    }
  }
}

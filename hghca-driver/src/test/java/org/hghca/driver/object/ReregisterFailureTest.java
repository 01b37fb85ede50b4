package org.hghca.driver.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.hghca.driver.Failures.assertErrno;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;
import org.hghca.abi.Mpt;
import org.hghca.abi.MptFlags;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.Reregistration;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.Test;

/** Changes of memory regions that the card or native code refuses. */
class ReregisterFailureTest {
  private static final Set<AccessFlag> ALL =
      Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);

  /** The number of commands of a change to other memory before HW2SW_MPT: WRITE_MTT. */
  private static final int BEFORE = 1;

  /** The queue pair, its own peer, writes into a region. */
  private static WcStatus write(DriverFixture it, MemoryRegion region) {
    it.connect();
    try (MemoryRegion source = it.pd.allocate(64)) {
      source.segment().fill((byte) 0x77);
      Completions completions = new Completions(4);
      it.qp.postSend(
          new SendRequest()
              .rdmaWrite(region.address(), region.rkey())
              .sge(source, 0, 64)
              .signaled());
      assertThat(it.cq.poll(completions)).isEqualTo(1);
      it.qp.modify(QpAttributes.to(QpState.RESET));
      return completions.status(0);
    }
  }

  private static void assertWritten(DriverFixture it, MemoryRegion region) {
    assertThat(write(it, region)).isEqualTo(WcStatus.SUCCESS);
    assertThat(region.segment().get(ValueLayout.JAVA_BYTE, 63)).isEqualTo((byte) 0x77);
  }

  @Test
  void cardGetsTheAccessRightsThatItSupports() {
    try (DriverFixture it = new DriverFixture();
        MemoryRegion region = it.pd.allocate(4096, Set.of())) {
      int[] flags = {0};
      long[] start = {-1};
      it.function.onCommand(
          () -> {
            MemorySegment inbox = it.function.inbox();
            if (inbox.byteSize() > 0) { // The last command with one is SW2HW_MPT.
              flags[0] = Mpt.FLAGS.get(inbox);
              start[0] = Mpt.START.getLong(inbox);
            }
          });
      region.reregister(
          Reregistration.to(
              AccessFlag.LOCAL_WRITE,
              AccessFlag.REMOTE_ATOMIC,
              AccessFlag.ZERO_BASED,
              AccessFlag.RELAXED_ORDERING));
      it.function.onCommand(() -> {});
      int rights = MptFlags.LOCAL_WRITE | MptFlags.REMOTE_ATOMIC | MptFlags.ZERO_BASED;
      assertThat(flags[0]).isEqualTo(MptFlags.MIO | MptFlags.REGION | rights);
      assertThat(start[0]).isZero();
    }
  }

  @Test
  void regionIsUnchangedWhenTheCardDoesNotReturnIt() {
    try (DriverFixture it = new DriverFixture();
        Arena arena = Arena.ofShared()) {
      MemorySegment before = arena.allocate(4096);
      ProtectionDomain other = it.context.allocateProtectionDomain();
      try (MemoryRegion region = it.pd.register(before, ALL)) {
        int mappings = it.function.mappings();
        it.function.failCommand(BEFORE);
        assertErrno(
            Errno.EIO, () -> region.reregister(Reregistration.to(arena.allocate(4096)).and(other)));
        assertThat(it.function.mappings()).isEqualTo(mappings);
        assertThat(region.segment()).isEqualTo(before);
        assertThat(region.protectionDomain()).isSameAs(it.pd);
        other.close();
        assertWritten(it, region);
      }
    }
  }

  @Test
  void regionIsUnchangedWhenTheCardRefusesThePages() {
    try (DriverFixture it = new DriverFixture();
        Arena arena = Arena.ofShared();
        MemoryRegion region = it.pd.allocate(4096, ALL)) {
      int mappings = it.function.mappings();
      it.function.failCommand(0);
      assertErrno(Errno.EIO, () -> region.reregister(Reregistration.to(arena.allocate(4096))));
      assertThat(it.function.mappings()).isEqualTo(mappings);
      assertThat(region.segment().scope().isAlive()).isTrue();
      assertWritten(it, region);
    }
  }

  @Test
  void regionThatTheCardRefusesIsUnusableUntilTheNextChange() {
    try (DriverFixture it = new DriverFixture();
        Arena arena = Arena.ofShared();
        MemoryRegion region = it.pd.register(arena.allocate(4096), ALL)) {
      int mappings = it.function.mappings();
      MemorySegment after = arena.allocate(8192);
      it.function.failCommand(BEFORE + 1);
      assertErrno(Errno.EIO, () -> region.reregister(Reregistration.to(after)));
      assertThat(it.function.mappings()).isEqualTo(mappings);
      assertThat(write(it, region)).isNotEqualTo(WcStatus.SUCCESS);
      assertThat(region.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);

      region.reregister(Reregistration.to(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE));
      assertWritten(it, region);
      region.reregister(Reregistration.to(after));
      assertThat(region.segment()).isEqualTo(after);
      assertWritten(it, region);
    }
  }

  @Test
  void unusableRegionCanBeClosedAndItsMemoryIsReused() {
    try (DriverFixture it = new DriverFixture();
        Arena arena = Arena.ofShared()) {
      it.pd.allocate(4096, ALL).close(); // The command mailboxes exist from now on.
      int mappings = it.function.mappings();
      MemoryRegion region = it.pd.allocate(4096, ALL);
      MemorySegment allocated = region.segment();
      it.function.failCommand(BEFORE + 1);
      assertErrno(Errno.EIO, () -> region.reregister(Reregistration.to(arena.allocate(64))));
      assertThat(allocated.scope().isAlive()).isFalse();
      assertErrno(Errno.EINVAL, () -> region.reregister(Reregistration.to(AccessFlag.REMOTE_READ)));
      region.close();
      assertThat(it.function.mappings()).isEqualTo(mappings);
      try (MemoryRegion next = it.pd.allocate(4096, ALL)) {
        assertThat(next.address()).isEqualTo(allocated.address());
        assertWritten(it, next);
      }
    }
  }

  @Test
  void memoryThatASilentCardMayReachIsKeptUntilTheReset() {
    FailingFunction function;
    try (DriverFixture it = new DriverFixture();
        Arena arena = Arena.ofShared()) {
      function = it.function;
      MemoryRegion region = it.pd.register(arena.allocate(4096), ALL);
      int[] commands = {0};
      function.onCommand(
          () -> {
            if (commands[0]++ == BEFORE + 1) {
              function.lose();
            }
          });
      int mappings = function.mappings();
      assertErrno(Errno.EIO, () -> region.reregister(Reregistration.to(arena.allocate(4096))));
      region.close();
      assertThat(function.mappings()).isEqualTo(mappings + 1);
    }
    assertThat(function.isClosed()).isTrue();
  }

  @Test
  void memoryHeldByNativeCodeStaysWithItsRegion() throws Throwable {
    try (DriverFixture it = new DriverFixture();
        Arena arena = Arena.ofShared()) {
      MemoryRegion region = it.pd.allocate(4096, ALL);
      MemorySegment allocated = region.segment();
      Throwable[] refusals = new Throwable[2];
      NativeHold.during(
          allocated,
          () -> {
            refusals[0] = catchThrowable(region::close);
            refusals[1] =
                catchThrowable(() -> region.reregister(Reregistration.to(arena.allocate(64))));
          });
      for (Throwable refusal : refusals) {
        assertThat(refusal)
            .isInstanceOfSatisfying(
                VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY))
            .hasMessageContainingAll("MR 0x", "native code");
      }
      assertThat(region.segment()).isEqualTo(allocated);
      assertErrno(Errno.EBUSY, it.pd::close);
      assertWritten(it, region);
      region.close();
      assertThat(allocated.scope().isAlive()).isFalse();
    }
  }
}

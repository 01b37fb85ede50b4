package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.conformance.verbs.Failures.assertErrno;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.Reregistration;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.Test;

/** Memory regions whose memory, domain and access rights change while their keys stay. */
@Needs(Feature.REREGISTRATION)
class ReregistrationTest {
  private static final AccessFlag LOCAL_WRITE = AccessFlag.LOCAL_WRITE;
  private static final AccessFlag REMOTE_WRITE = AccessFlag.REMOTE_WRITE;
  private static final AccessFlag REMOTE_READ = AccessFlag.REMOTE_READ;

  /** Offsets at which regions may start, so that they are written from their first byte on. */
  private static final long GRAIN = TestProfile.pick(Feature.ANY_DESTINATION, 1, 32);

  private static final long START = 3 * GRAIN;

  /** The peer writes into a region of the right side. */
  private static WcStatus write(RcPair pair, long address, int rkey, long length) {
    pair.left.qp.postSend(
        pair.left.send.rdmaWrite(address, rkey).sge(pair.left.buffer, 0, length).signaled());
    return pair.left.sent().status();
  }

  private static WcStatus read(RcPair pair, MemoryRegion region, long length) {
    pair.left.qp.postSend(pair.left.read(region).sge(pair.left.buffer, 0, length).signaled());
    return pair.left.sent().status();
  }

  private static void assertWritten(RcPair pair, MemoryRegion region, long seed) {
    long length = Math.min(region.length(), 10_000);
    pair.left.randomize(0, length, new SplittableRandom(seed));
    assertThat(write(pair, region.address(), region.rkey(), length)).isEqualTo(WcStatus.SUCCESS);
    MemorySegment found = region.segment().asSlice(0, length);
    pair.fabric.awaitWritten(found, pair.left.memory().asSlice(0, length));
  }

  private static void assertRefused(
      MemoryRegion region, Reregistration changes, Errno errno, String... words) {
    ProtectionDomain domain = region.protectionDomain();
    MemorySegment memory = region.segment();
    long address = region.address();
    Set<AccessFlag> access = region.access();
    assertErrno(errno, () -> region.reregister(changes), words);
    assertThat(region.protectionDomain()).isSameAs(domain);
    assertThat(region.segment()).isEqualTo(memory);
    assertThat(region.address()).isEqualTo(address);
    assertThat(region.access()).isEqualTo(access);
  }

  @Test
  @Needs(Feature.REMOTE_PROTECTION)
  void newMemoryIsReachedUnderTheSameKeysAndTheOldIsNot() {
    try (RcPair pair = RcPair.open();
        Arena arena = Arena.ofShared()) {
      // The old memory lies above the new one: the first RTL has no lower bound.
      MemorySegment memory = arena.allocate(128 << 10, 4096);
      MemorySegment after = memory.asSlice(0, 50_000 + START);
      MemorySegment before = memory.asSlice(64 << 10, 20_000);
      try (MemoryRegion region = pair.right.pd.register(before.asSlice(START, 9000), Side.ALL)) {
        int lkey = region.lkey();
        int rkey = region.rkey();
        assertWritten(pair, region, 1);
        before.fill((byte) 0x5a);

        region.reregister(Reregistration.to(after.asSlice(START)));

        assertThat(region.lkey()).isEqualTo(lkey);
        assertThat(region.rkey()).isEqualTo(rkey);
        assertThat(region.segment()).isEqualTo(after.asSlice(START));
        assertThat(region.address()).isEqualTo(after.address() + START);
        assertThat(region.length()).isEqualTo(50_000);
        assertThat(region.access()).isEqualTo(Side.ALL);
        assertThat(region.protectionDomain()).isSameAs(pair.right.pd);
        assertWritten(pair, region, 2);
        assertThat(write(pair, region.address() + 49_999, rkey, 1)).isEqualTo(WcStatus.SUCCESS);
        assertThat(write(pair, before.address() + START, rkey, 8))
            .isEqualTo(Wc.cause(WcStatus.REM_ACCESS_ERR));
        assertThat(before.mismatch(arena.allocate(20_000).fill((byte) 0x5a))).isEqualTo(-1);
      }
    }
  }

  @Test
  @Needs(Feature.DEREGISTERING_IN_USE)
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_mr.MRTest.test_mr_rereg_addr",
      says =
          "CHANGE_TRANSLATION under a queued receive: 'Remote operation error' at the sender;"
              + " after RESET and RTS traffic into the new memory")
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_mr.MRTest.test_mrex_rereg_addr",
      says = "the same, with the only register method")
  void waitingReceiveWithTheOldAddressFailsBothSides() {
    try (RcPair pair = RcPair.open();
        Arena arena = Arena.ofShared();
        MemoryRegion region = pair.right.pd.register(arena.allocate(4096, 4096), Side.ALL)) {
      pair.right.qp.postReceive(pair.right.receive.wrId(3).into(region));
      region.reregister(Reregistration.to(arena.allocate(4096, 4096)));
      pair.left.qp.postSend(pair.left.send.send().sge(pair.left.buffer, 0, 8).signaled());
      assertThat(pair.left.sent().status()).isEqualTo(WcStatus.REM_OP_ERR);
      Wc received = pair.right.received();
      assertThat(received.status()).isEqualTo(WcStatus.LOC_PROT_ERR);
      assertThat(received.wrId()).isEqualTo(3);

      pair.reconnect();
      pair.right.qp.postReceive(pair.right.receive.wrId(4).into(region));
      pair.left.randomize(0, 100, new SplittableRandom(3));
      pair.left.qp.postSend(pair.left.send.send().sge(pair.left.buffer, 0, 100).signaled());
      Side.assertSuccess(pair.left.sent());
      Side.assertSuccess(pair.right.received());
      assertThat(region.segment().asSlice(0, 100).mismatch(pair.left.memory().asSlice(0, 100)))
          .isEqualTo(-1);
    }
  }

  @Test
  @Needs(Feature.REFUSED_READS)
  void rightsAreAddedAndRemoved() {
    try (RcPair pair = RcPair.open();
        MemoryRegion region = pair.right.pd.allocate(10_000, LOCAL_WRITE, REMOTE_READ)) {
      region.reregister(Reregistration.to(LOCAL_WRITE, REMOTE_WRITE));
      assertThat(region.access()).containsExactlyInAnyOrder(LOCAL_WRITE, REMOTE_WRITE);
      assertWritten(pair, region, 4);
      assertThat(read(pair, region, 8)).isEqualTo(WcStatus.REM_ACCESS_ERR);

      pair.reconnect();
      region.segment().fill((byte) 7);
      region.reregister(Reregistration.to(LOCAL_WRITE, REMOTE_READ));
      assertThat(read(pair, region, 8)).isEqualTo(WcStatus.SUCCESS);
      assertThat(pair.left.memory().get(ValueLayout.JAVA_BYTE, 7)).isEqualTo((byte) 7);
      assertThat(write(pair, region.address(), region.rkey(), 8))
          .isEqualTo(WcStatus.REM_ACCESS_ERR);
      assertThat(region.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(7);
    }
  }

  @Test
  @Needs(Feature.LOCAL_ERROR_COMPLETIONS)
  void localWriteIsAddedAndRemoved() {
    try (RcPair pair = RcPair.open();
        MemoryRegion region = pair.right.pd.allocate(100, Set.of())) {
      MemorySegment memory = region.segment();
      region.reregister(Reregistration.to(LOCAL_WRITE, REMOTE_WRITE));
      assertThat(region.segment()).isEqualTo(memory);
      assertWritten(pair, region, 5);
      region.reregister(Reregistration.to());
      assertThat(region.access()).isEmpty();
      pair.right.qp.postReceive(pair.right.receive.into(region));
      pair.left.qp.postSend(pair.left.send.send().sge(pair.left.buffer, 0, 8).signaled());
      assertThat(pair.left.sent().status()).isEqualTo(WcStatus.REM_OP_ERR);
      assertThat(pair.right.received().status()).isEqualTo(WcStatus.LOC_PROT_ERR);
    }
  }

  @Test
  @Needs(Feature.DEREGISTERING_IN_USE)
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_mr.MRTest.test_mr_rereg_pd",
      says = "CHANGE_PD to another: 'Remote operation error' at the sender; back: traffic")
  void receiveBufferMovedToAnotherDomainFailsBothSides() {
    try (RcPair pair = RcPair.open();
        ProtectionDomain other = pair.right.context.allocateProtectionDomain();
        MemoryRegion region = pair.right.pd.allocate(1000, Side.ALL)) {
      pair.right.qp.postReceive(pair.right.receive.into(region));
      region.reregister(Reregistration.to(other));
      assertThat(region.protectionDomain()).isSameAs(other);
      pair.left.qp.postSend(pair.left.send.send().sge(pair.left.buffer, 0, 8).signaled());
      assertThat(pair.left.sent().status()).isEqualTo(WcStatus.REM_OP_ERR);
      assertThat(pair.right.received().status()).isEqualTo(WcStatus.LOC_PROT_ERR);
      assertThatThrownBy(other::close).hasMessageContainingAll("MR", "EBUSY");

      pair.reconnect();
      region.reregister(Reregistration.to(pair.right.pd));
      assertWritten(pair, region, 6);
    }
  }

  @Test
  void domainThatARegionLeftCanBeClosed() {
    try (RcPair pair = RcPair.open()) {
      ProtectionDomain first = pair.right.context.allocateProtectionDomain();
      try (MemoryRegion region = first.allocate(1000, Side.ALL)) {
        region.reregister(Reregistration.to(pair.right.pd));
        first.close();
        assertRefused(region, Reregistration.to(first), Errno.EINVAL, "closed");
        assertWritten(pair, region, 7);
        assertThatThrownBy(pair.right.pd::close).hasMessageContaining("MR");
      }
    }
  }

  @Test
  void memoryDomainAndRightsChangeAtOnce() {
    try (RcPair pair = RcPair.open();
        Arena arena = Arena.ofShared()) {
      ProtectionDomain first = pair.right.context.allocateProtectionDomain();
      MemorySegment after = arena.allocate(3000, 4096);
      try (MemoryRegion region = first.allocate(1000, REMOTE_READ)) {
        region.reregister(
            Reregistration.to(after).and(pair.right.pd).and(LOCAL_WRITE, REMOTE_WRITE));
        assertThat(region.length()).isEqualTo(3000);
        assertWritten(pair, region, 8);
        first.close();
      }
    }
  }

  @Test
  void allocatedMemoryIsFreedWhenItsRegionChangesMemory() {
    try (RcPair pair = RcPair.open();
        Arena arena = Arena.ofShared();
        MemoryRegion region = pair.right.pd.allocate(5000, Side.ALL)) {
      MemorySegment allocated = region.segment();
      region.reregister(Reregistration.to(allocated.asSlice(4096, 10)));
      assertThat(allocated.scope().isAlive()).isTrue();
      assertThat(region.address()).isEqualTo(allocated.address() + 4096);
      assertWritten(pair, region, 9);
      region.reregister(Reregistration.to(allocated));
      assertWritten(pair, region, 10);
      region.reregister(Reregistration.to(arena.allocate(100)));
      assertThat(allocated.scope().isAlive()).isFalse();
      assertWritten(pair, region, 11);
      // The memory is back in the pool.
      try (MemoryRegion next = pair.right.pd.allocate(5000, Side.ALL)) {
        assertThat(next.address()).isEqualTo(allocated.address());
        assertWritten(pair, next, 12);
      }
    }
  }

  @Test
  @VerbsCase(
      says = "re-registration: nothing to change or bad flags is EINVAL, the region is unchanged")
  void invalidReregistrationChangesNothing() {
    try (RcPair pair = RcPair.open();
        Arena arena = Arena.ofShared();
        MemoryRegion region = pair.right.pd.allocate(1000, Side.ALL)) {
      Context elsewhere = pair.left.context;
      Reregistration nothing = Reregistration.NONE;
      Arena closed = Arena.ofShared();
      MemorySegment gone = closed.allocate(64);
      closed.close();
      MemorySegment readOnly = arena.allocate(64).asReadOnly();
      MemorySegment heap = MemorySegment.ofArray(new byte[64]);
      try (ProtectionDomain foreign = elsewhere.allocateProtectionDomain()) {
        assertRefused(region, nothing, Errno.EINVAL, "nothing to change");
        assertRefused(region, Reregistration.to(foreign), Errno.EINVAL, "another context");
      }
      assertRefused(region, Reregistration.to(heap), Errno.EINVAL, "heap");
      assertRefused(region, Reregistration.to(arena.allocate(0)), Errno.EINVAL, "0 bytes");
      assertRefused(region, Reregistration.to(gone), Errno.EINVAL, "closed arena");
      assertRefused(region, Reregistration.to(readOnly), Errno.EINVAL, "read-only");
      assertRefused(
          region, Reregistration.to(region.segment().asReadOnly()), Errno.EINVAL, "read-only");
      assertRefused(
          region, Reregistration.to(REMOTE_WRITE), Errno.EINVAL, "REMOTE_WRITE", "LOCAL_WRITE");
      assertRefused(region, Reregistration.to(AccessFlag.REMOTE_ATOMIC), Errno.EINVAL);
      assertRefused(region, Reregistration.to(AccessFlag.ON_DEMAND), Errno.EOPNOTSUPP, "ON_DEMAND");
      assertRefused(
          region,
          Reregistration.to(arena.allocate(64, 64).asSlice(1)).and(AccessFlag.ZERO_BASED),
          Errno.EINVAL,
          "page");
      assertWritten(pair, region, 13);
    }
  }

  @Test
  void rightsOfARegionWhoseArenaWasClosedDoNotChange() {
    try (RcPair pair = RcPair.open()) {
      Arena arena = Arena.ofShared();
      try (MemoryRegion region = pair.right.pd.register(arena.allocate(64), Side.ALL)) {
        arena.close();
        assertThatThrownBy(() -> region.reregister(Reregistration.to(REMOTE_READ)))
            .hasMessageContainingAll("closed arena", "EINVAL");
      }
    }
  }

  @Test
  void closedRegionStaysClosed() {
    try (RcPair pair = RcPair.open()) {
      MemoryRegion region = pair.right.pd.allocate(1000, Side.ALL);
      region.close();
      assertThatThrownBy(() -> region.reregister(Reregistration.to(REMOTE_READ)))
          .hasMessageContainingAll("closed", "EINVAL");
    }
  }

  @Test
  void manyChangesLeaveNothingBehind() {
    try (RcPair pair = RcPair.open();
        Arena arena = Arena.ofShared();
        ProtectionDomain other = pair.right.context.allocateProtectionDomain();
        MemoryRegion region = pair.right.pd.allocate(100_000, Side.ALL)) {
      MemorySegment memory = arena.allocate(200_000, 4096);
      SplittableRandom random = new SplittableRandom(14);
      for (int i = 0; i < 200; i++) {
        long offset = random.nextLong(100_000 / GRAIN) * GRAIN;
        MemorySegment part = memory.asSlice(offset, 1 + random.nextLong(100_000));
        region.reregister(Reregistration.to(part).and(other).and(REMOTE_READ));
        region.reregister(
            Reregistration.to(pair.right.pd).and(LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ));
        if (i % 20 == 0) {
          assertWritten(pair, region, i);
        }
      }
    }
  }

  @Test
  void regionsAreChangedAndClosedByManyThreads() throws InterruptedException {
    try (RcPair pair = RcPair.open();
        Arena arena = Arena.ofShared();
        ProtectionDomain other = pair.right.context.allocateProtectionDomain()) {
      MemorySegment memory = arena.allocate(10_000);
      for (int round = 0; round < 20; round++) {
        AtomicInteger changes = new AtomicInteger();
        MemoryRegion region = pair.right.pd.allocate(5000, Side.ALL);
        Thread[] threads = new Thread[4];
        List<Errno> refusals = new CopyOnWriteArrayList<>();
        for (int t = 0; t < threads.length; t++) {
          ProtectionDomain domain = t % 2 == 0 ? other : pair.right.pd;
          MemorySegment part = memory.asSlice(t, 4096);
          threads[t] =
              Thread.ofPlatform()
                  .start(
                      () -> {
                        try {
                          while (true) {
                            region.reregister(Reregistration.to(domain).and(part));
                            changes.incrementAndGet();
                          }
                        } catch (VerbsException e) {
                          refusals.add(e.errno());
                        }
                      });
        }
        while (changes.get() <= round) {
          Thread.onSpinWait();
        }
        region.close();
        for (Thread thread : threads) {
          thread.join();
        }
        assertThat(refusals)
            .hasSize(threads.length)
            .allMatch(errno -> errno == Errno.EINVAL); // It is closed.
      }
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_mr.MRTest.test_mr_rereg_access",
      says = "CHANGE_ACCESS adds REMOTE_WRITE: RDMA WRITEs succeed")
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_mr.MRTest.test_mrex_rereg_access",
      says = "the same, with the only register method")
  void addedRightIsUsed() {
    try (RcPair pair = RcPair.open();
        MemoryRegion region = pair.right.pd.allocate(1024, LOCAL_WRITE)) {
      region.reregister(Reregistration.to(LOCAL_WRITE, REMOTE_WRITE));
      assertThat(region.access()).containsExactlyInAnyOrder(LOCAL_WRITE, REMOTE_WRITE);
      for (int i = 0; i < 10; i++) {
        assertWritten(pair, region, i);
      }
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_mr.MRTest.test_mr_rereg_access_bad_flow",
      says = "CHANGE_ACCESS removes REMOTE_WRITE: 'Remote access error'")
  @Needs(Feature.REMOTE_PROTECTION)
  void removedRightIsRefused() {
    try (RcPair pair = RcPair.open();
        MemoryRegion region = pair.right.pd.allocate(1024, LOCAL_WRITE, REMOTE_WRITE)) {
      assertWritten(pair, region, 1);
      region.reregister(Reregistration.to(LOCAL_WRITE));
      region.segment().fill((byte) 's');
      assertThat(write(pair, region.address(), region.rkey(), 1024))
          .isEqualTo(Wc.cause(WcStatus.REM_ACCESS_ERR));
      assertThat(region.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly('s');
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_mr.MRTest.test_mr_rereg_atomic",
      says = "without REMOTE_ATOMIC FETCH_ADD is 'Remote access error', with it again it succeeds")
  @Needs(Feature.ATOMICS)
  void atomicRightIsRemovedAndAdded() {
    AccessFlag[] atomic = {LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC};
    try (RcPair pair = new RcSetup().qpAccess(atomic).open();
        MemoryRegion target = pair.right.pd.allocate(8, atomic)) {
      target.segment().set(ValueLayout.JAVA_LONG, 0, 40);
      assertThat(add(pair, target)).isEqualTo(WcStatus.SUCCESS);
      target.reregister(Reregistration.to(LOCAL_WRITE));
      assertThat(add(pair, target)).isEqualTo(WcStatus.REM_ACCESS_ERR);
      target.reregister(Reregistration.to(atomic));
      pair.reconnect();
      assertThat(add(pair, target)).isEqualTo(WcStatus.SUCCESS);
      assertThat(target.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(42);
      assertThat(pair.left.memory().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(41);
    }
  }

  private static WcStatus add(RcPair pair, MemoryRegion target) {
    pair.left.qp.postSend(
        pair.left
            .send
            .fetchAndAdd(target.address(), target.rkey(), 1)
            .sge(pair.left.buffer, 0, 8)
            .signaled());
    return pair.left.sent().status();
  }
}

package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.Test;

/** Atomics, valid and invalid, as in rdma-core's tests. */
@Needs(Feature.ATOMICS)
class BehaviorOfAtomicsTest {
  private static final int ITERATIONS = 10;
  private static final long OLD = 0x0102_0304_0506_0708L;
  private static final long NEW = 0xf1f2_f3f4_f5f6_f7f8L;

  private static PlayerSetup atomic() {
    return new PlayerSetup(QpType.RC)
        .messageSize(16)
        .access(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC);
  }

  private static long value(Player player) {
    return player.region.segment().get(ValueLayout.JAVA_LONG, 0);
  }

  private static void set(Player player, long value) {
    player.region.segment().set(ValueLayout.JAVA_LONG, 0, value);
  }

  /**
   * An atomic succeeds: the requester gets the old value, the responder's memory has the new one.
   */
  private static void assertAtomic(
      SendRequest request, Player from, Player to, WcOpcode opcode, long before, long after) {
    set(from, 0);
    from.qp().postSend(request.sge(from.region, 0, 8).wrId(7).signaled());
    Wc completion = from.poll();
    assertThat(completion.opcode()).isEqualTo(opcode);
    assertThat(completion.wrId()).isEqualTo(7);
    assertThat(completion.bytes()).isEqualTo(8);
    assertThat(value(from)).isEqualTo(before);
    assertThat(value(to)).isEqualTo(after);
    assertThat(to.region.segment().get(ValueLayout.JAVA_LONG, 8)).isZero();
    assertThat(from.region.segment().get(ValueLayout.JAVA_LONG, 8)).isZero();
    assertThat(Wc.drain(to.queue)).isEmpty();
  }

  private static void compareAndSwap(
      Player from, Player to, long compare, long swap, long before, long after) {
    set(to, before);
    SendRequest request = from.send.compareAndSwap(to.address(), to.region.rkey(), compare, swap);
    assertAtomic(request, from, to, WcOpcode.COMP_SWAP, before, after);
  }

  private static void fetchAndAdd(Player from, Player to, long add, long before, long after) {
    set(to, before);
    SendRequest request = from.send.fetchAndAdd(to.address(), to.region.rkey(), add);
    assertAtomic(request, from, to, WcOpcode.FETCH_ADD, before, after);
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_atomic.AtomicTest.test_atomic_cmp_and_swap",
      says = "equal: swapped; different: unchanged; the requester gets the original 8 bytes")
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_qpex.QpExTestCase.test_qp_ex_rc_atomic_cmp_swp",
      says = "the same, with the only post method")
  void compareAndSwapReturnsTheOldValue() {
    try (Players players = atomic().open()) {
      for (int i = 0; i < ITERATIONS; i++) {
        compareAndSwap(players.client, players.server, OLD + i, NEW, OLD + i, NEW);
        compareAndSwap(players.server, players.client, OLD + i, NEW, OLD + i, NEW);
        compareAndSwap(players.client, players.server, OLD + i, NEW, NEW + i, NEW + i);
        compareAndSwap(players.server, players.client, OLD + i, NEW, NEW + i, NEW + i);
      }
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_atomic.AtomicTest.test_atomic_fetch_and_add",
      says = "added modulo 2^64; the requester gets the original 8 bytes")
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_qpex.QpExTestCase.test_qp_ex_rc_atomic_fetch_add",
      says = "the same, with the only post method")
  void fetchAndAddReturnsTheOldValue() {
    try (Players players = atomic().open()) {
      for (int i = 0; i < ITERATIONS; i++) {
        fetchAndAdd(players.client, players.server, i, OLD, OLD + i);
        fetchAndAdd(players.server, players.client, -i, OLD, OLD - i);
        fetchAndAdd(players.client, players.server, 1 + i, -1, i);
        fetchAndAdd(players.server, players.client, OLD, 0, OLD);
      }
    }
  }

  /** An atomic fails without a change. */
  private static void assertFails(
      Players players, SendRequest request, long address, int lkey, WcStatus status) {
    set(players.server, OLD);
    players.client.qp().postSend(request.sge(address, 8, lkey).signaled());
    assertThat(players.client.next().status()).isEqualTo(status);
    assertThat(players.client.qp().query().state()).isEqualTo(QpState.ERR);
  }

  private static void assertRefused(Players players, SendRequest request, WcStatus status) {
    Player client = players.client;
    assertFails(players, request, client.address(), client.region.lkey(), status);
    assertThat(value(players.server)).isEqualTo(OLD);
  }

  private static SendRequest add(Players players, long offset, int wrongKey) {
    Player server = players.server;
    return players.client.send.fetchAndAdd(
        server.address() + offset, server.region.rkey() + wrongKey, 1);
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_atomic.AtomicTest.test_atomic_invalid_qp_access",
      says = "a queue pair without REMOTE_ATOMIC: REM_INV_REQ_ERR")
  void queuePairWithoutRemoteAtomic() {
    try (Players players = atomic().queuePairAccess(AccessFlag.LOCAL_WRITE).open()) {
      assertRefused(players, add(players, 0, 0), WcStatus.REM_INV_REQ_ERR);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_atomic.AtomicTest.test_atomic_invalid_mr_access",
      says = "a region without REMOTE_ATOMIC: REM_ACCESS_ERR")
  void regionWithoutRemoteAtomic() {
    try (Players players =
        atomic().memoryAccess(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE).open()) {
      assertRefused(players, add(players, 0, 0), WcStatus.REM_ACCESS_ERR);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_atomic.AtomicTest.test_atomic_non_aligned_addr",
      says = "a remote address that is not a multiple of 8: REM_INV_REQ_ERR")
  void unalignedAddress() {
    for (int offset : new int[] {1, 2, 4, 7}) {
      try (Players players = atomic().open()) {
        assertRefused(players, add(players, offset, 0), WcStatus.REM_INV_REQ_ERR);
      }
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_atomic.AtomicTest.test_atomic_invalid_lkey",
      says = "an unknown local key: LOC_PROT_ERR")
  void unknownLocalKey() {
    try (Players players = atomic().open()) {
      Player client = players.client;
      int wrong = client.region.lkey() + 1;
      assertFails(players, add(players, 0, 0), client.address(), wrong, WcStatus.LOC_PROT_ERR);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.REQUIRED,
      source = "test_atomic.AtomicTest.test_atomic_invalid_rkey",
      says = "an unknown remote key: REM_ACCESS_ERR")
  void unknownRemoteKey() {
    try (Players players = atomic().open()) {
      assertRefused(players, add(players, 0, 1), WcStatus.REM_ACCESS_ERR);
    }
  }
}

package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.table.Tier;
import org.hghca.conformance.table.VerbsCase;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpType;
import org.hghca.verbs.Reregistration;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WcStatus;
import org.hghca.verbs.WrOpcode;
import org.junit.jupiter.api.Test;

/** Regions that change under a connection, as in rdma-core's tests. */
@Needs(Feature.REREGISTRATION)
class BehaviorOfReregistrationTest {
  private static final int SIZE = 1024;

  private static PlayerSetup rc(AccessFlag... access) {
    return new PlayerSetup(QpType.RC).messageSize(SIZE).memoryAccess(access);
  }

  /** The client's SEND meets a receive that is no longer valid. */
  private static void assertSendFails(Players players) {
    Player client = players.client;
    client.qp().postSend(Players.request(WrOpcode.SEND, client, players.server, 0));
    Wc sent = client.next();
    assertThat(sent.status()).isEqualTo(WcStatus.REM_OP_ERR);
    assertThat(sent.status().text()).isEqualTo("remote operation error");
    assertThat(players.server.next().status()).isEqualTo(WcStatus.LOC_PROT_ERR);
  }

  private static void assertWriteFails(Players players) {
    Player client = players.client;
    client.qp().postSend(Players.request(WrOpcode.RDMA_WRITE, client, players.server, 0));
    Wc sent = client.next();
    assertThat(sent.status()).isEqualTo(Wc.cause(WcStatus.REM_ACCESS_ERR));
    TestProfile.require(Feature.ERROR_CAUSE);
    assertThat(sent.status().text()).isEqualTo("remote access error");
  }

  @Test
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
  @Needs(Feature.DEREGISTERING_IN_USE)
  void newMemoryIsUsed() {
    try (Arena arena = Arena.ofShared();
        Players players = rc(AccessFlag.LOCAL_WRITE).open()) {
      // It leaves a receive posted on each side.
      players.traffic(WrOpcode.SEND, 1);
      MemoryRegion region = players.server.region;
      int lkey = region.lkey();
      int rkey = region.rkey();
      MemorySegment old = region.segment();
      MemorySegment memory = arena.allocate(SIZE, 4096);
      region.reregister(Reregistration.to(memory));
      assertThat(region.address()).isEqualTo(memory.address());
      assertThat(region.length()).isEqualTo(SIZE);
      assertThat(region.segment().address()).isEqualTo(memory.address());
      assertThat(region.lkey()).isEqualTo(lkey);
      assertThat(region.rkey()).isEqualTo(rkey);
      assertSendFails(players);
      old.fill((byte) '-');
      players.reconnect();
      players.traffic(WrOpcode.SEND, 10);
      assertThat(old.toArray(ValueLayout.JAVA_BYTE)).containsOnly('-');
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
    try (Players players = rc(AccessFlag.LOCAL_WRITE).open()) {
      for (Player player : new Player[] {players.client, players.server}) {
        player.region.reregister(
            Reregistration.to(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE));
        assertThat(player.region.access())
            .containsExactlyInAnyOrder(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
      }
      players.rdma(WrOpcode.RDMA_WRITE, 10);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_mr.MRTest.test_mr_rereg_access_bad_flow",
      says = "CHANGE_ACCESS removes REMOTE_WRITE: 'Remote access error'")
  @Needs(Feature.REMOTE_PROTECTION)
  void removedRightIsRefused() {
    try (Players players = rc(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE).open()) {
      players.rdma(WrOpcode.RDMA_WRITE, 1);
      players.server.region.reregister(Reregistration.to(AccessFlag.LOCAL_WRITE));
      players.server.write();
      try {
        assertWriteFails(players);
      } finally {
        players.server.assertHolds(players.server.letter);
      }
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_mr.MRTest.test_mr_rereg_atomic",
      says = "without REMOTE_ATOMIC FETCH_ADD is 'Remote access error', with it again it succeeds")
  @Needs(Feature.ATOMICS)
  void atomicRightIsRemovedAndAdded() {
    PlayerSetup setup =
        new PlayerSetup(QpType.RC)
            .messageSize(8)
            .access(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC);
    try (Players players = setup.open()) {
      Player client = players.client;
      MemoryRegion target = players.server.region;
      target.segment().set(ValueLayout.JAVA_LONG, 0, 40);
      client.qp().postSend(add(players));
      client.poll();
      target.reregister(Reregistration.to(AccessFlag.LOCAL_WRITE));
      client.qp().postSend(add(players));
      assertThat(client.next().status()).isEqualTo(WcStatus.REM_ACCESS_ERR);
      target.reregister(Reregistration.to(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC));
      players.reconnect();
      client.qp().postSend(add(players));
      client.poll();
      assertThat(target.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(42);
      assertThat(client.region.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(41);
    }
  }

  private static SendRequest add(Players players) {
    Player server = players.server;
    return players.client.whole(
        players.client.send.fetchAndAdd(server.address(), server.region.rkey(), 1), server, 0);
  }

  @Test
  @VerbsCase(
      tier = Tier.IF_SUPPORTED,
      source = "test_mr.MRTest.test_mr_rereg_pd",
      says = "CHANGE_PD to another: 'Remote operation error' at the sender; back: traffic")
  @Needs(Feature.DEREGISTERING_IN_USE)
  void domainIsChanged() {
    try (Players players = rc(AccessFlag.LOCAL_WRITE).open();
        ProtectionDomain other = players.server.context.allocateProtectionDomain()) {
      players.traffic(WrOpcode.SEND, 1);
      MemoryRegion region = players.server.region;
      region.reregister(Reregistration.to(other));
      assertThat(region.protectionDomain()).isSameAs(other);
      assertSendFails(players);
      region.reregister(Reregistration.to(players.server.pd));
      assertThat(region.protectionDomain()).isSameAs(players.server.pd);
      players.reconnect();
      players.traffic(WrOpcode.SEND, 10);
    }
  }

  @Test
  @VerbsCase(
      tier = Tier.CONTRACT,
      source = VerbsCase.CONTRACT,
      says = "re-registration: nothing to change or bad flags is EINVAL, the region is unchanged")
  void invalidReregistrationChangesNothing() {
    try (Players players = rc(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE).open();
        ProtectionDomain foreign = players.client.context.allocateProtectionDomain()) {
      MemoryRegion region = players.server.region;
      Reregistration nothing = Reregistration.NONE;
      for (Reregistration wrong :
          new Reregistration[] {
            nothing,
            Reregistration.to(AccessFlag.REMOTE_WRITE),
            Reregistration.to(AccessFlag.REMOTE_ATOMIC),
            Reregistration.to(foreign),
            Reregistration.to(MemorySegment.ofArray(new byte[SIZE])),
            Reregistration.to(MemorySegment.NULL)
          }) {
        assertThatThrownBy(() -> region.reregister(wrong))
            .as("%s", wrong)
            .isInstanceOf(VerbsException.class)
            .extracting("errno")
            .isEqualTo(Errno.EINVAL);
      }
      players.rdma(WrOpcode.RDMA_WRITE, 1);
    }
  }
}

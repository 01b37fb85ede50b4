package org.hghca.driver.rtl.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.driver.rtl.ring.QuotaRing.good;
import static org.hghca.driver.rtl.ring.QuotaRing.read;
import static org.hghca.driver.rtl.ring.QuotaRing.write;

import java.util.ArrayList;
import java.util.List;
import org.hghca.abi.NextUnit;
import org.hghca.abi.RemoteAddressUnit;
import org.hghca.abi.WqeOpcode;
import org.hghca.verbs.QpType;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WrapMemory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** No SEND or WRITE has the last PSN: READs go before it, or nothing does. */
class PsnWrapTest {
  private static final int LAST = 0xff_ffff;
  private static final WrapMemory MEMORY = new WrapMemory(0x77, 0, 4096);
  private static final WrapReads READS = new WrapReads(MEMORY, 0x55, 0, 896);

  private final DoorbellQuota inFlight = QuotaRing.inFlight(1);
  private final QuotaRing ring = new QuotaRing(QpType.RC, inFlight);
  private int stops;

  private void start(int psn, int packetLog, WrapReads reads) {
    ring.ring.path(packetLog);
    ring.ring.wrapBy(reads);
    ring.ring.startAt(psn);
    ring.ring.flushedBy(QuotaSendRing.PostedInError.NONE, () -> stops++);
  }

  private boolean isCarrying(int slot) {
    long at = slot * QuotaRing.SLOT;
    return NextUnit.opcode(ring.memory, at) == WqeOpcode.RDMA_READ
        && RemoteAddressUnit.rkey(ring.memory, at + NextUnit.SIZE) == MEMORY.rkey();
  }

  /** Completes carrying READs at a slot; returns their packets. */
  private List<Long> carry(int slot) {
    List<Long> packets = new ArrayList<>();
    long before = ring.ring.packets();
    while (isCarrying(slot)) {
      assertThat(ring.ring.completeStep(slot * (int) QuotaRing.SLOT)).isTrue();
      ring.ring.ringHeld();
      packets.add(ring.ring.packets() - before);
      before = ring.ring.packets();
    }
    return packets;
  }

  @Test
  void messageBeforeTheLastPsnGoesAtOnce() {
    start(LAST - 4, 8, READS);
    ring.ring.post(write(1024)); // LAST - 4 to LAST - 1
    assertThat(isCarrying(0)).isFalse();
    assertThat(ring.doorbells).hasSize(1);
    assertThat(inFlight.carriedWraps()).isZero();
  }

  @ParameterizedTest
  @CsvSource({"0", "1", "2", "3", "4"})
  void messageThatWouldHaveItGoesBehindReads(int before) {
    start(LAST - before, 8, READS);
    ring.ring.post(write(256 * 5)); // its first, a middle or its last packet would have it
    assertThat(isCarrying(0)).isTrue();
    assertThat(ring.doorbells).hasSize(1);
    assertThat(ring.ring.holds()).as("the request waits").isTrue();
    assertThat(ring.ring.needsReceive(0)).isFalse();
    assertThat(ring.ring.names(QuotaRing.MEMORY.key())).as("its memory stays").isTrue();

    long first = ring.ring.packets();
    long carried = first + carry(0).stream().mapToLong(Long::longValue).sum() - 5;
    assertThat(carried).as("to PSN 0").isEqualTo(before + 1);
    assertThat(ring.ring.packets()).isEqualTo(before + 1 + 5);
    assertThat(RemoteAddressUnit.address(ring.memory, 16)).isEqualTo(QuotaRing.REMOTE);
    assertThat(ring.units(0)).hasSize(1).first().asString().endsWith("0+1280");
    assertThat(ring.ring.completeStep(0)).as("the request itself").isFalse();
    assertThat(ring.complete().byteLength(0)).isEqualTo(8);
    assertThat(inFlight.carriedWraps()).isOne();
  }

  /** As many packets as 896 bytes allow, a beat in the last one. */
  @ParameterizedTest
  @CsvSource({"8, 4", "9, 2", "10, 1", "11, 1", "12, 1"})
  void readsAreAsLongAsTheLimitAllows(int packetLog, int packets) {
    start(LAST - 9, packetLog, READS);
    ring.ring.post(write(65_536)); // at least 16 packets
    long first = ring.ring.packets();
    assertThat(first).isEqualTo(packets);
    List<Long> each = carry(0);
    assertThat(inFlight.carryingReads()).isEqualTo((10 + packets - 1) / packets);
    assertThat(each.getLast()).as("the request").isEqualTo(65_536 >> packetLog);
  }

  @Test
  void readOfTheProgramCarriesItself() {
    start(LAST - 1, 10, READS);
    ring.ring.post(read(512));
    ring.complete();
    ring.ring.post(read(512));
    ring.complete();
    assertThat(inFlight.carriedWraps()).isZero();
    ring.ring.post(good());
    assertThat(isCarrying(2)).isFalse();
    assertThat(ring.ring.psnsLeft()).as("again").isEqualTo(LAST - 1);
  }

  @Test
  void secondWrapIsCarriedLikeTheFirst() {
    start(LAST, 10, READS);
    for (int wrap = 1; wrap <= 3; wrap++) {
      int slot = (int) (ring.ring.posted() % QuotaRing.SLOTS);
      ring.ring.post(good());
      assertThat(isCarrying(slot)).isTrue();
      carry(slot);
      ring.complete();
      assertThat(inFlight.carriedWraps()).isEqualTo(wrap);
      assertThat(ring.ring.psnsLeft()).isEqualTo(LAST - 1);
      ring.ring.path(8);
      while (ring.ring.psnsLeft() > 0) {
        ring.ring.post(write((int) (256 * Math.min(4096, ring.ring.psnsLeft()))));
        ring.complete();
      }
      assertThat(inFlight.carriedWraps()).as("up to the last PSN").isEqualTo(wrap);
      ring.ring.path(10);
    }
  }

  /** It stays unrung when its turn to be the only one has not come. */
  @Test
  void readsWaitForAllThatIsOutstandingBefore() {
    DoorbellQuota wide = QuotaRing.inFlight(8);
    QuotaRing other = new QuotaRing(QpType.RC, wide);
    other.ring.path(10);
    other.ring.wrapBy(READS);
    other.ring.startAt(LAST - 2);
    SendRequest[] list = {good(), good(), good(), good()};
    other.ring.post(list, 0, 4);
    assertThat(other.rungSlots()).containsExactly(0, 1);
    other.completeAndRing();
    assertThat(other.rungSlots()).containsExactly(0, 1);
    other.completeAndRing();
    assertThat(other.rungSlots()).as("the READ").containsExactly(0, 1, 2);
    assertThat(other.ring.completeStep(2 * (int) QuotaRing.SLOT)).isTrue();
    other.ring.ringHeld();
    assertThat(other.rungSlots()).as("the request alone").containsExactly(0, 1, 2, 2);
    other.completeAndRing();
    assertThat(other.rungSlots()).containsExactly(0, 1, 2, 2, 3);
  }

  @Test
  void withoutMemoryRingingStopsBeforeIt() {
    start(LAST - 1, 10, null);
    ring.ring.post(good());
    assertThat(stops).isZero();
    ring.post(2);
    assertThat(stops).as("although the first is outstanding").isOne();
    assertThat(ring.ring.isOldestUnrung()).isFalse();
    ring.completeAndRing();
    assertThat(stops).isOne();
    assertThat(ring.ring.isAtLastPsn()).isTrue();
    assertThat(ring.rungSlots()).containsExactly(0);
    assertThat(ring.ring.isOldestUnrung()).as("the driver flushes the rest").isTrue();
    ring.ring.post(good());
    ring.ring.ringHeld();
    assertThat(ring.rungSlots()).containsExactly(0);
    assertThat(stops).isOne();
  }

  @Test
  void requestIsFlushedAsAWholeBetweenReads() {
    start(LAST - 20, 10, READS);
    ring.ring.post(write(65_536));
    assertThat(ring.ring.completeStep(0)).isTrue();
    ring.ring.stopRinging();
    ring.ring.ringHeld();
    assertThat(ring.doorbells).hasSize(1);
    assertThat(ring.ring.rung()).as("nothing is in flight").isZero();
    assertThat(ring.ring.isOldestUnrung()).isTrue();
  }

  /** The driver completes requests that were never rung: they were not of the share. */
  @Test
  void endedRingReturnsItsShareOnce() {
    start(LAST - 1, 10, null);
    ring.post(3);
    for (int i = 0; i < 3; i++) {
      ring.complete();
    }
    List<QuotaRing> others = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      others.add(new QuotaRing(QpType.RC, inFlight));
      others.getLast().ring.post(good());
    }
    assertThat(others.stream().mapToInt(other -> other.doorbells.size()).sum()).isEqualTo(40);
  }

  @Test
  void resetForgetsThePsn() {
    start(LAST, 10, null);
    ring.ring.post(good());
    assertThat(ring.ring.isAtLastPsn()).isTrue();
    ring.ring.setOpen(() -> false);
    ring.ring.reset();
    ring.ring.setOpen(() -> true);
    ring.ring.startAt(0);
    ring.ring.post(good());
    assertThat(ring.ring.isAtLastPsn()).isFalse();
    assertThat(ring.doorbells).hasSize(1);
  }

  /** Those of unreliable types pass the wrap like others. */
  @Test
  void ringWithoutAStartNeverStops() {
    for (int i = 0; i < 5; i++) {
      ring.ring.post(good());
      ring.complete();
    }
    assertThat(ring.ring.endsAtLastPsn()).isFalse();
    assertThat(ring.doorbells).hasSize(5);
  }
}

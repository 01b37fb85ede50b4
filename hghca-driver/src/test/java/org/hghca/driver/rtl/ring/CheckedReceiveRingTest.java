package org.hghca.driver.rtl.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicBoolean;
import org.hghca.driver.memory.KeyedMemory;
import org.hghca.driver.ring.RingShape;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WcStatus;
import org.hghca.vfio.direct.RingMemory;
import org.junit.jupiter.api.Test;

class CheckedReceiveRingTest {
  private static final long DATA = 0x7e00_0000_0000L;
  private static final int KEY = 0x21;
  private static final int FILLER = 0x22;
  private static final int SLOT = 64;
  private static final String EMPTY_UNIT = "00".repeat(16);

  private final MemorySegment memory = Arena.ofAuto().allocate(4 * SLOT, 4096);

  private CheckedReceiveRing ring(int skipped) {
    KeyTable keys = new KeyTable(KEY + 1);
    keys.put(new KeyedMemory(KEY, 4, DATA, 1 << 20, 1));
    ReceiveChecks checks = new ReceiveChecks(new RequestMemory(keys, 4), skipped);
    RingShape shape = new RingShape(RingMemory.guarded(memory), 3, 3, 4, 6);
    return new CheckedReceiveRing(shape, 2, checks, FILLER);
  }

  private String bytes(int from, int count) {
    return HexFormat.of().formatHex(memory.asSlice(from, count).toArray(ValueLayout.JAVA_BYTE));
  }

  private static ReceiveRequest request() {
    return new ReceiveRequest();
  }

  @Test
  void receiveWithoutMemoryNamesTheRegionThatNobodyCanAccess() {
    ring(0).post(request(), 0);
    assertThat(bytes(16, 32)).isEqualTo("20000000220000000000000000000000" + EMPTY_UNIT);
  }

  @Test
  void afterAResetTheCardContinuesWhereItWas() {
    CheckedReceiveRing ring = ring(0);
    ring.post(request().sge(DATA, 512, KEY), 0);
    ring.startAt(() -> 2);
    ring.post(request().sge(DATA, 512, KEY), 0);
    assertThat(bytes(0, 16)).isEqualTo(EMPTY_UNIT);
    assertThat(bytes(2 * SLOT, 16)).isNotEqualTo(EMPTY_UNIT);
    ring.reset();
    assertThat(ring.outstanding()).isZero();
    assertThat(ring.position(0).next()).isEqualTo(2);
  }

  /** Another thread may close memory while a queue pair is reset. */
  @Test
  void aSearchForAKeyEndsThoughAResetMovesTheRing() throws InterruptedException {
    CheckedReceiveRing ring = ring(0);
    AtomicBoolean ends = new AtomicBoolean();
    Thread resets =
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  while (!ends.get()) {
                    ring.post(request().sge(DATA, 512, KEY), 0);
                    ring.post(request().sge(DATA, 512, KEY), 0);
                    ring.reset();
                  }
                });
    assertTimeoutPreemptively(
        Duration.ofSeconds(20),
        () -> {
          for (int i = 0; i < 1_000_000; i++) {
            ring.names(KEY + 7);
          }
        });
    ends.set(true);
    resets.join();
  }

  @Test
  void flushedRequestNamesItsWrId() {
    Completions completions = new Completions(1);
    CheckedReceiveRing ring = ring(0);
    ring.post(request().wrId(70).sge(DATA, 512, KEY), 0);

    ring.flush(completions, 0);

    assertThat(bytes(0, 16)).as("the card does not find it").isEqualTo(EMPTY_UNIT);
    assertThat(completions.wrId(0)).isEqualTo(70);
    assertThat(completions.qpNumber(0)).isEqualTo(3);
    assertThat(completions.status(0)).isEqualTo(WcStatus.WR_FLUSH_ERR);
    assertThat(completions.opcode(0)).isEqualTo(WcOpcode.RECV);
    assertThat(ring.outstanding()).isZero();
    assertThat(ring.onCard()).as("the card has not come there").isEqualTo(1);
  }

  @Test
  void bytesWithheldFromTheCardAreTakenFromTheFirstElements() {
    CheckedReceiveRing datagrams = ring(40);
    datagrams.post(request().sge(DATA + 24, 100, KEY), 0);
    assertThat(bytes(16, 32)).isEqualTo("3c0000002100000040000000007e0000" + EMPTY_UNIT);
    datagrams.post(request().sge(DATA, 30, KEY).sge(DATA + 0x100, 50, KEY), 0);
    assertThat(bytes(SLOT + 16, 32)).isEqualTo("28000000210000000a010000007e0000" + EMPTY_UNIT);
    datagrams.post(request().sge(DATA, 40, KEY).sge(DATA + 0x100, 50, KEY), 0);
    assertThat(bytes(2 * SLOT + 16, 32)).isEqualTo("320000002100000000010000007e0000" + EMPTY_UNIT);
    assertThatThrownBy(() -> datagrams.post(request().sge(DATA, 40, KEY), 0))
        .hasMessageContaining("at most the 40 bytes");
    // Of 100 bytes at a page's end the card gets 60, from 24 before it: that may stop it.
    assertThatThrownBy(() -> datagrams.post(request().sge(DATA + 4096 - 64, 100, KEY), 0))
        .hasMessageContaining("crosses a page");
  }
}

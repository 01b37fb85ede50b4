package org.hghca.driver.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import java.util.List;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.Errno;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.vfio.direct.RingMemory;
import org.junit.jupiter.api.Test;

/**
 * The receive elements that the makers' RTL got in its simulation (remote key 21h at
 * 7e0000000000h). There dw0 = 1 marked a slot as posted; the driver marks it by bits that the
 * document leaves blank.
 */
class ReceiveRingTest {
  private static final long DATA = 0x7e00_0000_0000L;
  private static final int KEY = 0x21;
  private static final int SLOT = 64;
  private static final String EMPTY_UNIT = "00".repeat(16);

  private final MemorySegment memory = Arena.ofAuto().allocate(4 * SLOT, 4096);
  private final ReceiveRing ring =
      new ReceiveRing(new RingShape(RingMemory.guarded(memory), 3, 3, 4, 6), 2);

  private String bytes(int from, int count) {
    return HexFormat.of().formatHex(memory.asSlice(from, count).toArray(ValueLayout.JAVA_BYTE));
  }

  private boolean post(ReceiveRequest request) {
    return ring.post(request, 0);
  }

  private static ReceiveRequest request() {
    return new ReceiveRequest();
  }

  @Test
  void oneElementAndTheUnitThatEndsTheList() {
    post(request().sge(DATA, 4096, KEY));
    assertThat(bytes(16, 32)).isEqualTo("001000002100000000000000007e0000" + EMPTY_UNIT);
  }

  @Test
  void twoElementsAndTheUnitThatEndsTheList() {
    post(request().sge(DATA, 50, KEY).sge(DATA + 0x1000, 300, KEY));
    assertThat(bytes(16, 48))
        .isEqualTo(
            "320000002100000000000000007e0000" + "2c0100002100000000100000007e0000" + EMPTY_UNIT);
  }

  @Test
  void firstUnitHasOnlyBitsThatTheDocumentLeavesBlank() {
    post(request().sge(DATA, 4096, KEY));
    post(request().sge(DATA, 50, KEY).sge(DATA + 0x1000, 300, KEY));
    // dw0[5] and dw2[0] mark the slot; dw2[13:6] is its size of 3 and of 4 units.
    assertThat(bytes(0, 16)).isEqualTo("2000000000000000c100000000000000");
    assertThat(bytes(SLOT, 16)).isEqualTo("20000000000000000101000000000000");
  }

  @Test
  void emptyElementIsOmitted() {
    post(request().sge(DATA, 0, KEY).sge(DATA, 4096, KEY));
    assertThat(bytes(16, 32)).isEqualTo("001000002100000000000000007e0000" + EMPTY_UNIT);
  }

  @Test
  void requestWithoutElementsIsPosted() {
    post(request());
    assertThat(bytes(0, 16)).isEqualTo("20000000000000008100000000000000");
    assertThat(bytes(16, 16)).isEqualTo(EMPTY_UNIT);
  }

  @Test
  void leftoversOfAnEarlierRequestAreNotRead() {
    for (int i = 0; i < 4; i++) {
      post(request().sge(DATA, 50, KEY).sge(DATA + 0x1000, 300, KEY));
      assertThat(ring.takeOldest()).isZero();
    }
    post(request().sge(DATA, 4096, KEY));
    assertThat(bytes(16, 32)).isEqualTo("001000002100000000000000007e0000" + EMPTY_UNIT);
  }

  @Test
  void fullRingTakesNothingAndKeepsTheSlotBehindItEmpty() {
    for (int i = 0; i < 3; i++) {
      assertThat(post(request().sge(DATA, 4096, KEY))).isTrue();
    }
    assertThat(post(request().sge(DATA, 4096, KEY))).isFalse();
    assertThat(ring.outstanding()).isEqualTo(3);
    assertThat(bytes(3 * SLOT, SLOT)).isEqualTo("00".repeat(SLOT));
  }

  @Test
  void slotBehindThePostedOnesIsEmptyInEveryRoundOfTheRing() {
    post(request().sge(DATA, 4096, KEY));
    post(request().sge(DATA, 4096, KEY));
    for (int slot = 2; slot < 12; slot++) {
      assertThat(ring.takeOldest()).isZero();
      assertThat(post(request().sge(DATA, 4096, KEY))).isTrue();
      assertThat(bytes(slot % 4 * SLOT, 16)).isNotEqualTo(EMPTY_UNIT);
      assertThat(bytes((slot + 1) % 4 * SLOT, 16)).isEqualTo(EMPTY_UNIT);
    }
  }

  @Test
  void listIsPostedAsItsRequestsAre() {
    ReceiveRequest[] list = {
      request(), request().wrId(1).sge(DATA, 50, KEY), request().wrId(2).sge(DATA, 60, KEY)
    };
    assertThat(ring.post(list, 1, 2)).isEqualTo(2);
    String posted = bytes(0, 4 * SLOT);
    assertThat(ring.takeOldest()).isEqualTo(1);
    assertThat(ring.takeOldest()).isEqualTo(2);
    ring.reset();

    post(list[1]);
    post(list[2]);

    assertThat(posted).isEqualTo(bytes(0, 4 * SLOT));
    assertThat(ring.posted()).isEqualTo(4);
  }

  @Test
  void ringOfASingleOwnerGetsTheSame() {
    MemorySegment other = Arena.ofAuto().allocate(4 * SLOT, 4096);
    ReceiveRing checked = new ReceiveRing(new RingShape(RingMemory.checked(other), 3, 3, 4, 6), 2);
    ReceiveRequest[] list = {request().sge(DATA, 50, KEY), request().sge(DATA, 60, KEY)};
    for (ReceiveRing each : List.of(ring, checked)) {
      assertThat(each.post(list, 0, 2)).isEqualTo(2);
      assertThat(each.takeOldest()).isZero();
      assertThat(each.post(list, 0, 2)).isEqualTo(2);
    }
    assertThat(other.mismatch(memory)).isEqualTo(-1);
    assertThat(bytes(0, 16)).isEqualTo(EMPTY_UNIT);
  }

  @Test
  void listEndsWhereTheRingIsFull() {
    ReceiveRequest[] list = {request(), request(), request(), request()};
    assertThat(ring.post(list, 0, 4)).isEqualTo(3);
    assertThat(ring.post(list, 3, 1)).isZero();
    assertThat(bytes(3 * SLOT, 16)).isEqualTo(EMPTY_UNIT);
    ring.takeOldest();
    assertThat(ring.post(list, 3, 1)).isEqualTo(1);
  }

  @Test
  void requestsBeforeABadOneArePosted() {
    ReceiveRequest bad = request().sge(DATA, 1, KEY).sge(DATA, 1, KEY).sge(DATA, 1, KEY);
    ReceiveRequest[] list = {request().wrId(5).sge(DATA, 8, KEY), bad, request()};
    assertThatThrownBy(() -> ring.post(list, 0, 3))
        .isInstanceOfSatisfying(BadRequestException.class, e -> assertThat(e.index()).isEqualTo(1));
    assertThat(ring.outstanding()).isEqualTo(1);
    assertThat(bytes(SLOT, 16)).isEqualTo(EMPTY_UNIT);
    assertThat(ring.takeOldest()).isEqualTo(5);
  }

  @Test
  void afterACompletionTheNextRequestIsTheOldest() {
    post(request().wrId(70).sge(DATA, 4096, KEY));
    post(request().wrId(71).sge(DATA, 4096, KEY));
    assertThat(ring.isOldest(0)).isTrue();
    assertThat(ring.isOldest(SLOT)).isFalse();

    assertThat(ring.takeOldest()).isEqualTo(70);

    assertThat(ring.isOldest(SLOT)).isTrue();
    assertThat(ring.outstanding()).isEqualTo(1);
    assertThat(ring.tail()).isEqualTo(1);
    assertThat(ring.head()).isEqualTo(2);
  }

  @Test
  void tooManyElementsAreRefusedAndNothingIsWritten() {
    assertThatThrownBy(
            () -> ring.post(request().sge(DATA, 1, KEY).sge(DATA, 1, KEY).sge(DATA, 1, KEY), 5))
        .isInstanceOfSatisfying(
            BadRequestException.class,
            e -> {
              assertThat(e.errno()).isEqualTo(Errno.EINVAL);
              assertThat(e.index()).isEqualTo(5);
            })
        .hasMessageContaining("3 scatter/gather elements: QP 0x000003 takes 2");
    assertThat(bytes(0, SLOT)).isEqualTo("00".repeat(SLOT));
    assertThat(ring.outstanding()).isZero();
  }
}

package org.hghca.driver.rtl.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.driver.rtl.ring.QuotaRing.FOREIGN;
import static org.hghca.driver.rtl.ring.QuotaRing.MEMORY;
import static org.hghca.driver.rtl.ring.QuotaRing.READ_ONLY;
import static org.hghca.driver.rtl.ring.QuotaRing.REMOTE;
import static org.hghca.driver.rtl.ring.QuotaRing.RKEY;
import static org.hghca.driver.rtl.ring.QuotaRing.good;
import static org.hghca.driver.rtl.ring.QuotaRing.request;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import org.hghca.abi.HardwareProfile;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QpType;
import org.hghca.verbs.SendRequest;
import org.junit.jupiter.api.Test;

/** Requests that are not posted to a card that a bad request stops. */
class SendChecksTest {
  private final QuotaRing rc = new QuotaRing(QpType.RC, QuotaRing.inFlight(63));
  private final QuotaRing uc = new QuotaRing(QpType.UC, QuotaRing.inFlight(63));

  private void assertRefused(QuotaRing ring, SendRequest bad, Errno errno, String complaint) {
    byte[] before = ring.memory.toArray(ValueLayout.JAVA_BYTE);
    int rung = ring.doorbells.size();
    assertThatThrownBy(() -> ring.ring.post(bad))
        .isInstanceOfSatisfying(
            BadRequestException.class, e -> assertThat(e.errno()).isEqualTo(errno))
        .hasMessageContaining(complaint);
    assertThat(ring.doorbells).hasSize(rung);
    assertThat(ring.ring.outstanding()).isZero();
    assertThat(ring.memory.toArray(ValueLayout.JAVA_BYTE)).as("the ring").isEqualTo(before);
  }

  private void assertRefused(SendRequest bad, String complaint) {
    assertRefused(rc, bad, Errno.EINVAL, complaint);
  }

  private void assertTaken(SendRequest request) {
    int before = rc.doorbells.size();
    assertThat(rc.ring.post(request)).isTrue();
    assertThat(rc.doorbells).hasSize(before + 1);
    rc.complete();
  }

  private static SendRequest write(long address, long length) {
    return request().rdmaWrite(address, RKEY).sge(MEMORY.start(), length, MEMORY.key());
  }

  private static SendRequest read(long address, long length) {
    return request().rdmaRead(REMOTE, RKEY).sge(address, length, MEMORY.key());
  }

  @Test
  void operationsThatTheCardCorruptsOrLacksAreUnsupported() {
    assertRefused(
        rc,
        request().sendWithImmediate(1).sge(MEMORY.start(), 8, MEMORY.key()),
        Errno.EOPNOTSUPP,
        "SEND_WITH_IMM");
    assertRefused(
        rc,
        request().fetchAndAdd(REMOTE, RKEY, 1).sge(MEMORY.start(), 8, MEMORY.key()),
        Errno.EOPNOTSUPP,
        "ATOMIC_FETCH_AND_ADD");
    assertRefused(
        rc,
        request().compareAndSwap(REMOTE, RKEY, 1, 2).sge(MEMORY.start(), 8, MEMORY.key()),
        Errno.EOPNOTSUPP,
        "ATOMIC_CMP_AND_SWP");
    assertRefused(uc, read(MEMORY.start(), 8), Errno.EOPNOTSUPP, "RDMA_READ");
    assertTaken(
        request().rdmaWriteWithImmediate(REMOTE, RKEY, 1).sge(MEMORY.start(), 8, MEMORY.key()));
  }

  @Test
  void emptyMessagesAreRefused() {
    long a = MEMORY.start();
    int key = MEMORY.key();
    SendRequest[] empty = {
      request().send(),
      request().send().sge(a, 0, key),
      request().send().sge(a, 0, key).sge(a, 0, key),
      request().send().inline(MemorySegment.ofArray(new byte[0])),
      request().rdmaWrite(REMOTE, RKEY),
      request().rdmaWriteWithImmediate(REMOTE, RKEY, 1),
      request().rdmaRead(REMOTE, RKEY),
      request().rdmaRead(REMOTE, RKEY).sge(a, 0, key),
    };
    for (SendRequest request : empty) {
      assertRefused(rc, request, Errno.EOPNOTSUPP, "zero length");
    }
  }

  @Test
  void emptyElementsAreOmittedWhateverTheirKey() {
    rc.ring.post(
        request().send().sge(1, 0, 99).sge(MEMORY.start(), 64, MEMORY.key()).sge(2, 0, 98));
    assertThat(rc.doorbells).containsExactly(0x0000_0202_0000_000aL);
    assertThat(HexFormat.of().formatHex(rc.memory.asSlice(16, 16).toArray(ValueLayout.JAVA_BYTE)))
        .isEqualTo("400000000500000100000000007f0000");
  }

  @Test
  void everyElementMustBeInMemoryOfTheDomain() {
    long end = MEMORY.start() + MEMORY.length();
    assertRefused(request().send().sge(MEMORY.start(), 8, 0x77), "element 0");
    assertRefused(request().send().sge(MEMORY.start(), 8, 0x0200_0005), "no memory region");
    assertRefused(request().send().sge(FOREIGN.start(), 8, FOREIGN.key()), "PD 0x4");
    assertRefused(request().send().sge(MEMORY.start() - 1, 8, MEMORY.key()), "does not lie");
    assertRefused(request().send().sge(end - 7, 8, MEMORY.key()), "does not lie");
    assertRefused(
        request().send().sge(end - 8, 8, MEMORY.key()).sge(end, 1, MEMORY.key()), "element 1");
    assertRefused(
        request().send().sge(end, 1, MEMORY.key()).sge(end - 8, 8, MEMORY.key()), "element 0");
    assertTaken(request().send().sge(end - 8, 8, MEMORY.key()));
  }

  @Test
  void readNeedsLocalWrite() {
    assertRefused(
        request().rdmaRead(REMOTE, RKEY).sge(READ_ONLY.start(), 8, READ_ONLY.key()), "LOCAL_WRITE");
    assertTaken(request().send().sge(READ_ONLY.start(), 8, READ_ONLY.key()));
    assertTaken(read(MEMORY.start(), 8));
  }

  @Test
  void writeDoesNotEndLessThan32BytesBehindAPage() {
    assertRefused(write(REMOTE + 4096 - 31, 32), "0x600000000fe1");
    assertRefused(write(REMOTE + 4096 - 1, 32), "stop the peer's card");
    assertTaken(write(REMOTE + 4096 - 1, 33)); // 1 + 32 bytes: beyond 32
    assertTaken(write(REMOTE + 4096 - 32, 33));
    assertTaken(write(REMOTE + 4096 - 31, 31));
    byte[] data = new byte[20];
    assertRefused(
        request().rdmaWrite(REMOTE + 4096 - 1, RKEY).inline(MemorySegment.ofArray(data)), "page");
    // Full packets of 1024: the fourth ends 1 byte behind the page.
    assertRefused(write(REMOTE + 1, 8192), "page");
    rc.checks.path(8);
    assertTaken(write(REMOTE + 1 + 32, 8192));
  }

  @Test
  void readResultDoesNotEndThereEither() {
    long page = MEMORY.start() + 4096;
    assertRefused(read(page - 1, 32), "element 0");
    assertTaken(read(page - 1, 33));
    assertTaken(read(page - 32, 64));
    assertTaken(request().rdmaRead(REMOTE, RKEY).sge(1, 0, 9).sge(page - 1, 33, MEMORY.key()));
    int key = MEMORY.key();
    assertRefused(
        request().rdmaRead(REMOTE, RKEY).sge(page, 10, key).sge(page - 32, 64, key), "element 1");
    assertRefused(
        request().rdmaRead(REMOTE, RKEY).sge(page - 1, 33, key).sge(page, 10, key), "element 0");
    assertTaken(request().rdmaRead(REMOTE, RKEY).sge(page, 96, key).sge(page - 32, 65, key));
    assertTaken(request().rdmaRead(REMOTE, RKEY).sge(page, 10, key).sge(page + 10, 64, key));
  }

  @Test
  void readFromTheSameDeviceNeedsRemoteRead() {
    long a = MEMORY.start();
    int key = MEMORY.key();
    rc.checks.path(10, 4);
    assertRefused(request().rdmaRead(a, 0x77).sge(a, 8, key), "rkey 0x00000077");
    assertRefused(request().rdmaRead(a + MEMORY.length() - 7, key).sge(a, 8, key), "do not lie");
    assertRefused(
        request().rdmaRead(READ_ONLY.start(), READ_ONLY.key()).sge(a, 8, key), "REMOTE_READ");
    assertTaken(request().rdmaRead(a + 64, key).sge(a, 8, key));
    rc.checks.path(10);
    assertTaken(request().rdmaRead(a, 0x77).sge(a, 8, key));
  }

  @Test
  void listIsPostedUpToTheFirstBadRequest() {
    SendRequest[] list = {good(), good(), request().send(), good()};
    assertThatThrownBy(() -> rc.ring.post(list, 0, 4))
        .isInstanceOfSatisfying(BadRequestException.class, e -> assertThat(e.index()).isEqualTo(2));
    assertThat(rc.ring.outstanding()).isEqualTo(2);
    assertThat(rc.rungSlots()).containsExactly(0, 1);
    assertThat(rc.ring.doorbells()).isEqualTo(2);
    assertThat(rc.ring.posted()).isEqualTo(2);
  }

  @Test
  void eachRequestOfAListHasItsOwnDoorbellAndNoFence() {
    SendRequest[] list = {good(), good(), good().fence(), good(), good()};
    assertThat(rc.ring.post(list, 0, 5)).isEqualTo(5);
    assertThat(rc.rungSlots()).containsExactly(0, 1, 2, 3, 4);
    assertThat(rc.doorbells)
        .extracting(doorbell -> doorbell >>> 5 & 1)
        .as("fence")
        .containsOnly(0L);
    assertThat(rc.doorbells).extracting(doorbell -> doorbell >>> 32 & 0xff).containsOnly(3L);
  }

  @Test
  void secondRevisionHasTheSameChecks() {
    QuotaRing second = new QuotaRing(QpType.RC, HardwareProfile.R2, QuotaRing.inFlight(63));
    assertRefused(second, request().send(), Errno.EOPNOTSUPP, "zero length");
    assertThat(second.ring.post(good())).isTrue();
  }

  @Test
  void outstandingRequestsNameTheirMemory() {
    int key = MEMORY.key();
    long a = MEMORY.start();
    assertThat(rc.ring.names(key)).isFalse();
    SendRequest[] naming = {
      request().send().sge(a, 8, key),
      request().rdmaWrite(REMOTE, RKEY).sge(READ_ONLY.start(), 8, READ_ONLY.key()).sge(a, 8, key),
      request().rdmaRead(REMOTE, key).sge(a, 8, key),
    };
    for (SendRequest request : naming) {
      rc.ring.post(request);
      assertThat(rc.ring.names(key)).isTrue();
      rc.complete();
      assertThat(rc.ring.names(key)).isFalse();
    }
    rc.ring.post(request().rdmaRead(REMOTE, READ_ONLY.key()).sge(a, 8, key));
    assertThat(rc.ring.names(READ_ONLY.key())).as("what a READ reads").isTrue();
    rc.complete();
    byte[] lookAlike = new byte[16];
    MemorySegment.ofArray(lookAlike).set(ValueLayout.JAVA_INT_UNALIGNED, 0, key);
    rc.ring.post(request().rdmaWrite(REMOTE, key).inline(MemorySegment.ofArray(lookAlike)));
    assertThat(rc.ring.names(key)).as("data, and what another card is written to").isFalse();
  }
}

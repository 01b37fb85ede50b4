package org.hghca.driver.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.hghca.abi.HardwareProfile;
import org.hghca.driver.memory.KeyedMemory;
import org.hghca.driver.ring.DoorbellOnlyFunction;
import org.hghca.driver.ring.RingShape;
import org.hghca.driver.ring.SendRing;
import org.hghca.driver.ring.SendWriter;
import org.hghca.driver.rtl.ring.KeyTable;
import org.hghca.driver.rtl.ring.QuotaRing;
import org.hghca.driver.rtl.ring.QuotaSendRing;
import org.hghca.driver.rtl.ring.RequestMemory;
import org.hghca.driver.rtl.ring.SendChecks;
import org.hghca.uar.UarAllocator;
import org.hghca.uar.UarPage;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePairCapabilities;
import org.hghca.verbs.SendRequest;
import org.hghca.vfio.direct.RingMemory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Elements of datagrams and atomics: tables 3-4-6 to 3-4-9, dword by dword. */
class DatagramRingTest {
  private static final Gid PEER = Gid.ofIpv4(0xc0a8_0102);
  private static final long PEER_MAC = 0x1234_5678_9abcL;
  private static final long LOCAL = 0x7f00_0000_1000L;
  private static final long REMOTE = 0x7e00_0000_2008L;
  private static final int LKEY = 0x20;
  private static final int RKEY = 0x21;
  private static final int SLOT = 128;

  private final MemorySegment memory = Arena.ofAuto().allocate(16 * SLOT, 4096);
  private final List<Long> doorbells = new ArrayList<>();
  private DriverFixture it = new DriverFixture();
  private final SendRequest request = new SendRequest();
  private AddressHandle peer;

  @BeforeEach
  void know() {
    it.context.addNeighbor(PEER, PEER_MAC);
    peer = it.pd.createAddressHandle(AddressVector.to(PEER, 1));
  }

  @AfterEach
  void close() {
    peer.close();
    it.close();
  }

  private SendRing ring(QpType type, HardwareProfile profile) {
    QueuePairCapabilities capabilities = new QueuePairCapabilities(16, 0, 2, 0, 32);
    RingShape shape = new RingShape(RingMemory.guarded(memory), 2, 16, 16, 7);
    SendWriter writer = new SendWriter(type, profile, it.pd, shape, capabilities, false);
    UarPage uar = UarAllocator.open(new DoorbellOnlyFunction(doorbells)).allocate();
    SendRing ring =
        profile.badRequestsReported()
            ? new SendRing(shape, writer, uar, null, DatagramRingTest::notOpen)
            : new QuotaSendRing(
                shape,
                writer,
                uar,
                null,
                DatagramRingTest::notOpen,
                checks(),
                QuotaRing.inFlight(63));
    ring.setOpen(() -> true);
    return ring;
  }

  private static BadRequestException notOpen() {
    return new BadRequestException(Errno.EINVAL, 0, "not open");
  }

  private SendChecks checks() {
    KeyTable keys = new KeyTable(LKEY + 1);
    keys.put(new KeyedMemory(LKEY, it.pd.number(), LOCAL, 1 << 20, 1));
    return new SendChecks(new RequestMemory(keys, it.pd.number()), qpn -> SendChecks.UNKNOWN, 1024);
  }

  private SendRing ring(QpType type) {
    return ring(type, HardwareProfile.S);
  }

  private int dword(int index) {
    return memory.get(ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN), 4L * index);
  }

  private int[] dwords(int from, int count) {
    int[] found = new int[count];
    for (int i = 0; i < count; i++) {
      found[i] = dword(from + i);
    }
    return found;
  }

  private void assertRefused(QpType type, Errno errno, String complaint) {
    assertRefused(ring(type), errno, complaint);
  }

  private void assertRefused(SendRing ring, Errno errno, String complaint) {
    assertThatThrownBy(() -> ring.post(request))
        .isInstanceOfSatisfying(
            BadRequestException.class, e -> assertThat(e.errno()).isEqualTo(errno))
        .hasMessageContaining(complaint);
    assertThat(doorbells).isEmpty();
    assertThat(ring.outstanding()).isZero();
  }

  @Test
  void datagramHasItsDestinationBeforeItsData() {
    memory.fill((byte) 0xff);
    request.sendWithImmediate(0x1122_3344).to(peer, 0x00ab_cdef, 0x8765_4321);
    ring(QpType.UD).post(request.sge(LOCAL, 100, LKEY));
    long own = it.device.address().mac();
    assertThat(dword(2)).isEqualTo(0x0b << 14 | 5 << 6 | 1);
    assertThat(dword(3)).isEqualTo(0x1122_3344);
    assertThat(dwords(4, 12))
        .containsExactly(
            1,
            0x9abc_0000 | (int) own & 0xffff,
            (int) (own >>> 16),
            0x1234_5678,
            it.device.address().ip(),
            0xc0a8_0102,
            0,
            0,
            0x00ab_cdef,
            0x8765_4321,
            0,
            0);
    assertThat(dwords(16, 4)).containsExactly(100, LKEY, (int) LOCAL, (int) (LOCAL >>> 32));
    assertThat(doorbells).containsExactly(0x0000_0205_0000_000bL);
  }

  @Test
  void datagramByMacAddressesCarriesNoIpAddresses() {
    close();
    it = new DriverFixture("&as=s"); // without extensions
    know();
    try (AddressHandle handle =
        it.pd.createAddressHandle(AddressVector.to(Gid.ofMac(0x0203_0405_0607L), 0))) {
      memory.fill((byte) 0xff);
      ring(QpType.UD).post(request.send().to(handle, 3, 4).sge(LOCAL, 8, LKEY));
      assertThat(dword(5) >>> 16).isEqualTo(0x0607);
      assertThat(dword(7)).isEqualTo(0x0203_0405);
      assertThat(dwords(8, 4)).containsExactly(0, 0, 0, 0);
      assertThat(dwords(14, 2)).containsExactly(0, 0);
    }
  }

  @Test
  void datagramByIpv6HasItsDestinationAndTheIndexOfItsSource() {
    try (AddressHandle handle =
        it.pd.createAddressHandle(AddressVector.to(Gid.ofMac(0x0203_0405_0607L), 0))) {
      memory.fill((byte) 0xff);
      ring(QpType.UD).post(request.send().to(handle, 3, 4).sge(LOCAL, 8, LKEY));
      assertThat(dword(5) >>> 16).isEqualTo(0x0607);
      assertThat(dword(7)).isEqualTo(0x0203_0405);
      // fe80::3:04ff:fe05:607, the first byte at the lowest address
      assertThat(dwords(8, 4)).containsExactly(0x0000_80fe, 0, 0xff04_0300, 0x0706_05fe);
      assertThat(dwords(12, 4)).containsExactly(3, 4, 1 << 31, 0);
    }
  }

  @Test
  void emptyDatagramIsNextUnitAndDestination() {
    ring(QpType.UD).post(request.send().to(peer, 3, 4));
    assertThat(doorbells).containsExactly(0x0000_0204_0000_000aL);
  }

  @Test
  void datagramMayBeInline() {
    byte[] data = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
    ring(QpType.UD).post(request.send().to(peer, 3, 4).inline(MemorySegment.ofArray(data)));
    assertThat(dword(16)).isEqualTo(0x8000_0000 | data.length);
    assertThat(memory.asSlice(68, 13).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(data);
    assertThat(doorbells).containsExactly(0x0000_0206_0000_000aL);
  }

  @Test
  void datagramIsNotInlineOnTheSecondRevision() {
    request.send().to(peer, 3, 4).inline(MemorySegment.ofArray(new byte[4]));
    assertRefused(ring(QpType.UD, HardwareProfile.R2), Errno.EOPNOTSUPP, "inline");
  }

  @Test
  void datagramNeedsADestination() {
    request.send().sge(LOCAL, 8, LKEY);
    assertRefused(QpType.UD, Errno.EINVAL, "SendRequest.to");
  }

  @Test
  void destinationOfAnotherDomainIsRefused() {
    try (ProtectionDomain other = it.context.allocateProtectionDomain();
        AddressHandle handle = other.createAddressHandle(AddressVector.to(PEER, 1))) {
      request.send().to(handle, 3, 4);
      assertRefused(QpType.UD, Errno.EINVAL, "is of PD");
    }
  }

  @Test
  void closedDestinationIsRefused() {
    peer.close();
    request.send().to(peer, 3, 4);
    assertRefused(QpType.UD, Errno.EINVAL, "is closed");
  }

  @Test
  void destinationOfAnotherProviderIsRefused() {
    AddressHandle foreign =
        new AddressHandle() {
          @Override
          public ProtectionDomain protectionDomain() {
            return it.pd;
          }

          @Override
          public AddressVector vector() {
            return AddressVector.to(PEER, 1);
          }

          @Override
          public void close() {}
        };
    request.send().to(foreign, 3, 4);
    assertRefused(QpType.UD, Errno.EINVAL, "not of this device");
  }

  @ParameterizedTest
  @EnumSource(names = {"RC", "UC"})
  void connectedTypesIgnoreADestination(QpType type) {
    ring(type).post(request.send().to(peer, 3, 4).sge(LOCAL, 8, LKEY));
    assertThat(doorbells).containsExactly(0x0000_0202_0000_000aL);
  }

  @Test
  void compareAndSwap() {
    memory.fill((byte) 0xff);
    request.compareAndSwap(REMOTE, RKEY, 0x1122_3344_5566_7788L, 0x99aa_bbcc_ddee_ff00L);
    ring(QpType.RC).post(request.sge(LOCAL, 8, LKEY));
    assertThat(dword(2)).isEqualTo(0x11 << 14 | 4 << 6 | 1);
    assertThat(dwords(4, 12))
        .containsExactly(
            (int) REMOTE,
            (int) (REMOTE >>> 32),
            RKEY,
            0,
            0xddee_ff00,
            0x99aa_bbcc,
            0x5566_7788,
            0x1122_3344,
            8,
            LKEY,
            (int) LOCAL,
            (int) (LOCAL >>> 32));
    assertThat(doorbells).containsExactly(0x0000_0204_0000_0011L);
  }

  @Test
  void fetchAndAdd() {
    ring(QpType.RC).post(request.fetchAndAdd(REMOTE, RKEY, -1).sge(LOCAL, 8, LKEY));
    assertThat(dwords(8, 4)).containsExactly(-1, -1, 0, 0);
    assertThat(doorbells).containsExactly(0x0000_0204_0000_0012L);
  }

  @Test
  void atomicTakesOneElementOfEightBytes() {
    SendRing ring = ring(QpType.RC);
    for (long length : new long[] {0, 4, 7, 9, 16}) {
      request.fetchAndAdd(REMOTE, RKEY, 1).sge(LOCAL, length, LKEY);
      assertRefused(ring, Errno.EINVAL, "one element of 8 bytes");
    }
    request.fetchAndAdd(REMOTE, RKEY, 1);
    assertRefused(ring, Errno.EINVAL, "one element of 8 bytes");
    request.fetchAndAdd(REMOTE, RKEY, 1).sge(LOCAL, 4, LKEY).sge(LOCAL + 4, 4, LKEY);
    assertRefused(ring, Errno.EINVAL, "one element of 8 bytes");
    request.fetchAndAdd(REMOTE, RKEY, 1).sge(LOCAL, 8, LKEY).inline();
    assertRefused(ring, Errno.EINVAL, "inline");
  }

  @Test
  void revisionWithoutAtomicsRefusesThem() {
    request.fetchAndAdd(REMOTE, RKEY, 1).sge(LOCAL, 8, LKEY);
    assertRefused(ring(QpType.RC, HardwareProfile.R1), Errno.EOPNOTSUPP, "ATOMIC_FETCH_AND_ADD");
    request.compareAndSwap(REMOTE, RKEY, 1, 2).sge(LOCAL, 8, LKEY);
    assertRefused(ring(QpType.RC, HardwareProfile.R2), Errno.EOPNOTSUPP, "ATOMIC_CMP_AND_SWP");
  }

  @Test
  void unsupportedOperationOfATypeIsRefused() {
    for (QpType type : List.of(QpType.UC, QpType.UD)) {
      request.rdmaRead(REMOTE, RKEY).sge(LOCAL, 8, LKEY);
      assertRefused(type, Errno.EOPNOTSUPP, "RDMA_READ");
      request.fetchAndAdd(REMOTE, RKEY, 1).sge(LOCAL, 8, LKEY);
      assertRefused(type, Errno.EOPNOTSUPP, "ATOMIC_FETCH_AND_ADD");
      request.compareAndSwap(REMOTE, RKEY, 1, 2).sge(LOCAL, 8, LKEY);
      assertRefused(type, Errno.EOPNOTSUPP, "ATOMIC_CMP_AND_SWP");
    }
    request.rdmaWrite(REMOTE, RKEY).sge(LOCAL, 8, LKEY);
    assertRefused(QpType.UD, Errno.EOPNOTSUPP, "RDMA_WRITE");
    request.rdmaWriteWithImmediate(REMOTE, RKEY, 1).sge(LOCAL, 8, LKEY);
    assertRefused(QpType.UD, Errno.EOPNOTSUPP, "RDMA_WRITE_WITH_IMM");
  }

  @Test
  void unreliableConnectionSendsAndWrites() {
    SendRing ring = ring(QpType.UC);
    ring.post(request.send().sge(LOCAL, 8, LKEY));
    ring.post(request.sendWithImmediate(1).sge(LOCAL, 8, LKEY));
    ring.post(request.rdmaWrite(REMOTE, RKEY).sge(LOCAL, 8, LKEY));
    ring.post(request.rdmaWriteWithImmediate(REMOTE, RKEY, 1).sge(LOCAL, 8, LKEY));
    assertThat(doorbells)
        .extracting(doorbell -> doorbell & 0x1f)
        .containsExactly(0xaL, 0xbL, 8L, 9L);
  }

  @Test
  void listThatFailsInTheMiddleNamesThePosition() {
    SendRequest[] list = {
      new SendRequest().send().to(peer, 3, 4), new SendRequest().send(), new SendRequest().send()
    };
    SendRing ring = ring(QpType.UD);
    assertThatThrownBy(() -> ring.post(list, 0, 3))
        .isInstanceOfSatisfying(BadRequestException.class, e -> assertThat(e.index()).isEqualTo(1));
    assertThat(ring.outstanding()).isEqualTo(1);
    assertThat(doorbells).hasSize(1);
  }
}

package org.hghca.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.abi.BitMap.AT;
import static org.hghca.abi.BitMap.bits;

import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CqeTest {
  @Test
  void gettersReadTheBitsOfTables331And334() {
    new BitMap(32)
        .field("my_qpn", bits(0x00, 31, 0), m -> unsigned(Cqe.qpn(m, AT)))
        .field("my_ee", bits(0x04, 31, 0), m -> unsigned(Cqe.ee(m, AT)))
        .field("rqpn", bits(0x08, 31, 0), m -> unsigned(Cqe.remoteQpn(m, AT)))
        .field("rlid", bits(0x0c, 31, 16), m -> Cqe.remoteLid(m, AT))
        .field("g_mlpath", bits(0x0c, 15, 8), m -> Cqe.path(m, AT))
        .field("sl_ipok", bits(0x0c, 7, 0), m -> Cqe.slIpok(m, AT))
        .field("imm", bits(0x10, 31, 0), m -> unsigned(Cqe.immediate(m, AT)))
        .field("syndrome", bits(0x10, 7, 0), m -> Cqe.syndrome(m, AT))
        .field("vendor_err", bits(0x10, 15, 8), m -> Cqe.vendorError(m, AT))
        .field("db_cnt", bits(0x10, 31, 16), m -> Cqe.doorbellCount(m, AT))
        .field("top syndrome", bits(0x10, 31, 24), m -> Cqe.topSyndrome(m, AT))
        .field("byte_cnt", bits(0x14, 31, 0), m -> unsigned(Cqe.byteCount(m, AT)))
        .field("wqe", bits(0x18, 31, 0), m -> unsigned(Cqe.wqeOffset(m, AT)))
        .field("opcode", bits(0x1c, 7, 0), m -> Cqe.opcode(Cqe.lastDword(m, AT)))
        .field("owner", bits(0x1c, 31, 24), m -> Cqe.owner(Cqe.lastDword(m, AT)))
        .field("owner byte", bits(0x1c, 31, 24), m -> Cqe.owner(m, AT))
        .assertGettersSeeTheirBitsOnly();
  }

  @Test
  void anyBitOfIsSendMarksASend() {
    for (int bit = 0; bit < 32; bit++) {
      assertThat(Cqe.isSend(1 << bit)).as("bit %d", bit).isEqualTo(bit >= 8 && bit <= 15);
    }
  }

  @Test
  void successFillsAllThirtyTwoBytes() {
    assertThat(Cqe.SIZE).isEqualTo(32);
    assertThat(
            BitMap.encoded(
                32,
                m ->
                    Cqe.encodeSuccess(
                        m,
                        AT,
                        0x03020100,
                        0x0b0a0908,
                        0x0f0e,
                        0x13121110,
                        0x17161514,
                        0x1b1a1918,
                        true,
                        0x1c,
                        0x80)))
        .isEqualTo("000102030000000008090a0b00000e0f101112131415161718191a1b1c010080");
  }

  @Test
  void errorFillsAllThirtyTwoBytesAndHasOpcodeFf() {
    // A send of QP 0x54321 at offset 0x1c0 failed with a remote access error (13h), vendor error 7.
    assertThat(BitMap.encoded(32, m -> Cqe.encodeError(m, AT, 0x54321, 0x1c0, 0x13, 7, true, 0x00)))
        .isEqualTo("21430500000000000000000000000000" + "1307000000000000c0010000ff010000");
    // A flushed receive: is_send 0.
    assertThat(BitMap.encoded(32, m -> Cqe.encodeError(m, AT, 2, 64, 5, 0, false, 0x80)))
        .isEqualTo("02000000000000000000000000000000" + "050000000000000040000000ff000080");
  }

  @Test
  void errorOfTheFirstRtlKeepsTheOpcodeAndHasItsSyndromeAtTheTop() {
    // A datagram of QP 2 at offset 0x40, whose first element failed with a local access error
    // (11h).
    assertThat(BitMap.encoded(32, m -> Cqe.encodeTopError(m, AT, 2, 0x40, WqeOpcode.SEND, 0x11)))
        .isEqualTo("02000000000000000000000000000000" + "0000001100000000400000000a000000");
  }

  @Test
  void armStoresTheSentinelAndKeepsTheRest() {
    MemorySegment memory = BitMap.memory("00".repeat(32));
    assertThat(Cqe.owner(memory, AT)).isEqualTo(0x00);
    Cqe.free(memory, AT);
    assertThat(BitMap.hex(memory.asSlice(AT, 32))).isEqualTo("00".repeat(28) + "ffffffff");
    assertThat(Cqe.owner(memory, AT)).isEqualTo(Cqe.SENTINEL).isEqualTo(0xff);
  }

  @Test
  void fillArmsEveryEntryAndNothingElse() {
    assertThat(BitMap.encoded(96, m -> Cqe.fill(m, AT, 3))).isEqualTo("ff".repeat(96));
  }

  @Test
  void sentinelIsNotAnOwnerThatADeviceWrites() {
    assertThat(Cqe.OWNER_SOFTWARE).isEqualTo(0x00).isNotEqualTo(Cqe.SENTINEL);
    assertThat(Cqe.OWNER_HARDWARE).isEqualTo(0x80).isNotEqualTo(Cqe.SENTINEL);
  }

  @ParameterizedTest
  @ValueSource(longs = {31, 32, 33})
  void writtenFieldsAreReadBack(long seed) {
    var random = new SplittableRandom(seed);
    MemorySegment memory = BitMap.memory("ff".repeat(32));
    for (int i = 0; i < 1000; i++) {
      int qpn = random.nextInt();
      int remoteQpn = random.nextInt();
      int lid = random.nextInt(1 << 16);
      int immediate = random.nextInt();
      int bytes = random.nextInt();
      int wqe = random.nextInt();
      boolean isSend = random.nextBoolean();
      int opcode = random.nextInt(1 << 8);
      int owner = random.nextInt(1 << 8);
      Cqe.encodeSuccess(
          memory, AT, qpn, remoteQpn, lid, immediate, bytes, wqe, isSend, opcode, owner);
      int last = Cqe.lastDword(memory, AT);
      assertThat(Cqe.qpn(memory, AT)).isEqualTo(qpn);
      assertThat(Cqe.remoteQpn(memory, AT)).isEqualTo(remoteQpn);
      assertThat(Cqe.remoteLid(memory, AT)).isEqualTo(lid);
      assertThat(Cqe.immediate(memory, AT)).isEqualTo(immediate);
      assertThat(Cqe.byteCount(memory, AT)).isEqualTo(bytes);
      assertThat(Cqe.wqeOffset(memory, AT)).isEqualTo(wqe);
      assertThat(Cqe.isSend(last)).isEqualTo(isSend);
      assertThat(Cqe.opcode(last)).isEqualTo(opcode);
      assertThat(Cqe.owner(last)).isEqualTo(owner).isEqualTo(Cqe.owner(memory, AT));

      int syndrome = random.nextInt(1 << 8);
      int vendor = random.nextInt(1 << 8);
      Cqe.encodeError(memory, AT, qpn, wqe, syndrome, vendor, isSend, owner);
      last = Cqe.lastDword(memory, AT);
      assertThat(Cqe.qpn(memory, AT)).isEqualTo(qpn);
      assertThat(Cqe.wqeOffset(memory, AT)).isEqualTo(wqe);
      assertThat(Cqe.syndrome(memory, AT)).isEqualTo(syndrome);
      assertThat(Cqe.vendorError(memory, AT)).isEqualTo(vendor);
      assertThat(Cqe.isSend(last)).isEqualTo(isSend);
      assertThat(Cqe.opcode(last)).isEqualTo(0xff);
      assertThat(Cqe.owner(last)).isEqualTo(owner);
    }
  }

  /** Of last dwords with all owners, senders and opcodes. */
  @Test
  void goodSendsAndReceivesAreToldByTheLastDword() {
    for (int owner : new int[] {Cqe.OWNER_SOFTWARE, Cqe.OWNER_HARDWARE, 0x01, Cqe.SENTINEL}) {
      boolean device = owner == Cqe.OWNER_SOFTWARE || owner == Cqe.OWNER_HARDWARE;
      for (int opcode = 0; opcode <= 0xff; opcode++) {
        boolean good = device && opcode != 0xff;
        int last = owner << 24 | opcode;
        assertThat(Cqe.isGoodReceive(last)).isEqualTo(good);
        assertThat(Cqe.isGoodSend(last | 1 << 8)).isEqualTo(good);
        assertThat(Cqe.isGoodReceive(last | 1 << 8)).isFalse();
        assertThat(Cqe.isGoodSend(last)).isFalse();
        assertThat(Cqe.isGoodReceive(last | 1 << 16)).isFalse();
      }
    }
  }

  private static long unsigned(int value) {
    return Integer.toUnsignedLong(value);
  }
}

package org.hghca.abi;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.abi.BitMap.AT;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.List;
import org.hghca.abi.GoldenTransfer.Sge;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Work requests and completions that the makers' first RTL executed and wrote. */
class GoldenTransferTest {
  static List<GoldenTransfer> transfers() {
    return GoldenTransfer.all();
  }

  static List<GoldenTransfer> transfersThatConsumeAReceive() {
    return GoldenTransfer.all().stream().filter(golden -> !golden.receiveWqe().isEmpty()).toList();
  }

  @Test
  void elevenOfFifteenTransfersConsumeAReceive() {
    assertThat(transfers()).hasSize(15);
    assertThat(transfersThatConsumeAReceive()).hasSize(11);
    assertThat(transfers())
        .allSatisfy(
            golden ->
                assertThat(golden.receiveCqe().isEmpty())
                    .isEqualTo(golden.receiveWqe().isEmpty())
                    .isEqualTo(golden.opcode() == 0x08 || golden.opcode() == 0x10));
  }

  @ParameterizedTest
  @MethodSource("transfers")
  void doorbellIsComposedAndExtracted(GoldenTransfer golden) {
    assertThat(Doorbell.sendQueue(2, golden.size16(), 0, 0, golden.opcode()))
        .isEqualTo(golden.doorbell());
    assertThat(Doorbell.qpn(golden.doorbell())).isEqualTo(2);
    assertThat(Doorbell.size16(golden.doorbell())).isEqualTo(golden.size16());
    assertThat(Doorbell.headUnits16(golden.doorbell())).isZero();
    assertThat(Doorbell.fence(golden.doorbell())).isZero();
    assertThat(Doorbell.opcode(golden.doorbell())).isEqualTo(golden.opcode());
  }

  @ParameterizedTest
  @MethodSource("transfers")
  void sendWqeIsDecoded(GoldenTransfer golden) {
    MemorySegment wqe = BitMap.memory(golden.sendWqe());
    assertThat(golden.sendWqe()).hasSize(golden.size16() * 32);
    assertThat(NextUnit.nextHeadUnits16(wqe, AT)).isZero();
    assertThat(NextUnit.nextOpcode(wqe, AT)).isZero();
    assertThat(NextUnit.nextSize16(wqe, AT)).isZero();
    assertThat(NextUnit.nextFence(wqe, AT)).isZero();
    assertThat(NextUnit.flags(wqe, AT)).isZero();
    assertThat(NextUnit.immediate(wqe, AT)).isEqualTo(golden.immediate());
    long at = AT + 16;
    if (golden.remoteAddress() != 0) {
      assertThat(RemoteAddressUnit.address(wqe, at)).isEqualTo(golden.remoteAddress());
      assertThat(RemoteAddressUnit.rkey(wqe, at)).isEqualTo(0x21);
      at += 16;
    }
    if (golden.inline().isEmpty()) {
      at = assertSges(wqe, at, golden.sendSges());
    } else {
      assertThat(DataUnit.isInline(DataUnit.firstDword(wqe, at))).isTrue();
      assertThat(InlineUnit.length(wqe, at)).isEqualTo(golden.bytes());
      assertThat(BitMap.hex(wqe.asSlice(at + 4, golden.bytes()))).isEqualTo(golden.inline());
      at += 16L * InlineUnit.units(golden.bytes());
    }
    assertThat(at).isEqualTo(AT + golden.size16() * 16L);
  }

  @ParameterizedTest
  @MethodSource("transfers")
  void sendWqeIsEncoded(GoldenTransfer golden) {
    assertThat(BitMap.encoded(golden.size16() * 16, m -> encodeSend(golden, m)))
        .isEqualTo(golden.sendWqe());
  }

  @ParameterizedTest
  @MethodSource("transfersThatConsumeAReceive")
  void receiveWqeIsDecoded(GoldenTransfer golden) {
    MemorySegment wqe = BitMap.memory(golden.receiveWqe());
    assertThat(NextUnit.isPosted(wqe, AT)).isTrue();
    // The makers' bench marks the slot by dw0 bit 0.
    assertThat(NextUnit.nextOpcode(wqe, AT)).isEqualTo(1);
    assertThat(NextUnit.nextHeadUnits16(wqe, AT)).isZero();
    assertThat(NextUnit.nextSize16(wqe, AT)).isZero();
    long at = assertSges(wqe, AT + 16, golden.receiveSges());
    assertThat(DataUnit.isTerminator(wqe, at)).isTrue();
    assertThat(at + 16).isEqualTo(AT + golden.receiveWqe().length() / 2);
  }

  @ParameterizedTest
  @MethodSource("transfersThatConsumeAReceive")
  void receiveWqeIsEncoded(GoldenTransfer golden) {
    assertThat(
            BitMap.encoded(
                golden.receiveWqe().length() / 2,
                m -> {
                  NextUnit.write(m, AT, NextUnit.address(0, 1), NextUnit.size(0, 0), 0, 0);
                  long at = writeSges(m, AT + 16, golden.receiveSges());
                  DataUnit.writeTerminator(m, at);
                }))
        .isEqualTo(golden.receiveWqe());
  }

  @ParameterizedTest
  @MethodSource("transfers")
  void sendCqeIsDecodedAndEncoded(GoldenTransfer golden) {
    // On RC the RTL gives the CQ's lkey (14h) for the remote QPN, and never an immediate.
    assertCqe(golden.sendCqe(), 2, 0x14, golden.bytes(), true, golden.opcode());
  }

  @ParameterizedTest
  @MethodSource("transfersThatConsumeAReceive")
  void receiveCqeIsDecodedAndEncoded(GoldenTransfer golden) {
    assertCqe(golden.receiveCqe(), 3, 2, golden.bytes(), false, golden.bthOpcode());
    boolean hasImmediate = golden.opcode() == 0x09 || golden.opcode() == 0x0b;
    assertThat(BthOpcode.hasImmediate(golden.bthOpcode())).isEqualTo(hasImmediate);
    assertThat(BthOpcode.isWriteImmediate(golden.bthOpcode())).isEqualTo(golden.opcode() == 0x09);
  }

  private static void assertCqe(
      String hex, int qpn, int remoteQpn, int bytes, boolean isSend, int opcode) {
    MemorySegment cqe = BitMap.memory(hex);
    assertThat(Cqe.owner(cqe, AT)).isEqualTo(0x00);
    int last = Cqe.lastDword(cqe, AT);
    assertThat(Cqe.owner(last)).isEqualTo(0x00);
    assertThat(Cqe.isSend(last)).isEqualTo(isSend);
    assertThat(Cqe.opcode(last)).isEqualTo(opcode);
    assertThat(Cqe.qpn(cqe, AT)).isEqualTo(qpn);
    assertThat(Cqe.remoteQpn(cqe, AT)).isEqualTo(remoteQpn);
    assertThat(Cqe.remoteLid(cqe, AT)).isEqualTo(0x22);
    assertThat(Cqe.immediate(cqe, AT)).isZero();
    assertThat(Cqe.byteCount(cqe, AT)).isEqualTo(bytes);
    assertThat(Cqe.wqeOffset(cqe, AT)).isZero();

    assertThat(
            BitMap.encoded(
                32,
                m ->
                    Cqe.encodeSuccess(
                        m, AT, qpn, remoteQpn, 0x22, 0, bytes, 0, isSend, opcode, 0x00)))
        .isEqualTo(hex);
  }

  private static void encodeSend(GoldenTransfer golden, MemorySegment memory) {
    NextUnit.write(memory, AT, NextUnit.address(0, 0), NextUnit.size(0, 0), 0, golden.immediate());
    long at = AT + 16;
    if (golden.remoteAddress() != 0) {
      RemoteAddressUnit.write(memory, at, golden.remoteAddress(), 0x21);
      at += 16;
    }
    if (golden.inline().isEmpty()) {
      writeSges(memory, at, golden.sendSges());
    } else {
      byte[] data = HexFormat.of().parseHex(golden.inline());
      InlineUnit.writeHeader(memory, at, data.length);
      MemorySegment.copy(data, 0, memory, JAVA_BYTE, at + InlineUnit.HEADER_SIZE, data.length);
    }
  }

  private static long assertSges(MemorySegment wqe, long at, List<Sge> sges) {
    for (Sge sge : sges) {
      assertThat(DataUnit.isInline(DataUnit.firstDword(wqe, at))).isFalse();
      assertThat(DataUnit.isTerminator(wqe, at)).isFalse();
      assertThat(DataUnit.byteCount(wqe, at)).isEqualTo(sge.bytes());
      assertThat(DataUnit.lkey(wqe, at)).isEqualTo(sge.lkey());
      assertThat(DataUnit.address(wqe, at)).isEqualTo(sge.address());
      at += 16;
    }
    return at;
  }

  private static long writeSges(MemorySegment memory, long at, List<Sge> sges) {
    for (Sge sge : sges) {
      DataUnit.write(memory, at, sge.bytes(), sge.lkey(), sge.address());
      at += 16;
    }
    return at;
  }
}

package org.hghca.conformance.abi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.hghca.abi.Bar;
import org.hghca.abi.Doorbell;
import org.hghca.abi.Hcr;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The recorded stores and loads on the BARs: the values that software wrote, read by abi, are those
 * that the card used.
 */
class RegisterVectorsTest {
  private static final List<Object> RECORDS = Vectors.load("stage2_pio.json");
  private static final Pattern HCR_STATE =
      Pattern.compile(
          "go=(.) in_param=(.*) in_mod=(.*) out=(.*) token=(.*) event=(.) opmod=(.*)"
              + " op=(\\S*) db_valid=.*");

  private static String name(Object item) {
    return (String) Vectors.list(item).getFirst();
  }

  /** The digits that follow a store or precede a completion. */
  private static List<?> values(Object item) {
    return Vectors.list(Vectors.list(item).get(1));
  }

  /** The single-dword stores to BAR0 up to a record, by offset. */
  private static Map<Integer, Integer> storedBefore(int end) {
    Map<Integer, Integer> stored = new HashMap<>();
    for (Object item : RECORDS.subList(0, end)) {
      String name = name(item);
      if (name.startsWith("mmio_write bar0+") && values(item).size() == 1) {
        stored.put(
            Vectors.number(name.substring("mmio_write bar0+".length())),
            Vectors.number((String) values(item).getFirst()));
      }
    }
    return stored;
  }

  private static int indexOf(String name) {
    for (int i = 0; i < RECORDS.size(); i++) {
      if (name(RECORDS.get(i)).equals(name)) {
        return i;
      }
    }
    throw new IllegalArgumentException(name);
  }

  private static Matcher hcrState(int index) {
    Matcher state = HCR_STATE.matcher((String) Vectors.list(RECORDS.get(index)).get(1));
    assertThat(state.matches()).isTrue();
    return state;
  }

  private static String digits(int high, int low) {
    return "%08x%08x".formatted(high, low);
  }

  @Test
  void parametersWrittenAtTheRtlsBaseReachTheCommandUnit() {
    int index = indexOf("after writes base=0");
    Map<Integer, Integer> stored = storedBefore(index);
    Matcher state = hcrState(index);

    int base = Bar.HCR_RTL;
    assertThat(digits(stored.get(base + Hcr.IN_PARAM_HIGH), stored.get(base + Hcr.IN_PARAM_LOW)))
        .isEqualTo(state.group(2))
        .isEqualTo("0102030405060708");
    assertThat("%08x".formatted(stored.get(base + Hcr.IN_MODIFIER)))
        .isEqualTo(state.group(3))
        .isEqualTo("090a0b0c");
    assertThat(digits(stored.get(base + Hcr.OUT_PARAM_HIGH), stored.get(base + Hcr.OUT_PARAM_LOW)))
        .isEqualTo(state.group(4))
        .isEqualTo("0d0e0f1011121314");
    assertThat("%04x".formatted(Hcr.token(stored.get(base + Hcr.TOKEN))))
        .isEqualTo(state.group(5))
        .isEqualTo("ffff");
  }

  @Test
  void parametersWrittenAtTheDocumentsBaseAreLostInTheRtl() {
    int index = indexOf("after writes base=80000");

    assertThat(storedBefore(index))
        .containsEntry(Bar.HCR_DOCUMENT + Hcr.IN_PARAM_HIGH, 0x01020304)
        .containsEntry(Bar.HCR_DOCUMENT + Hcr.TOKEN, 0xffff1234);
    assertThat(hcrState(index).group(2)).isEqualTo("0000000000000000");
    assertThat(hcrState(index).group(5)).isEqualTo("0000");
  }

  @Test
  void tokenReadsBackWithoutItsLowHalf() {
    Object read =
        RECORDS.get(indexOf("mmio_read bar0+%05x n=1".formatted(Bar.HCR_RTL + Hcr.TOKEN)));

    assertThat(Vectors.number((String) values(read).getFirst()))
        .isEqualTo(Hcr.tokenRegister(0xffff))
        .isEqualTo(0xffff0000);
  }

  /** Each store to 18h with the first load of 18h after it. */
  static List<List<Integer>> commandDwords() {
    List<List<Integer>> pairs = new ArrayList<>();
    int written = 0;
    boolean open = false;
    for (Object item : RECORDS) {
      if (name(item).equals("mmio_write bar0+00018")) {
        written = Vectors.number((String) values(item).getFirst());
        open = true;
      } else if (open && name(item).equals("mmio_read bar0+00018 n=1")) {
        pairs.add(List.of(written, Vectors.number((String) values(item).getFirst())));
        open = false;
      }
    }
    return pairs;
  }

  @Test
  void threeCommandDwordsWereRecorded() {
    assertThat(commandDwords())
        .containsExactly(
            List.of(0x00805031, 0x02005031),
            List.of(0x00c00003, 0x00400003),
            List.of(0xff000003, 0xff000003));
  }

  @ParameterizedTest
  @MethodSource("commandDwords")
  void completedCommandIsTheWrittenOneWithStatusWithoutGo(List<Integer> pair) {
    int written = pair.get(0);
    int read = pair.get(1);

    assertThat(Hcr.go(read)).isFalse();
    assertThat(Hcr.op(read)).isEqualTo(Hcr.op(written));
    assertThat(Hcr.opModifier(read)).isEqualTo(Hcr.opModifier(written));
    assertThat(Hcr.event(read)).isEqualTo(Hcr.event(written));
    if (Hcr.go(written)) {
      assertThat(Hcr.completed(written, Hcr.status(read))).isEqualTo(read);
    }
  }

  @Test
  void nopIsWrittenWithItsOpModifierAndAnsweredBadOp() {
    Matcher state = hcrState(indexOf("after go"));
    assertThat(Hcr.command(0x031, 5)).isEqualTo(0x00805031);
    assertThat(state.group(1)).isEqualTo("0");
    assertThat(state.group(7)).isEqualTo("%02x".formatted(Hcr.opModifier(0x00805031)));
    assertThat(state.group(8)).isEqualTo("%03x".formatted(Hcr.op(0x00805031)));
    assertThat(state.group(4)).as("out_param after a completion").isEqualTo("0000000000000000");
    assertThat(Hcr.status(0x02005031)).isEqualTo(2);
  }

  @Test
  void eventBitIsKept() {
    assertThat(Hcr.command(0x003, 0) | Hcr.EVENT).isEqualTo(0x00c00003);
    assertThat(Hcr.event(0x00400003)).isTrue();
    assertThat(Hcr.status(0x00400003)).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    // record, UAR page, qpn, size0, sq_head, F, opcode of the value that the card took
    "8B write uar0+0,     0,    0x556677, 0x88, 0x2233, 0, 0x04",
    "8B write uar5+0,     5,    0x050607, 0x08, 0x0203, 0, 0x04",
    "8B write uar0x7ff+0, 2047, 0x0e0f10, 0x11, 0x0b0c, 0, 0x0d",
    "16B write uar0+0,    0,    0x000000, 0x02, 0x0000, 0, 0x01",
  })
  void doorbellIsOneStoreOfEightBytes(
      String name, int page, String qpn, String size, String head, int fence, String opcode) {
    List<?> record = Vectors.list(RECORDS.get(indexOf(name)));
    List<?> store = Vectors.list(record.get(1));
    long value = Vectors.longNumber((String) Vectors.list(record.get(2)).getFirst());

    assertThat(Long.decode((String) store.get(0))).isEqualTo(Bar.BAR2);
    assertThat(Long.decode((String) store.get(1)))
        .isEqualTo(Bar.uarPageOffset(page) + Doorbell.SEND_QUEUE);
    assertThat(value & 0xffff_ffffL).isEqualTo(Long.decode((String) store.get(2)));
    assertThat(value >>> 32).isEqualTo(Long.decode((String) store.get(3)));

    assertThat(Doorbell.qpn(value)).isEqualTo(Integer.decode(qpn));
    assertThat(Doorbell.size16(value)).isEqualTo(Integer.decode(size));
    assertThat(Doorbell.headUnits16(value)).isEqualTo(Integer.decode(head));
    assertThat(Doorbell.fence(value)).isEqualTo(fence);
    assertThat(Doorbell.opcode(value)).isEqualTo(Integer.decode(opcode));
    assertThat(
            Doorbell.sendQueue(
                Integer.decode(qpn),
                Integer.decode(size),
                Integer.decode(head),
                fence,
                Integer.decode(opcode)))
        .as("without the bits that table 3-1-7 leaves blank")
        .isEqualTo(value & 0xffff_ffff_00ff_ff3fL);
  }

  @Test
  void fourByteStoreRingsForQpnZeroWithSizeZero() {
    List<?> record = Vectors.list(RECORDS.get(indexOf("4B write uar0+0")));
    long value = Vectors.longNumber((String) Vectors.list(record.get(2)).getFirst());

    assertThat(value).isEqualTo(0x0000_0000_a1a2_a3a4L);
    assertThat(Doorbell.qpn(value)).isZero();
    assertThat(Doorbell.size16(value)).isZero();
    assertThat(Doorbell.fence(value)).isEqualTo(1);
  }
}

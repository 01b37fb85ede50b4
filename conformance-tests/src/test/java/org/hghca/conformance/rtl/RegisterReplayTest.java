package org.hghca.conformance.rtl;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.hghca.abi.Bar;
import org.hghca.conformance.abi.Vectors;
import org.junit.jupiter.api.Test;

/**
 * Register accesses recorded on the RTL, replayed on its software HCA. The recorded top accepts
 * reads of 80000h.. and ignores them; with the unconnected port they would block BAR0, so they are
 * omitted here.
 */
class RegisterReplayTest {
  private static final String STORE = "mmio_write bar0+";
  private static final String LOAD = "mmio_read bar0+";

  /** INIT_DONE, which the makers' own top leaves undriven and the recorded one does not. */
  private static final int INIT_DONE = 0xf20;

  private static final int HCR_DOCUMENT_PAGE = Bar.HCR_DOCUMENT >> 12;

  private static int offset(String name, String prefix) {
    return Vectors.number(name.substring(prefix.length()).split(" ")[0]);
  }

  /**
   * The recorder removed the unexpected completion. Here it stays, and each later load gets the
   * reply to the previous one.
   */
  @Test
  void everyLoadAnswersAsRecorded() {
    List<String> answers = new ArrayList<>();
    List<String> recorded = new ArrayList<>();
    String late = null;
    try (RtlBench bench = new RtlBench()) {
      for (Object record : Vectors.load("stage2_pio.json")) {
        String name = (String) Vectors.list(record).getFirst();
        if (name.startsWith(STORE) && offset(name, STORE) >> 12 != HCR_DOCUMENT_PAGE) {
          store(bench, offset(name, STORE), Vectors.list(Vectors.list(record).get(1)));
        } else if (name.equals("be=1")) {
          // Recorded without its address: the value is that of the register at 08h.
          bench.card.write(Bar.BAR0, 0x08, 1, 0xff);
          late = "mmio_read bar0+00008 n=1 090a0b0c";
        } else if (name.startsWith(LOAD) && offset(name, LOAD) >> 12 != HCR_DOCUMENT_PAGE) {
          List<?> dwords = Vectors.list(Vectors.list(record).get(1));
          String answer = name + " " + answer(name, dwords);
          recorded.add(late == null ? answer : late.substring(late.lastIndexOf(' ')));
          long read = bench.card.read(Bar.BAR0, offset(name, LOAD), 4 * (dwords.size() - 1));
          answers.add((late == null ? name : "") + " %08x".formatted(read));
          late = late == null ? null : answer;
        }
      }
    }
    assertThat(answers).hasSizeGreaterThan(20).isEqualTo(recorded);
  }

  private static String answer(String name, List<?> dwords) {
    return offset(name, LOAD) == INIT_DONE ? "00000000" : (String) dwords.getFirst();
  }

  private static void store(RtlBench bench, int offset, List<?> dwords) {
    long value = Vectors.longNumber((String) dwords.getFirst());
    if (dwords.size() == 2) {
      value |= Vectors.longNumber((String) dwords.get(1)) << 32;
    }
    bench.card.write(Bar.BAR0, offset, 4 * dwords.size(), value);
  }

  @Test
  void storesToUarPagesRingAsRecorded() {
    Map<String, Integer> rung = new HashMap<>();
    Map<String, Integer> recorded = new HashMap<>();
    for (Object record : Vectors.load("stage2_pio.json")) {
      String name = (String) Vectors.list(record).getFirst();
      if (name.startsWith("4B write uar") || name.startsWith("8B write ")) {
        List<?> store = Vectors.list(Vectors.list(record).get(1));
        recorded.put(name, Vectors.list(Vectors.list(record).get(2)).size());
        rung.put(name, rings(store));
      }
    }
    assertThat(rung).hasSize(7).isEqualTo(recorded);
  }

  private static int rings(List<?> store) {
    try (RtlBench bench = new RtlBench()) {
      bench.card.holdDoorbells(true);
      long value = Long.decode((String) store.get(2));
      if (store.size() > 3) {
        value |= Long.decode((String) store.get(3)) << 32;
      }
      bench.card.write(Bar.BAR2, Long.decode((String) store.get(1)), 4 * (store.size() - 2), value);
      return (int) bench.card.counters().doorbells();
    }
  }
}

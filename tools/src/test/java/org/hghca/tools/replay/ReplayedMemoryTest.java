package org.hghca.tools.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.util.Map;
import org.hghca.tools.replay.ReplayedMemory.Place;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ReplayedMemoryTest {
  private static final long ELSEWHERE = 0x7f00_0000_0000L;

  private final PciFunction function = PciFunctions.open(Locator.parse("model:memory"));
  private final ReplayedMemory memory = new ReplayedMemory();

  @AfterEach
  void close() {
    memory.clear();
    function.close();
  }

  private static TraceLine map(int number, boolean allocated, String pieces, int bytes) {
    return TraceLine.of(
        1,
        Map.of(
            "map",
            number,
            "bytes",
            bytes,
            "allocated",
            allocated ? 1 : 0,
            "access",
            "READ_WRITE",
            "iova",
            pieces));
  }

  private static TraceLine change(int number, long offset, String hex) {
    return TraceLine.of(2, Map.of("map", number, "offset", offset, "bytes", hex));
  }

  @Test
  void addressesInMemoryAreTranslatedAndOthersStay() {
    memory.map(map(1, true, "0x7f0000000000+8192", 8192), function);
    Place place = memory.at(ELSEWHERE + 4100).orElseThrow();

    assertThat(place.offset()).isEqualTo(4100);
    assertThat(memory.translate(ELSEWHERE + 4100))
        .isEqualTo(place.iova())
        .isNotEqualTo(ELSEWHERE + 4100);
    assertThat(memory.translate(ELSEWHERE, 2)).isEqualTo(place.mapping().iova(0));
    assertThat(memory.translate(ELSEWHERE + 8192)).isEqualTo(ELSEWHERE + 8192);
  }

  @Test
  void addressThatReachedNothingAndWouldReachMemoryIsRefused() {
    memory.map(map(1, true, "0x7f0000000000+4096", 4096), function);
    long own = memory.translate(ELSEWHERE);

    assertThatThrownBy(() -> memory.translate(own + 8))
        .isInstanceOf(UnplayableException.class)
        .hasMessageContaining("reached no memory in the trace");
  }

  @Test
  void piecesOfAMappingAreFound() {
    memory.map(map(1, true, "0x7f0000000000+4096 0x7f0000005000+4096", 8192), function);

    assertThat(memory.at(ELSEWHERE + 0x5001).orElseThrow().offset()).isEqualTo(4097);
    assertThat(memory.at(ELSEWHERE + 0x1000)).isEmpty();
  }

  @Test
  void mappedMemoryKeepsItsPlaceInThePage() {
    memory.map(map(1, false, "0x7f000000000a+100", 100), function);

    assertThat(memory.translate(ELSEWHERE + 10) & 0xfff).isEqualTo(10);
  }

  @Test
  void changesAreWrittenExceptWhereTheCardOwnsTheMemory() {
    memory.map(map(1, true, "0x7f0000000000+4096", 4096), function);
    ReplayedMapping mapping = memory.at(ELSEWHERE).orElseThrow().mapping();
    mapping.own(4, 4);
    memory.changed(change(1, 0, "010000000200000003"));

    assertThat(mapping.memory().get(ValueLayout.JAVA_INT, 0)).isOne();
    assertThat(mapping.memory().get(ValueLayout.JAVA_INT, 4)).isZero();
    assertThat(mapping.memory().get(ValueLayout.JAVA_INT, 8)).isEqualTo(3);
    assertThat(mapping.image().get(ValueLayout.JAVA_INT, 4)).isEqualTo(2);

    mapping.release(4, 4);
    assertThat(mapping.memory().get(ValueLayout.JAVA_INT, 4)).isEqualTo(2);
  }

  @Test
  void changeOfAMappingThatIsNotThereIsNamed() {
    assertThatThrownBy(() -> memory.changed(change(3, 0, "00")))
        .hasMessage("the trace is damaged in line 2: there is no mapping 3; record it again");
  }
}

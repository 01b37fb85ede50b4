package org.hghca.model.hca;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PageMapTest {

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3})
  void pagesAreAddedAndRemovedAsInAnyOtherMap(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    PageMap map = new PageMap();
    Map<Long, Long> expected = new HashMap<>();
    for (int i = 0; i < 20_000; i++) {
      long page = random.nextInt(300) + (random.nextBoolean() ? 0 : 0x1234_5678_9000L);
      if (random.nextInt(5) < 3) {
        long iova = random.nextLong() & ~0xfffL;
        map.put(page, iova);
        expected.put(page, iova);
      } else {
        map.remove(page);
        expected.remove(page);
      }
      long looked = random.nextInt(300);
      assertThat(map.get(looked)).isEqualTo(expected.getOrDefault(looked, PageMap.NONE));
      assertThat(map.size()).isEqualTo(expected.size());
    }
    map.clear();
    assertThat(map.get(1)).isEqualTo(PageMap.NONE);
  }
}

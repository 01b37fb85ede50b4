package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

class FirstWriteTest {

  @Test
  void eightBytesAreWrittenFromOneHcaToTheOther() {
    try (Pair pair = new Pair().connect()) {
      Host.Buffer source = pair.left.buffer(4096, Host.LOCAL);
      Host.Buffer target = pair.right.buffer(4096, Host.ALL);
      source.memory().set(ValueLayout.JAVA_LONG, 16, 0x1122_3344_5566_7788L);

      int offset = pair.a.write(target, 24, new Host.Piece(source, 16, 8));

      assertThat(target.memory().get(ValueLayout.JAVA_LONG, 24)).isEqualTo(0x1122_3344_5566_7788L);
      assertThat(pair.a.cq.take())
          .isEqualTo(new Host.Completion(pair.a.number, 0x08, true, 8, offset, pair.b.number, 0));
      assertThat(pair.a.cq.hasNext()).isFalse();
      assertThat(pair.b.cq.hasNext()).isFalse();
      assertThat(pair.leftHca().faults()).isEmpty();
      assertThat(pair.rightHca().faults()).isEmpty();
    }
  }
}

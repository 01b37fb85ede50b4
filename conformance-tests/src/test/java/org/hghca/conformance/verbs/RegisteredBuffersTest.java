package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.RegisteredBuffer;
import org.hghca.verbs.RegisteredBufferPool;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages between pooled buffers, which completions identify by number. */
class RegisteredBuffersTest {

  @ParameterizedTest
  @ValueSource(longs = {8, 100, 4096, 1 << 20})
  void everyMessageArrivesInItsBuffer(long length) {
    int count = 8;
    try (RcPair pair = RcPair.open();
        RegisteredBufferPool from = RegisteredBufferPool.of(pair.left.pd, count, length);
        RegisteredBufferPool into =
            RegisteredBufferPool.of(pair.right.pd, count, length, AccessFlag.LOCAL_WRITE)) {
      for (long round = 0; round < 3; round++) {
        for (int i = 0; i < count; i++) {
          RegisteredBuffer buffer = into.tryAcquire();
          pair.right.qp.postReceive(pair.right.receive.wrId(buffer.index()).into(buffer));
        }
        for (int i = 0; i < count; i++) {
          RegisteredBuffer buffer = from.tryAcquire();
          buffer.segment().fill((byte) (i + round));
          pair.left.qp.postSend(pair.left.send.wrId(buffer.index()).send().sge(buffer).signaled());
        }
        assertThat(from.tryAcquire()).isNull();
        for (Wc completion : pair.left.sent(count)) {
          Side.assertSuccess(completion);
          from.buffer((int) completion.wrId()).close();
        }
        long sum = round;
        for (Wc completion : pair.right.received(count)) {
          Side.assertSuccess(completion);
          RegisteredBuffer buffer = into.buffer((int) completion.wrId());
          assertThat(buffer.segment().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) sum);
          assertThat(buffer.segment().get(ValueLayout.JAVA_BYTE, length - 1)).isEqualTo((byte) sum);
          buffer.close();
          sum++;
        }
      }
    }
  }

  @Test
  void closingFailsWhileABufferIsAllocatedAndFreesTheDomainLater() {
    try (RcPair pair = RcPair.open()) {
      RegisteredBufferPool pool =
          RegisteredBufferPool.of(pair.left.pd, 4, 64, AccessFlag.LOCAL_WRITE);
      RegisteredBuffer buffer = pool.tryAcquire();
      assertThatThrownBy(pool::close).hasMessageContainingAll("1 of 4", "EBUSY");
      buffer.close();
      pool.close();
      assertThatThrownBy(() -> buffer.segment().get(ValueLayout.JAVA_BYTE, 0))
          .isInstanceOf(IllegalStateException.class);
    }
  }
}

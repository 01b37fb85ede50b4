package org.hghca.model.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class RateLimitTest {
  private static final long MILLISECOND = 1_000_000;

  private final RateLimit limit = new RateLimit();

  @Test
  void rateIsUnlimitedWithoutANotification() {
    assertThat(limit.isLimited()).isFalse();
    assertThat(limit.delay(0)).isZero();
    limit.sent(1 << 30, 0);
    assertThat(limit.delay(0)).isZero();
  }

  @Test
  void consecutiveNotificationsHalveTheRateEachTime() {
    for (int i = 1; i <= 5; i++) {
      limit.notified(i * RateLimit.CUT_INTERVAL);
      assertThat(limit.rate(i * RateLimit.CUT_INTERVAL)).isEqualTo(RateLimit.FULL >> i);
    }
  }

  @Test
  void onlyOneNotificationPerIntervalReducesTheRate() {
    for (int i = 0; i < 100; i++) {
      limit.notified(i * 400L);
    }
    assertThat(limit.rate(40_000)).isEqualTo(RateLimit.FULL / 2);
  }

  @Test
  void rateHasAMinimum() {
    for (int i = 0; i < 100; i++) {
      limit.notified(i * RateLimit.CUT_INTERVAL);
    }
    assertThat(limit.rate(99 * RateLimit.CUT_INTERVAL)).isEqualTo(RateLimit.LEAST);
  }

  @Test
  void notificationAfterAQuietTimeReducesLess() {
    limit.notified(0);
    long before = limit.rate(14 * MILLISECOND);
    limit.notified(14 * MILLISECOND);
    // alpha is (255/256)^254, 0.37
    assertThat(limit.rate(14 * MILLISECOND) / (double) before).isBetween(0.81, 0.82);
  }

  @Test
  void rateRecoversHalfTheDifferenceEachTimeAndThenGrows() {
    limit.notified(0);
    limit.notified(RateLimit.CUT_INTERVAL);
    long half = RateLimit.FULL / 2;
    long begin = RateLimit.CUT_INTERVAL;
    for (int i = 1; i <= 5; i++) {
      long rate = limit.rate(begin + i * 1_500_000L);
      assertThat(rate).isEqualTo(half - (half / 2 >> i));
    }
    assertThat(limit.rate(begin + 10 * 1_500_000L)).isGreaterThan(half);
    assertThat(limit.rate(begin + 200 * MILLISECOND)).isEqualTo(RateLimit.FULL);
    assertThat(limit.isLimited()).isFalse();
  }

  @Test
  void rateDependsOnTimeAndNotOnTheNumberOfQueries() {
    SplittableRandom random = new SplittableRandom(7);
    RateLimit other = new RateLimit();
    long now = 0;
    for (int i = 0; i < 2_000; i++) {
      now += random.nextLong(400_000);
      if (random.nextInt(20) == 0) {
        limit.notified(now);
        other.notified(now);
        assertThat(limit.rate(now)).isEqualTo(other.rate(now));
      }
      other.delay(now);
    }
    assertThat(limit.rate(now)).isEqualTo(other.rate(now));
  }

  @Test
  void sentBytesDelayTheNextOnes() {
    for (int i = 0; i < 100; i++) {
      limit.notified(i * RateLimit.CUT_INTERVAL);
    }
    long now = 99 * RateLimit.CUT_INTERVAL;
    limit.sent(1_250, now); // 1 ms at the minimum rate, less the credit of a pause
    assertThat(limit.delay(now)).isBetween(MILLISECOND - 50_000, MILLISECOND);
  }
}

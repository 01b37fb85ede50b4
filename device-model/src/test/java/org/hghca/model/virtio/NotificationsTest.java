package org.hghca.model.virtio;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class NotificationsTest {
  private final Notifications notifications = new Notifications(130);

  @Test
  void eachIsTakenOnce() {
    notifications.add(65);
    notifications.add(65);
    assertThat(notifications.take(1)).as("of another word").isFalse();
    assertThat(notifications.take(64)).isFalse();
    assertThat(notifications.take(65)).isTrue();
    assertThat(notifications.take(65)).isFalse();
  }

  @Test
  void theyAreFoundInOrderAcrossWords() {
    notifications.add(0);
    notifications.add(63);
    notifications.add(129);
    assertThat(notifications.next(0)).isZero();
    assertThat(notifications.next(1)).isEqualTo(63);
    assertThat(notifications.next(63)).isEqualTo(63);
    assertThat(notifications.next(64)).isEqualTo(129);
    assertThat(notifications.next(130)).isEqualTo(Notifications.NONE);
    notifications.clear();
    assertThat(notifications.next(0)).isEqualTo(Notifications.NONE);
  }
}

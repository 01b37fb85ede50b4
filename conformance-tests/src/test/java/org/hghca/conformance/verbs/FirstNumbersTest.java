package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.hghca.conformance.profile.OnlyOn;
import org.hghca.conformance.profile.TestProfile;
import org.junit.jupiter.api.Test;

/**
 * The numbers with which a device begins: a program that starts anew must not have those of the one
 * before it, to which peers may still be connected.
 */
class FirstNumbersTest {
  private static final int OPENS = 8;

  @OnlyOn(
      value = {"s", "virtio"},
      why = "numbers of an RTL card are resumed or retired, beginning with the first")
  @Test
  void numbersAndKeysOfADeviceBeginAnywhere() {
    TestProfile.requireModel();
    Set<Integer> numbers = new HashSet<>();
    Set<Integer> keys = new HashSet<>();
    for (int i = 0; i < OPENS; i++) {
      try (RcPair pair = new RcSetup().on(Fabric.inline())) {
        numbers.add(pair.left.qp.number());
        keys.add(pair.left.buffer.rkey());
      }
    }
    assertThat(numbers).hasSizeGreaterThan(1).allMatch(number -> number > 1);
    assertThat(keys).hasSizeGreaterThan(1);
  }
}

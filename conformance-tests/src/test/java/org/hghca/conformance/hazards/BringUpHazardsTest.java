package org.hghca.conformance.hazards;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.hghca.driver.CardInformation;
import org.hghca.driver.HghcaContext;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The driver detects the RTL card without accessing the unconnected range. */
class BringUpHazardsTest {

  @ParameterizedTest
  @ValueSource(strings = {"r1", "r2"})
  @Tag("hazard-1.1")
  @Tag("hazard-12.11")
  void cardIsDetectedWithoutAccessToTheUnconnectedRange(String profile) {
    try (OneCard card = new OneCard(profile, "")) {
      CardInformation found = ((HghcaContext) card.context).card();

      card.assertUnharmed();
      assertThat(found.hcrBase()).isZero();
      assertThat(found.profile()).isEqualTo(profile);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"r1", "r2"})
  @Tag("hazard-1.1")
  @Tag("hazard-12.11")
  void cardIsDetectedRepeatedly(String profile) {
    for (int life = 0; life < 3; life++) {
      try (OneCard card = new OneCard(profile, "")) {
        card.context.allocateProtectionDomain().close();
        card.assertUnharmed();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"&as=r1", "&hcr=0x0", "&hcr=0&as=r1"})
  @Tag("hazard-1.1")
  void onlyTheGivenProfileOrRegistersAreProbed(String parameters) {
    try (OneCard card = new OneCard("r1", parameters)) {
      assertThat(((HghcaContext) card.context).card().profile()).isEqualTo("r1");
      card.assertUnharmed();
    }
  }

  /**
   * The user's choice takes precedence: the second RTL can be driven with the rules of the first.
   */
  @Test
  @Tag("hazard-1.1")
  void namedProfileTakesPrecedence() {
    try (OneCard card = new OneCard("r1", "&as=r2")) {
      assertThat(((HghcaContext) card.context).card().profile()).isEqualTo("r2");
      assertThat(card.context.queryDevice().maxQp()).isLessThan(256);
      card.assertUnharmed();
    }
  }

  /** Only a reset clears the card's queue positions. */
  @ParameterizedTest
  @ValueSource(strings = {"r1", "r2"})
  @Tag("hazard-1.3")
  void cardThatMayHoldOldPositionsIsRefused(String profile) {
    assertThatThrownBy(() -> new OneCard(profile, "&reset=none"))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EOPNOTSUPP))
        .hasMessageContaining("old queue positions")
        .hasMessageContaining("assumeClean=true");
    try (OneCard card = new OneCard(profile, "&reset=none&assumeClean=true")) {
      card.context.createCompletionQueue(8).close();
      card.assertUnharmed();
    }
  }
}

package org.hghca.model.hca;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.hghca.abi.Bar;
import org.hghca.abi.Doorbell;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.model.card.Card;
import org.hghca.model.card.Faults;
import org.hghca.model.card.StepBudget;
import org.hghca.model.rtl.r1.R1Engine;
import org.hghca.model.rtl.r2.R2Engine;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.PacketPool;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StepBudgetTest {
  private static final StepBudget DOORBELLS = new StepBudget(8, false);

  private final EthernetPort port = new EthernetPort(1, new PacketPool());

  private Card card(HardwareProfile profile) {
    Faults faults = new Faults();
    if (profile == HardwareProfile.R1) {
      return R1Engine.card(port, faults, Set.of());
    }
    return profile == HardwareProfile.R2
        ? R2Engine.card(port, faults, 1)
        : new Hca(profile, port, faults, 0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"s", "r1", "r2"})
  void commandWaitsForARunThatExecutesCommands(String name) {
    HardwareProfile profile = HardwareProfile.byName(name);
    Card card = card(profile);
    long register = (long) profile.hcrBase() + Hcr.COMMAND;
    int go = Hcr.command(HcrCommand.CLOSE_HCA.code(), 0);

    assertThat(card.write(Bar.BAR0, register, 4, Integer.toUnsignedLong(go))).isTrue();
    assertThat(card.step(0, DOORBELLS)).isFalse();
    assertThat(Hcr.go((int) card.read(Bar.BAR0, register, 4))).isTrue();
    assertThat(card.hasWrites()).isTrue();

    assertThat(card.step(0, StepBudget.WHOLE)).isTrue();
    assertThat(Hcr.go((int) card.read(Bar.BAR0, register, 4))).isFalse();
    assertThat(card.counters().commands()).isEqualTo(1);
    assertThat(card.hasWrites()).isFalse();
  }

  @Test
  void doorbellsTakenAreLimitedByTheBudget() {
    Card card = card(HardwareProfile.S);
    for (int i = 0; i < 20; i++) {
      card.write(Bar.BAR2, Doorbell.SEND_QUEUE, 8, Doorbell.sendQueue(5, 1, i, 0, 8));
    }
    int steps = 0;
    while (card.step(0, DOORBELLS)) {
      steps++;
    }
    assertThat(steps).isEqualTo(3);
    assertThat(card.counters().doorbells()).isEqualTo(20);
  }
}

package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CardBusTest {
  private final List<Integer> told = new ArrayList<>();
  private final CardBus bus = new CardBus();

  CardBusTest() {
    bus.attach(
        new EmptyHost() {
          @Override
          public void raise(int vector) {
            told.add(vector);
          }

          @Override
          public void raiseHere(int vector) {
            told.add(-vector);
          }
        });
  }

  @Test
  void interruptsWaitUntilTheyMayBeDelivered() {
    bus.raise(31);
    bus.raise(0);
    bus.raise(31);
    assertThat(told).isEmpty();
    bus.deliver(false);
    assertThat(told).containsExactly(0, 31);
    bus.deliver(false);
    assertThat(told).hasSize(2);
  }

  @Test
  void hostMayHandleInterruptsOfAThreadWithoutLocks() {
    bus.raise(31);
    bus.raise(1);
    bus.deliver(true);
    assertThat(told).containsExactly(-1, -31);
    bus.deliver(true);
    assertThat(told).hasSize(2);
  }

  @Test
  void discardedInterruptIsNotDelivered() {
    bus.raise(3);
    bus.forget();
    bus.deliver(false);
    bus.deliver(true);
    assertThat(told).isEmpty();
  }

  @Test
  void memoryWithoutADeclarationMayHaveToBeWaitedFor() {
    assertThat(bus.mayWait()).isTrue();
    assertThat(new CardBus().mayWait()).isTrue();
  }
}

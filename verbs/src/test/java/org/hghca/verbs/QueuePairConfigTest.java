package org.hghca.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;

class QueuePairConfigTest {
  private final CompletionQueue send = Fakes.of(CompletionQueue.class, Map.of());
  private final CompletionQueue receive = Fakes.of(CompletionQueue.class, Map.of());

  @Test
  void defaultIsOneRequestWithOneElementEachWay() {
    QueuePairConfig config = QueuePairConfig.rc(send, receive);

    assertThat(config.type()).isEqualTo(QpType.RC);
    assertThat(config.sendCompletionQueue()).isSameAs(send);
    assertThat(config.receiveCompletionQueue()).isSameAs(receive);
    assertThat(config.capabilities()).isEqualTo(new QueuePairCapabilities(1, 1, 1, 1, 0));
    assertThat(config.isSignalAll()).isFalse();
    assertThat(config.isSingleOwner()).isFalse();
  }

  @Test
  void eachCallChangesOneProperty() {
    QueuePairConfig config =
        QueuePairConfig.of(QpType.UC, send, receive)
            .sendDepth(128)
            .receiveDepth(64)
            .maxSendSge(4)
            .maxReceiveSge(3)
            .maxInline(96)
            .singleOwner()
            .signalAll();

    assertThat(config.type()).isEqualTo(QpType.UC);
    assertThat(config.capabilities()).isEqualTo(new QueuePairCapabilities(128, 64, 4, 3, 96));
    assertThat(config.isSignalAll()).isTrue();
    assertThat(config.isSingleOwner()).isTrue();
    assertThat(config.sendDepth(2).isSignalAll()).isTrue();
    assertThat(config.sendDepth(2).isSingleOwner()).isTrue();
    assertThat(QueuePairConfig.rc(send, receive).signalAll().isSingleOwner()).isFalse();
    assertThat(QueuePairConfig.rc(send, receive).singleOwner().isSignalAll()).isFalse();
  }

  @Test
  void configurationIsNotChangedByDerivedOnes() {
    QueuePairConfig config = QueuePairConfig.rc(send, receive);
    QueuePairConfig other = config.sendDepth(9).signalAll();

    assertThat(other.capabilities().sendDepth()).isEqualTo(9);
    assertThat(config.capabilities().sendDepth()).isOne();
    assertThat(config.isSignalAll()).isFalse();
  }

  @Test
  void queuesMustBeGiven() {
    assertThatThrownBy(() -> QueuePairConfig.rc(null, receive))
        .isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> QueuePairConfig.rc(send, null))
        .isInstanceOf(NullPointerException.class);
  }
}

package org.hghca.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;

class QueuePairAttributesTest {
  private final CompletionQueue send = Fakes.of(CompletionQueue.class, Map.of());
  private final CompletionQueue receive = Fakes.of(CompletionQueue.class, Map.of());

  @Test
  void oneRequestWithOneElementEachWayUnlessSaidOtherwise() {
    QueuePairAttributes attributes = QueuePairAttributes.rc(send, receive);

    assertThat(attributes.type()).isEqualTo(QpType.RC);
    assertThat(attributes.sendQueue()).isSameAs(send);
    assertThat(attributes.receiveQueue()).isSameAs(receive);
    assertThat(attributes.capabilities()).isEqualTo(new QueuePairCapabilities(1, 1, 1, 1, 0));
    assertThat(attributes.isSignalAll()).isFalse();
    assertThat(attributes.isSingleOwner()).isFalse();
  }

  @Test
  void eachCallChangesOneThing() {
    QueuePairAttributes attributes =
        QueuePairAttributes.of(QpType.UC, send, receive)
            .sendDepth(128)
            .receiveDepth(64)
            .maxSendSge(4)
            .maxReceiveSge(3)
            .maxInline(96)
            .singleOwner()
            .signalAll();

    assertThat(attributes.type()).isEqualTo(QpType.UC);
    assertThat(attributes.capabilities()).isEqualTo(new QueuePairCapabilities(128, 64, 4, 3, 96));
    assertThat(attributes.isSignalAll()).isTrue();
    assertThat(attributes.isSingleOwner()).isTrue();
    assertThat(attributes.sendDepth(2).isSignalAll()).isTrue();
    assertThat(attributes.sendDepth(2).isSingleOwner()).isTrue();
    assertThat(QueuePairAttributes.rc(send, receive).signalAll().isSingleOwner()).isFalse();
    assertThat(QueuePairAttributes.rc(send, receive).singleOwner().isSignalAll()).isFalse();
  }

  @Test
  void attributesAreNotChangedByWhatIsMadeFromThem() {
    QueuePairAttributes attributes = QueuePairAttributes.rc(send, receive);
    QueuePairAttributes other = attributes.sendDepth(9).signalAll();

    assertThat(other.capabilities().sendDepth()).isEqualTo(9);
    assertThat(attributes.capabilities().sendDepth()).isOne();
    assertThat(attributes.isSignalAll()).isFalse();
  }

  @Test
  void queuesMustBeGiven() {
    assertThatThrownBy(() -> QueuePairAttributes.rc(null, receive))
        .isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> QueuePairAttributes.rc(send, null))
        .isInstanceOf(NullPointerException.class);
  }
}

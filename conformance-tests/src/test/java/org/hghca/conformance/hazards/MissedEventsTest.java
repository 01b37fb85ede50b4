package org.hghca.conformance.hazards;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Optional;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Context;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.SendRequest;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A completion that only the driver's own look finds reaches its waiter, and is counted. */
class MissedEventsTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final int ROUNDS = 3;
  private static final int QKEY = 7;

  @ParameterizedTest
  @CsvSource({
    "missed-none, '', 0",
    "missed-eqe, ?fault=no-eqe, 1",
    "missed-msi, ?fault=no-interrupt, 1"
  })
  void eventsThatTheDeviceDoesNotReportAreCounted(String name, String parameters, long missed)
      throws InterruptedException {
    try (Context context = RdmaDevices.open("model:" + name + parameters);
        ProtectionDomain domain = context.allocateProtectionDomain();
        CompletionChannel channel = context.createCompletionChannel();
        CompletionQueue queue =
            context.createCompletionQueue(CompletionQueueConfig.of(16).withChannel(channel));
        MemoryRegion memory = domain.allocate(64, AccessFlag.LOCAL_WRITE);
        QueuePair pair =
            domain.createQueuePair(
                QueuePairConfig.of(QpType.UD, queue, queue)
                    .sendDepth(4)
                    .receiveDepth(4)
                    .signalAll());
        AddressHandle way =
            domain.createAddressHandle(AddressVector.to(context.queryGid(1, 0), 0))) {
      pair.modify(QpAttributes.to(QpState.INIT).pkeyIndex(0).port(1).qkey(QKEY));
      pair.modify(QpAttributes.to(QpState.RTR));
      pair.modify(QpAttributes.to(QpState.RTS).sendPsn(0));
      Completions completions = new Completions(1);
      for (int i = 0; i < ROUNDS; i++) {
        queue.requestNotify(false);
        pair.postSend(new SendRequest(1).send().sge(memory, 0, 64).to(way, pair.number(), QKEY));

        assertThat(channel.await(LIMIT)).as("round %d", i).isEqualTo(Optional.of(queue));
        assertThat(queue.poll(completions, 1)).isEqualTo(1);
        assertThat(completions.isSuccess(0)).isTrue();
        // Counted when the time in which an event may still come is over.
        long deadline = System.nanoTime() + LIMIT.toNanos();
        while (context.counters().missedEvents() < missed * (i + 1)
            && System.nanoTime() < deadline) {
          Thread.onSpinWait();
        }
        assertThat(context.counters().missedEvents()).isEqualTo(missed * (i + 1));
      }
      assertThat(context.counters().completionEvents()).isEqualTo(ROUNDS);
    }
  }
}

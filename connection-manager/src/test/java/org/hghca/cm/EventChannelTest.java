package org.hghca.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.Test;

/** The queue of events, without devices. */
class EventChannelTest {

  /** Events are posted under the lock of their identifier. */
  @Test
  void closeHoldsNothingWhileItNamesTheIdentifiersThatAreLeft() throws Exception {
    EventChannel channel = EventChannel.open(CmDevices.of());
    CmId id = channel.createId(PortSpace.TCP);
    CompletableFuture<Throwable> failure = new CompletableFuture<>();
    Thread closing =
        Thread.ofPlatform().unstarted(() -> failure.complete(catchThrowable(channel::close)));
    CompletableFuture<Optional<CmEvent>> polled;
    synchronized (id.life()) {
      closing.start();
      while (closing.getState() != Thread.State.BLOCKED) {
        Thread.onSpinWait();
      }
      polled = CompletableFuture.supplyAsync(channel::poll);
      assertThat(polled.get(5, TimeUnit.SECONDS)).isEmpty();
    }
    assertThat(failure.get(5, TimeUnit.SECONDS))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY))
        .hasMessageContaining(id.toString());
    id.close();
    channel.close();
    assertThat(catchThrowable(() -> channel.await(Duration.ZERO))).hasMessageContaining("closed");
  }
}

package org.hghca.conformance.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * A device that disappears while it is used. The system property {@code hghca.lab.device} names two
 * devices that reach each other, separated by a comma, and {@code hghca.lab.kill} the command that
 * removes both.
 */
@EnabledIfSystemProperty(named = "hghca.lab.kill", matches = ".+")
class DeviceDeathTest {
  private static final String[] DEVICES = System.getProperty("hghca.lab.device", "").split(",");
  private static final String KILL = System.getProperty("hghca.lab.kill", "");

  /** Number of writes that succeed before the device disappears. */
  private static final int WRITES = 100;

  /** Limit for any wait on an emulated machine. */
  private static final Duration LIMIT = Duration.ofSeconds(30);

  /** After this time without a completion a program asks the device whether it is present. */
  private static final long SILENCE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final int LENGTH = 8;

  @Test
  @Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void programsGetAnErrorAndNothingHangs() throws Exception {
    try (Side left = new Side(DEVICES[0]);
        Side right = new Side(DEVICES[1])) {
      left.connect(right);
      right.connect(left);
      for (int i = 0; i < WRITES; i++) {
        left.write(right);
        assertThat(left.completed()).as("completion of write %d", i).isTrue();
      }

      Process killer = new ProcessBuilder(KILL.split(" ")).inheritIO().start();
      VerbsException end = catchThrowableOfType(VerbsException.class, () -> left.writeOn(right));

      assertThat(killer.waitFor()).isZero();
      assertThat(end).isNotNull();
      assertThat(end.errno()).as("%s", end).isEqualTo(Errno.EIO);
      left.assertTold();
      right.awaitEnd();
      right.assertTold();
    }
  }

  /** One end of a reliable connection. Closing it must work also when its device is gone. */
  private static final class Side implements AutoCloseable {
    final Context context;
    private final ProtectionDomain pd;
    private final CompletionQueue queue;
    private final QueuePair qp;
    private final MemoryRegion buffer;
    private final Completions completions = new Completions(1);
    private final SendRequest request = new SendRequest();

    Side(String locator) {
      context = RdmaDevices.open(locator);
      pd = context.allocateProtectionDomain();
      queue = context.createCompletionQueue(16);
      qp = pd.createQueuePair(QueuePairConfig.of(QpType.RC, queue, queue));
      buffer =
          pd.allocate(
              LENGTH,
              Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ));
    }

    void connect(Side peer) {
      ConnectionOptions options = ConnectionOptions.DEFAULT;
      QpEndpoint end = new QpEndpoint(0, peer.qp.number(), 0, peer.context.queryGid(1, 0));
      qp.modify(options.toInit(QpType.RC));
      qp.modify(options.toRtr(QpType.RC, end));
      qp.modify(options.toRts(QpType.RC, 0));
    }

    void write(Side peer) {
      qp.postSend(
          request
              .rdmaWrite(peer.buffer.address(), peer.buffer.rkey())
              .sge(buffer, 0, LENGTH)
              .signaled());
    }

    /** Whether a completion arrives in time. */
    boolean completed() {
      long start = System.nanoTime();
      while (queue.poll(completions) == 0) {
        if (System.nanoTime() - start > SILENCE_NANOS) {
          return false;
        }
        Thread.onSpinWait();
      }
      return completions.isSuccess(0);
    }

    /** Writes until the device fails. */
    void writeOn(Side peer) {
      long start = System.nanoTime();
      while (System.nanoTime() - start < LIMIT.toNanos()) {
        write(peer);
        if (!completed()) {
          context.queryPort(1);
        }
      }
    }

    /** Queries the device until it fails. */
    void awaitEnd() {
      long start = System.nanoTime();
      assertThatThrownBy(
              () -> {
                while (System.nanoTime() - start < LIMIT.toNanos()) {
                  context.queryPort(1);
                }
              })
          .isInstanceOf(VerbsException.class);
    }

    /** Waits for the fatal event of the device. */
    void assertTold() throws InterruptedException {
      Optional<AsyncEvent> event = context.asyncEvents().await(LIMIT);
      while (event.isPresent() && event.get().type() != AsyncEventType.DEVICE_FATAL) {
        event.get().acknowledge();
        event = context.asyncEvents().await(LIMIT);
      }
      assertThat(event).as("the fatal event").isPresent();
      event.get().acknowledge();
    }

    @Override
    public void close() {
      qp.close();
      buffer.close();
      queue.close();
      pd.close();
      context.close();
    }
  }
}

package org.hghca.driver.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.hghca.driver.Failures.assertErrno;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.driver.bringup.BringUp;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunctions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A card that is unplugged, or whose server ends, at any time: all waiters are notified, and
 * nothing hangs.
 */
class LostCardTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final AtomicInteger NAMES = new AtomicInteger();

  private static FailingFunction plugIn(String parameters) {
    return new FailingFunction(
        PciFunctions.open(
            Locator.parse("model:losable-%d%s".formatted(NAMES.incrementAndGet(), parameters))));
  }

  /** A program with one queue pair that is its own peer, and threads that wait for all events. */
  private static final class Program {
    final FailingFunction function;
    final HghcaDevice device;
    final DeviceContext context;
    final HghcaProtectionDomain pd;
    final CompletionChannel channel;
    final CompletionQueue cq;
    final QueuePair qp;
    final MemoryRegion memory;
    final CompletableFuture<AsyncEvent> told;
    final CompletableFuture<CompletionQueue> waiting;

    Program(String parameters) {
      function = plugIn(parameters);
      device = BringUp.of(function);
      RdmaDevice name = new RdmaDevice("hca", function.locator().toString(), 1);
      context = new DeviceContext(name, device, device::close);
      pd = (HghcaProtectionDomain) context.allocateProtectionDomain();
      channel = context.createCompletionChannel();
      cq = context.createCompletionQueue(16);
      qp = pd.createQueuePair(QueuePairConfig.rc(cq, cq).sendDepth(4).receiveDepth(4));
      memory = pd.allocate(4096, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
      ConnectionOptions options = ConnectionOptions.DEFAULT;
      qp.modify(options.toInit(QpType.RC));
      QpEndpoint end = new QpEndpoint(0, qp.number(), 7, context.queryGid(1, 0));
      qp.modify(options.toRtr(QpType.RC, end));
      qp.modify(options.toRts(QpType.RC, 7));
      told = context.asyncEvents().next();
      waiting = channel.next();
    }

    /** One message to itself. */
    boolean post() {
      return qp.tryPostReceive(new ReceiveRequest().wrId(1).into(memory, 0, 64))
          && qp.tryPostSend(new SendRequest().wrId(2).send().sge(memory, 64, 64).signaled());
    }

    void assertToldThatItIsOver(String why) throws Exception {
      assertThat(told.get(20, TimeUnit.SECONDS).type()).isEqualTo(AsyncEventType.DEVICE_FATAL);
      assertThatThrownBy(() -> waiting.get(20, TimeUnit.SECONDS))
          .isInstanceOf(ExecutionException.class)
          .hasMessageContaining(why);
      assertOver(why, () -> context.queryPort(1));
      assertOver(why, () -> cq.poll(new Completions(1)));
      assertOver(why, () -> qp.tryPostSend(new SendRequest().send().sge(memory)));
      assertOver(why, () -> qp.tryPostReceive(new ReceiveRequest().into(memory)));
      assertOver(why, qp::query);
      assertOver(why, () -> pd.allocate(4096, AccessFlag.LOCAL_WRITE));
      assertOver(why, () -> pd.createQueuePair(QueuePairConfig.rc(cq, cq)));
      assertOver(why, () -> channel.await(LIMIT));
    }

    private static void assertOver(String why, Call call) {
      VerbsException e = catchThrowableOfType(VerbsException.class, call::run);
      assertThat(e).isNotNull();
      assertThat(e.errno()).isEqualTo(Errno.EIO);
      assertThat(e).hasMessageContaining(why);
    }

    /** Closes everything; no close may fail. */
    void close() {
      memory.close();
      qp.close();
      cq.close();
      channel.close();
      pd.close();
      context.close();
      assertThat(function.isClosed()).isTrue();
      assertThat(function.mappings()).isZero();
    }
  }

  private interface Call {
    void run() throws Exception;
  }

  /** With interrupts, without, and if only a polling program accesses the card. */
  @ParameterizedTest
  @ValueSource(strings = {"?mode=inline", "?interrupts=none", "?events=poll", "?profile=r1"})
  void cardRemovedWhileIdleIsReported(String parameters) throws Exception {
    Program program = new Program(parameters);
    program.function.lose();
    program.assertToldThatItIsOver(FailingFunction.PULLED);
    program.close();
  }

  /** As the kernel does before it takes a function back: the card itself reports nothing. */
  @ParameterizedTest
  @ValueSource(strings = {"?mode=inline", "?interrupts=none", "?events=poll", "?profile=r1"})
  void cardRequestedBackIsAFatalEvent(String parameters) throws Exception {
    Program program = new Program(parameters);
    program.function.want();
    program.assertToldThatItIsOver(FailingFunction.PULLED);
    program.close();
  }

  /** The removal of a card waits until it is released, even if its end was detected before. */
  @ParameterizedTest
  @ValueSource(strings = {"?mode=inline", "?interrupts=none", "?profile=r1"})
  void failedCardThatIsRequestedBackIsReported(String parameters) throws Exception {
    Program program = new Program(parameters);
    program.function.mute();
    assertThat(program.told.get(20, TimeUnit.SECONDS).type())
        .isEqualTo(AsyncEventType.DEVICE_FATAL);
    program.function.want();
    assertThat(program.function.heard.await(20, TimeUnit.SECONDS)).isTrue();
    program.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "?interrupts=none", "?events=poll", "?profile=r1"})
  void cardRemovedUnderTrafficIsReportedToPollers(String parameters) throws Exception {
    Program program = new Program(parameters);
    Completions found = new Completions(16);
    long end = System.nanoTime() + LIMIT.toNanos();
    program.function.loseAfter(40);
    VerbsException over =
        catchThrowableOfType(
            VerbsException.class,
            () -> {
              while (System.nanoTime() < end) {
                program.post();
                program.cq.poll(found);
              }
            });
    assertThat(over).isNotNull();
    assertThat(over.errno()).isEqualTo(Errno.EIO);
    program.assertToldThatItIsOver(FailingFunction.PULLED);
    program.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"?mode=inline", "?interrupts=none", "?events=poll"})
  void cardRemovedDuringACommandIsReportedToAllWaiters(String parameters) throws Exception {
    Program program = new Program(parameters);
    program.function.loseAfter(7); // the go of the next command, and the accesses after it
    assertErrno(Errno.EIO, () -> program.context.queryPort(1));
    program.assertToldThatItIsOver(FailingFunction.PULLED);
    program.close();
  }

  /** Emulated registers fault with an exception of the function, on any ringing thread. */
  @ParameterizedTest
  @ValueSource(strings = {"?mode=inline", "?mode=inline&profile=r1"})
  void servedDoorbellRemovedDuringAPostEndsTheDevice(String parameters) throws Exception {
    Program program = new Program(parameters);
    program.function.cutOffDoorbells();
    assertThatThrownBy(program::post)
        .isInstanceOfSatisfying(
            BadRequestException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EIO))
        .hasMessageContaining(FailingFunction.PULLED);
    program.assertToldThatItIsOver(FailingFunction.PULLED);
    program.close();
  }

  /** The locks of the doorbell are released, which the close of the queue pair shows. */
  @ParameterizedTest
  @ValueSource(strings = {"?mode=inline", "?mode=inline&profile=r1"})
  void servedDoorbellRemovedDuringAListEndsTheDevice(String parameters) throws Exception {
    Program program = new Program(parameters);
    SendRequest request = new SendRequest().send().sge(program.memory, 64, 64).signaled();
    SendRequest[] list = {request, request};
    program.function.cutOffDoorbells();
    assertThatThrownBy(() -> program.qp.tryPostSend(list, 0, list.length))
        .isInstanceOfSatisfying(
            BadRequestException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EIO))
        .hasMessageContaining(FailingFunction.PULLED);
    program.assertToldThatItIsOver(FailingFunction.PULLED);
    program.close();
  }

  @Test
  void servedDoorbellRemovedDuringAnArmEndsTheDevice() throws Exception {
    Program program = new Program("?mode=inline");
    CompletionQueue armed =
        program.context.createCompletionQueue(
            CompletionQueueConfig.of(4).withChannel(program.channel));
    program.function.cutOffDoorbells();
    Program.assertOver(FailingFunction.PULLED, () -> armed.requestNotify(false));
    program.assertToldThatItIsOver(FailingFunction.PULLED);
    armed.close();
    program.close();
  }

  @Test
  void cardRemovedDuringBringUpOrCloseIsReleased() {
    FailingFunction whole = plugIn("?mode=inline");
    HghcaDevice device = BringUp.of(whole);
    int up = whole.accesses();
    device.close();
    int all = whole.accesses();
    assertThat(up).isPositive();
    assertThat(all).isGreaterThan(up);
    for (int accesses = 0; accesses < all; accesses++) {
      FailingFunction function = plugIn("?mode=inline");
      function.loseAfter(accesses);
      try {
        BringUp.of(function).close();
        assertThat(accesses).isGreaterThan(up - 10); // its last commands are checked twice
      } catch (VerbsException e) {
        assertThat(e.errno())
            .as("after %d accesses: %s", accesses, e)
            .isIn(Errno.EIO, Errno.ENODEV);
      }
      assertThat(function.isLost()).isTrue();
      assertThat(function.isClosed()).isTrue();
    }
  }
}

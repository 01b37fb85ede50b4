package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.hghca.linux.Linux;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.DmaAccess;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.Interrupts;
import org.hghca.vfio.MmioRegion;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.user.UserStructures.DmaTransfer;
import org.hghca.vfio.user.UserStructures.RegionAccess;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A server that exits, is silent, or breaks the protocol removes the function and affects nothing
 * else.
 */
final class UserLossTest extends WithFakeServer {
  private static final long LONG = TimeUnit.SECONDS.toNanos(30);

  private final SystemCalls linux = Linux.system();

  /** The function behaves as a removed one, and reports the cause. */
  private void assertGone(String... why) {
    for (int bar : new int[] {0, 2}) {
      MmioRegion registers = function.region(bar);
      registers.writeInt(0, 1);
      registers.writeLong(0, 1);
      assertThat(registers.readInt(0)).isEqualTo(-1);
      assertThat(registers.readLong(8)).isEqualTo(-1);
    }
    assertThat(function.configuration().vendorId()).isEqualTo(0xffff);
    function.configuration().busMaster(true);
    assertThat(function.configuration().enableMemorySpace()).isTrue(); // all ones has every bit
    for (Runnable call :
        List.<Runnable>of(
            () -> function.allocate(4096),
            () -> function.map(Arena.ofAuto().allocate(8), DmaAccess.READ),
            () -> function.interrupts(),
            () -> function.reset())) {
      assertReason(Reason.CLOSED, call::run)
          .hasMessageStartingWith(function.locator() + " is gone: ")
          .hasMessageContainingAll(why);
    }
  }

  @Test
  void serverThatHangsUpIsGone() throws Exception {
    Interrupts interrupts = open("").interrupts();
    DmaMapping mapping = function.allocate(4096);
    mapping.segment().set(ValueLayout.JAVA_INT, 0, 5);
    CompletableFuture<Throwable> waiting =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                interrupts.await(LONG);
                return null;
              } catch (RuntimeException e) {
                return e;
              }
            });
    server.hangUp();
    assertThat(waiting.get(30, TimeUnit.SECONDS))
        .isInstanceOfSatisfying(
            VfioException.class, e -> assertThat(e.reason()).isEqualTo(Reason.CLOSED))
        .hasMessageContainingAll(server.locator(), "is gone: the server closed the connection");
    assertReason(Reason.CLOSED, () -> interrupts.await(0));
    assertGone("the server closed the connection");
    // Mapped memory still belongs to the program, and is unmapped without the server.
    assertThat(mapping.segment().get(ValueLayout.JAVA_INT, 0)).isEqualTo(5);
    mapping.close();
    function.close();
    assertReason(Reason.CLOSED, () -> function.interrupts());
  }

  @Test
  void waitersAreWokenWhenTheServerHangsUp() throws Exception {
    open("");
    CountDownLatch asked = new CountDownLatch(4);
    server.answers.put(
        UserCommand.REGION_READ,
        (command, reply) -> {
          asked.countDown();
          return false;
        });
    List<CompletableFuture<Integer>> readers = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      CompletableFuture<Integer> value = new CompletableFuture<>();
      readers.add(value);
      threads.add(Thread.ofPlatform().start(() -> value.complete(function.region(0).readInt(0))));
    }
    assertThat(asked.await(30, TimeUnit.SECONDS)).isTrue();
    server.hangUp();
    for (CompletableFuture<Integer> reader : readers) {
      assertThat(reader.get(30, TimeUnit.SECONDS)).isEqualTo(-1);
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  @Test
  void serverThatDoesNotAnswerInTimeIsGone() {
    Interrupts interrupts = open("?timeout=PT2S").interrupts();
    server.answers.put(UserCommand.REGION_READ, (command, reply) -> false);
    long start = System.nanoTime();
    assertThat(function.region(0).readInt(0)).isEqualTo(-1);
    assertThat(System.nanoTime() - start)
        .isBetween(TimeUnit.SECONDS.toNanos(2), TimeUnit.SECONDS.toNanos(30));
    assertReason(Reason.CLOSED, () -> interrupts.await(LONG));
    assertGone("has not answered REGION_READ within PT2S");
  }

  @Test
  void serverThatStopsReadingIsGoneInTime() {
    open("?timeout=PT2S");
    CountDownLatch over = new CountDownLatch(1);
    server.answers.put(UserCommand.REGION_WRITE, (command, reply) -> awaitQuietly(over));
    try {
      long start = System.nanoTime();
      for (int i = 0; i < 10_000; i++) { // far more than a socket's buffer holds
        function.region(2).writeLong(0, i);
      }
      assertThat(System.nanoTime() - start)
          .isBetween(TimeUnit.SECONDS.toNanos(2), TimeUnit.SECONDS.toNanos(9));
      assertGone("did not read a message within PT2S");
    } finally {
      over.countDown();
    }
  }

  private static boolean awaitQuietly(CountDownLatch over) {
    try {
      over.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return false;
  }

  /** As when memory or stack run out. */
  @Test
  void errorOfTheReceivingThreadReachesWaiters() {
    Duration limit = Duration.ofSeconds(30);
    UserChannel channel = UserChannel.connect(linux, server.socket.toString(), limit);
    try (UserConnection connection =
        new UserConnection(linux, channel, "it", limit, new MemoryService())) {
      assertReason(
              Reason.CLOSED,
              () ->
                  connection.call(
                      UserCommand.DEVICE_RESET,
                      0,
                      message -> {},
                      reply -> {
                        throw new StackOverflowError();
                      }))
          .hasMessageContaining("StackOverflowError");
    }
  }

  @Test
  void serverThatDoesNotAnswerTheFirstMessageIsBusy() {
    server.answers.put(UserCommand.VERSION, (command, reply) -> false);
    assertReason(Reason.BUSY, () -> open("?timeout=PT0.2S"))
        .hasMessageContainingAll("has not answered VERSION", "one client at a time");
  }

  @Test
  void serverThatRejectsTheClientIsBusy() {
    server.answers.put(
        UserCommand.VERSION,
        (command, reply) -> {
          server.channelNow().close();
          return false;
        });
    assertReason(Reason.BUSY, () -> open(""))
        .hasMessageContaining("the server closed the connection");
  }

  @Test
  void endInTheMiddleOfAReplyIsReported() {
    open("");
    server.answers.put(
        UserCommand.REGION_READ,
        (command, reply) -> {
          reply.reply(command, 8);
          reply.memory().set(ValueLayout.JAVA_INT, UserMessage.SIZE, 36);
          server.channelNow().send(reply);
          server.channelNow().close();
          return false;
        });
    assertThat(function.region(0).readInt(0)).isEqualTo(-1);
    assertGone("in the middle of a message");
  }

  @Test
  void closingWithASilentServerTakesOneTimeLimit() {
    open("?timeout=PT2S");
    for (int i = 0; i < 50; i++) {
      assertThat(function.allocate(4096).iova(0)).isPositive();
    }
    server.answers.replaceAll((command, answer) -> (asked, reply) -> false);
    long start = System.nanoTime();
    function.close();
    assertThat(System.nanoTime() - start).isLessThan(TimeUnit.SECONDS.toNanos(10));
  }

  @Test
  void closingInTheMiddleOfAReadEndsIt() throws Exception {
    open("");
    CountDownLatch asked = new CountDownLatch(1);
    server.answers.put(
        UserCommand.REGION_READ,
        (command, reply) -> {
          if (command.getInt(RegionAccess.REGION) == 0) {
            asked.countDown();
            return false;
          }
          return server.read(command, reply);
        });
    CompletableFuture<Integer> reading = new CompletableFuture<>();
    Thread reader =
        Thread.ofPlatform().start(() -> reading.complete(function.region(0).readInt(0)));
    assertThat(asked.await(30, TimeUnit.SECONDS)).isTrue();
    function.close();
    assertThat(reading.get(30, TimeUnit.SECONDS)).isEqualTo(-1);
    reader.join();
  }

  /** Errors in a reply to a read of 4 bytes, and the messages for them. */
  private static Stream<Named<Nonsense>> replies() {
    return Stream.of(
        nonsense("no payload", "with a payload of 0 bytes", m -> resize(m, 0)),
        nonsense("a payload cut short", "with a payload of 15 bytes", m -> resize(m, 15)),
        nonsense("too little data", "3 bytes of data to a read of 4", m -> resize(m, 19)),
        nonsense("too much data", "8 bytes of data to a read of 4", m -> resize(m, 24)),
        nonsense("another id", "which is not outstanding", m -> header(m, UserMessage.ID, 0x7777)),
        nonsense(
            "another command",
            "a reply to REGION_WRITE where REGION_READ was expected",
            m -> header(m, UserMessage.COMMAND, UserCommand.REGION_WRITE.code())),
        nonsense(
            "an unknown command",
            "a reply to command 4660",
            m -> header(m, UserMessage.COMMAND, 0x1234)),
        nonsense("an unknown type", "a message of type 7", m -> header(m, UserMessage.FLAGS, 7)),
        nonsense("another offset", "4 bytes at 0x8", m -> m.putLong(RegionAccess.OFFSET, 8)),
        nonsense("another region", "of region 2", m -> m.putInt(RegionAccess.REGION, 2)),
        nonsense("another count", "replies for 8 bytes", m -> m.putInt(RegionAccess.COUNT, 8)),
        nonsense("a size below the header's", "a message of 15 bytes", m -> size(m, 15)),
        nonsense("a size beyond all", "a message of 4294967295 bytes", m -> size(m, -1)));
  }

  /** Corrupts a reply. */
  interface Nonsense {
    void spoil(UserMessage reply);

    default String said() {
      return "";
    }
  }

  private record Spoiled(Nonsense how, String said) implements Nonsense {
    @Override
    public void spoil(UserMessage reply) {
      how.spoil(reply);
    }
  }

  private static Named<Nonsense> nonsense(String name, String said, Nonsense how) {
    return Named.of(name, new Spoiled(how, said));
  }

  private static void resize(UserMessage message, int payload) {
    message.receivePayload(payload);
    size(message, UserMessage.HEADER_BYTES + payload);
  }

  private static void size(UserMessage message, int size) {
    message.memory().set(ValueLayout.JAVA_INT, UserMessage.SIZE, size);
  }

  private static void header(UserMessage message, int offset, int value) {
    message.memory().set(ValueLayout.JAVA_SHORT, offset, (short) value);
  }

  @ParameterizedTest
  @MethodSource("replies")
  void malformedReplyEndsTheConnectionAndIsReported(Nonsense nonsense) {
    open("");
    server.answers.put(
        UserCommand.REGION_READ,
        (command, reply) -> {
          boolean made = server.read(command, reply);
          nonsense.spoil(reply);
          return made;
        });
    assertThat(function.region(0).readInt(0)).isEqualTo(-1);
    assertGone("the server broke the protocol: ", nonsense.said());
  }

  @Test
  void unexpectedDescriptorsAreClosedAndEndTheConnection() {
    open("");
    int event = linux.eventfd(0, 0);
    server.answers.put(
        UserCommand.REGION_READ,
        (command, reply) -> {
          boolean made = server.read(command, reply);
          reply.attach(event);
          reply.attach(event);
          return made;
        });
    assertThat(function.region(0).readInt(0)).isEqualTo(-1);
    linux.close(event);
    assertGone("REGION_READ with more than 0 descriptors");
  }

  @Test
  void unsolicitedReplyEndsTheConnection() throws Exception {
    Interrupts interrupts = open("").interrupts();
    UserMessage reply = new UserMessage(64, 0);
    reply.command(99, UserCommand.REGION_READ, UserMessage.TYPE_REPLY, 0);
    server.channel().send(reply);
    assertReason(Reason.CLOSED, () -> interrupts.await(LONG))
        .hasMessageContaining("a reply to REGION_READ with id 99");
  }

  @Test
  void truncatedRequestForMemoryEndsTheConnection() throws Exception {
    Interrupts interrupts = open("").interrupts();
    UserMessage command = new UserMessage(64, 0);
    command.command(1, UserCommand.DMA_READ, 0, DmaTransfer.DATA - 1);
    server.channel().send(command);
    assertThatThrownBy(() -> interrupts.await(LONG))
        .hasMessageContaining("DMA_READ with a payload of 15 bytes");
  }

  @Test
  void requestWithDescriptorsEndsTheConnection() throws Exception {
    Interrupts interrupts = open("").interrupts();
    int event = linux.eventfd(0, 0);
    UserMessage command = FakeServer.dmaRead(1, 0x1_0000, 8);
    command.attach(event);
    server.channel().send(command);
    linux.close(event);
    assertThatThrownBy(() -> interrupts.await(LONG))
        .hasMessageContaining("DMA_READ with descriptors");
  }
}

package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.hghca.linux.Linux;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Messages arrive complete, in order and with their descriptors, or not at all. */
final class UserChannelTest {
  private static final int MOST = 2 << 20;

  private final SystemCalls linux = Linux.system();
  private final UserMessage out = new UserMessage(MOST, 8);
  private final UserMessage in = new UserMessage(MOST, 8);

  @TempDir Path directory;
  private Map<String, Integer> before;
  private ChannelPair pair;

  @BeforeEach
  void connect() {
    before = Descriptors.open();
    pair = ChannelPair.connect(directory.resolve("pair"));
  }

  @AfterEach
  void nothingIsLeft() {
    in.closeDescriptors(linux);
    pair.close();
    in.close();
    out.close();
    assertThat(Descriptors.open()).isEqualTo(before);
  }

  @Test
  void headerHasTheProtocolsLayout() {
    out.command(0x1234, UserCommand.REGION_WRITE, UserMessage.NO_REPLY, 8);
    out.putLong(0, 0x1122_3344_5566_7788L);
    assertThat(out.memory().asSlice(0, 24).toArray(ValueLayout.JAVA_BYTE))
        .containsExactly(
            0x34,
            0x12,
            10,
            0,
            24,
            0,
            0,
            0,
            0x10,
            0,
            0,
            0,
            0,
            0,
            0,
            0, //
            (byte) 0x88,
            0x77,
            0x66,
            0x55,
            0x44,
            0x33,
            0x22,
            0x11);
    pair.left().send(out);
    assertThat(pair.right().receive(in)).isTrue();
    assertThat(in.id()).isEqualTo(0x1234);
    assertThat(UserCommand.REGION_WRITE.is(in.command())).isTrue();
    assertThat(in.isReply()).isFalse();
    assertThat(in.wantsReply()).isFalse();
    assertThat(in.payloadBytes()).isEqualTo(8);
    assertThat(in.getLong(0)).isEqualTo(0x1122_3344_5566_7788L);

    out.failure(in, 22);
    pair.right().send(out);
    assertThat(pair.left().receive(in)).isTrue();
    assertThat(in.isReply()).isTrue();
    assertThat(in.isFailed()).isTrue();
    assertThat(in.error()).isEqualTo(22);
    assertThat(in.id()).isEqualTo(0x1234);
    assertThat(in.payloadBytes()).isZero();
  }

  @Test
  void messagesLongerThanTheSocketBufferArriveComplete() {
    out.command(1, UserCommand.DMA_WRITE, 0, MOST);
    for (int i = 0; i < MOST; i += 8) {
      out.putLong(i, i * 0x9e37_79b9_7f4a_7c15L);
    }
    out.attach(event());
    CompletableFuture<Void> sending = CompletableFuture.runAsync(() -> pair.left().send(out));
    assertThat(pair.right().receive(in)).isTrue();
    sending.join();
    linux.close(out.descriptor(0));
    assertThat(in.payloadBytes()).isEqualTo(MOST);
    assertThat(in.memory().asSlice(0, MOST + 16L).mismatch(out.memory().asSlice(0, MOST + 16L)))
        .isEqualTo(-1);
    assertThat(in.descriptors()).isEqualTo(1);
  }

  @Test
  void manyMessagesKeepTheirOrderAndBounds() {
    CompletableFuture<Void> sending =
        CompletableFuture.runAsync(
            () -> {
              for (int i = 0; i < 5000; i++) {
                out.command(i, UserCommand.REGION_WRITE, 0, 8 + i % 50);
                out.putLong(0, i);
                pair.left().send(out);
              }
            });
    for (int i = 0; i < 5000; i++) {
      assertThat(pair.right().receive(in)).isTrue();
      assertThat(in.id()).isEqualTo(i);
      assertThat(in.payloadBytes()).isEqualTo(8 + i % 50);
      assertThat(in.getLong(0)).isEqualTo(i);
    }
    sending.join();
  }

  @Test
  void descriptorIsTheSameFileAtTheOtherEnd() {
    int event = event();
    out.command(1, UserCommand.DEVICE_SET_IRQS, 0, 0);
    out.attach(event);
    out.attach(event);
    pair.left().send(out);
    out.command(2, UserCommand.DEVICE_SET_IRQS, 0, 0);
    pair.left().send(out);
    assertThat(pair.right().receive(in)).isTrue();
    assertThat(in.descriptors()).isEqualTo(2);
    int taken = in.take(1);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment count = arena.allocate(8);
      count.set(ValueLayout.JAVA_LONG, 0, 7);
      assertThat(linux.write(taken, count)).isEqualTo(8);
      assertThat(linux.read(event, count)).isEqualTo(8);
      assertThat(count.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(7);
    }
    // The next message closes the one that was not taken, and has none of its own.
    assertThat(pair.right().receive(in)).isTrue();
    assertThat(in.descriptors()).isZero();
    assertThat(linux.close(taken)).isZero();
    assertThat(linux.close(event)).isZero();
  }

  @Test
  void descriptorsBeyondTheRoomAreClosedAndReported() {
    UserMessage small = new UserMessage(64, 2);
    int event = event();
    out.command(1, UserCommand.DEVICE_SET_IRQS, 0, 0);
    for (int i = 0; i < 8; i++) {
      out.attach(event);
    }
    pair.left().send(out);
    linux.close(event);
    assertThat(pair.right().receive(small)).isTrue();
    assertThat(small.descriptors()).isEqualTo(2);
    assertThat(small.hasTooManyDescriptors()).isTrue();
    small.closeDescriptors(linux);
    small.close();
    assertThat(Descriptors.open().getOrDefault("anon_inode:[eventfd]", 0))
        .isEqualTo(before.getOrDefault("anon_inode:[eventfd]", 0));
  }

  @Test
  void endOfTheStreamIsReported() {
    out.command(1, UserCommand.DEVICE_RESET, 0, 0);
    pair.left().send(out);
    pair.left().close();
    assertThat(pair.right().awaitMessage(ChannelPair.PATIENCE)).isTrue();
    assertThat(pair.right().receive(in)).isTrue();
    assertThat(pair.right().receive(in)).isFalse();
    assertThatThrownBy(() -> pair.right().send(out)).satisfies(UserChannelTest::isClosed);
    assertThatThrownBy(() -> pair.left().send(out)).satisfies(UserChannelTest::isClosed);
    assertThat(pair.left().receive(in)).isFalse();
  }

  @Test
  void endWithinAMessageIsAFailureAndClosesItsDescriptors() {
    sendRaw(40, 12);
    pair.left().close();
    assertThatThrownBy(() -> pair.right().receive(in)).satisfies(UserChannelTest::isClosed);
    assertThat(in.descriptors()).isZero();
  }

  @Test
  void impossibleSizesAreRefused() {
    for (long size : new long[] {0, 15, MOST + 17L, 0x7fff_ffffL, 0xffff_ffffL}) {
      sendRaw(size, 0);
      assertReason(Reason.INVALID, () -> pair.right().receive(in))
          .hasMessageContaining("a message of " + size + " bytes");
      assertThat(in.descriptors()).isZero();
    }
  }

  /** Sends a header that claims a size, an event with it, and so many bytes behind it. */
  private void sendRaw(long size, int behind) {
    out.command(9, UserCommand.VERSION, 0, behind);
    out.memory().set(ValueLayout.JAVA_INT, UserMessage.SIZE, (int) size);
    int event = event();
    out.attach(event);
    pair.left().send(out);
    linux.close(event);
  }

  @Test
  void closingEndsAWaitingReceive() throws Exception {
    CompletableFuture<Boolean> receiving =
        CompletableFuture.supplyAsync(() -> pair.right().receive(in));
    pair.right().close();
    assertThat(receiving.get(30, TimeUnit.SECONDS)).isFalse();
    pair.right().close();
  }

  @Test
  void closingEndsAWaitingSend() {
    CompletableFuture<Void> sending =
        CompletableFuture.runAsync(
            () -> {
              while (true) {
                out.command(1, UserCommand.REGION_WRITE, 0, MOST);
                pair.left().send(out);
              }
            });
    pair.left().close();
    assertThatThrownBy(sending::join).hasCauseInstanceOf(VfioException.class);
  }

  @Test
  void closedChannelDoesNotUseASocketThatReusesItsNumber() {
    pair.left().close();
    pair.right().close();
    // The lowest free numbers are used first.
    try (ChannelPair next = ChannelPair.connect(directory.resolve("next"))) {
      out.command(1, UserCommand.DEVICE_RESET, 0, 0);
      assertThatThrownBy(() -> pair.left().send(out)).satisfies(UserChannelTest::isClosed);
      assertThatThrownBy(() -> pair.right().send(out)).satisfies(UserChannelTest::isClosed);
      assertThat(pair.left().awaitMessage(Duration.ZERO)).isTrue();
      assertThat(pair.left().receive(in)).isFalse();
      next.left().send(out);
      assertThat(next.right().receive(in)).isTrue();
      next.right().send(out);
      assertThat(next.left().receive(in)).isTrue();
    }
  }

  @Test
  void waitForAMessageHasALimit() {
    assertThat(pair.right().awaitMessage(Duration.ofMillis(1))).isFalse();
  }

  @Test
  void pathThatIsTooLongIsRefused() {
    String path = "/" + "x".repeat(107);
    assertReason(Reason.INVALID, () -> UserChannel.connect(linux, path, ChannelPair.PATIENCE))
        .hasMessageContaining("108 bytes");
    assertReason(
        Reason.NOT_FOUND,
        () -> UserChannel.connect(linux, "/" + "x".repeat(106), ChannelPair.PATIENCE));
  }

  private int event() {
    int event = linux.eventfd(0, 0);
    assertThat(event).isNotNegative();
    return event;
  }

  private static void isClosed(Throwable failure) {
    assertThat(failure)
        .isInstanceOfSatisfying(
            VfioException.class, e -> assertThat(e.reason()).isEqualTo(Reason.CLOSED));
  }
}

package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.hghca.linux.Linux;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.user.UserStructures.DmaTransfer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Messages of the client while the device waits for an answer are not lost. */
final class ConversationTest {
  private final SystemCalls linux = Linux.system();
  private final UserMessage out = new UserMessage(2 << 20, 16);
  private final UserMessage in = new UserMessage(64, 0);
  private final MemorySegment found = Arena.ofAuto().allocate(8, 8);

  @TempDir Path directory;
  private Map<String, Integer> before;
  private ChannelPair pair;
  private Conversation conversation;

  @BeforeEach
  void connect() {
    before = Descriptors.open();
    pair = ChannelPair.connect(directory.resolve("pair"));
    conversation = new Conversation(linux, pair.right(), ChannelPair.PATIENCE);
  }

  @AfterEach
  void nothingIsLeft() {
    conversation.close();
    conversation.discard();
    pair.close();
    out.close();
    in.close();
    assertThat(Descriptors.open()).isEqualTo(before);
  }

  /** Makes the device read 8 bytes; returns when the client got the request. */
  private CompletableFuture<Boolean> ask() {
    CompletableFuture<Boolean> reading =
        CompletableFuture.supplyAsync(() -> conversation.read(0x1000, found, 0, 8));
    assertThat(pair.left().receive(in)).isTrue();
    assertThat(UserCommand.DMA_READ.is(in.command())).isTrue();
    return reading;
  }

  private void answer(long value) {
    out.reply(in, DmaTransfer.DATA + 8);
    out.putLong(DmaTransfer.ADDRESS, 0x1000);
    out.putLong(DmaTransfer.COUNT, 8);
    out.putLong(DmaTransfer.DATA, value);
    pair.left().send(out);
  }

  private void post(int id) {
    out.command(id, UserCommand.REGION_WRITE, UserMessage.NO_REPLY, 24);
    out.putLong(0, id);
    pair.left().send(out);
  }

  @Test
  void clientMayRingManyDoorbellsBeforeItAnswers() {
    CompletableFuture<Boolean> reading = ask();
    for (int i = 0; i < 20_000; i++) {
      post(i);
    }
    answer(77);
    assertThat(reading.join()).isTrue();
    assertThat(found.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(77);
    for (int i = 0; i < 20_000; i++) {
      UserMessage command = conversation.next();
      assertThat(command.id()).isEqualTo(i);
      assertThat(command.payloadBytes()).isEqualTo(24);
      assertThat(command.getLong(0)).isEqualTo(i);
      assertThat(command.wantsReply()).isFalse();
    }
  }

  @Test
  void longEarlyMessageIsComplete() {
    CompletableFuture<Boolean> reading = ask();
    UserMessage write = new UserMessage(1 << 16, 0);
    write.command(5, UserCommand.REGION_WRITE, UserMessage.NO_REPLY, 1 << 16);
    for (int i = 0; i < 1 << 16; i += 8) {
      write.putLong(i, i);
    }
    pair.left().send(write);
    answer(1);
    assertThat(reading.join()).isTrue();
    UserMessage command = conversation.next();
    assertThat(command.payloadBytes()).isEqualTo(1 << 16);
    long bytes = UserMessage.HEADER_BYTES + (1L << 16);
    assertThat(command.memory().asSlice(0, bytes).mismatch(write.memory().asSlice(0, bytes)))
        .isEqualTo(-1);
  }

  @Test
  void earlyMessageKeepsItsDescriptors() {
    CompletableFuture<Boolean> reading = ask();
    int event = linux.eventfd(0, 0x8_0000);
    for (int i = 0; i < 3; i++) {
      out.command(i, UserCommand.DEVICE_SET_IRQS, 0, 20);
      for (int j = 0; j < 5 * i; j++) {
        out.attach(event);
      }
      pair.left().send(out);
    }
    answer(1);
    assertThat(reading.join()).isTrue();
    for (int i = 0; i < 3; i++) {
      UserMessage command = conversation.next();
      assertThat(command.id()).isEqualTo(i);
      assertThat(command.descriptors()).isEqualTo(5 * i);
      assertThat(command.hasTooManyDescriptors()).isFalse();
      for (int j = 0; j < 5 * i; j++) {
        assertThat(linux.fcntl(command.descriptor(j), 1, 0)).as("open").isNotNegative();
      }
      command.closeDescriptors(linux);
    }
    linux.close(event);
  }

  @Test
  void clientThatOnlySendsCommandsIsEnded() {
    CompletableFuture<Boolean> reading = ask();
    int event = linux.eventfd(0, 0x8_0000);
    assertReason(
        Reason.CLOSED,
        () -> {
          while (true) {
            out.command(1, UserCommand.DMA_MAP, UserMessage.NO_REPLY, 1 << 16);
            out.attach(event);
            pair.left().send(out);
          }
        });
    assertThat(reading.join()).isFalse();
    linux.close(event);
  }

  @Test
  void clientThatNeverAnswersIsEnded() {
    conversation = new Conversation(linux, pair.right(), Duration.ofMillis(200));
    long start = System.nanoTime();
    assertThat(ask().join()).isFalse();
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .isBetween(Duration.ofMillis(200), Duration.ofSeconds(30));
    assertThat(conversation.next()).isNull();
    assertThat(pair.left().receive(in)).as("hung up").isFalse();
  }
}

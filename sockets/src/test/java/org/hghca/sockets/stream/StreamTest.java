package org.hghca.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(Card.class)
class StreamTest {
  private static final StreamOptions SMALL =
      new StreamOptions(4096, 4096, 16, 16, 64, false, 7200, 0);

  private final Card card;
  private TwoStreamDevices devices;

  StreamTest(Card card) {
    this.card = card;
  }

  @BeforeEach
  void open() {
    devices = card.open();
  }

  @AfterEach
  void close() {
    devices.close();
  }

  private static ByteBuffer bytes(int... values) {
    ByteBuffer buffer = ByteBuffer.allocate(values.length);
    for (int value : values) {
      buffer.put((byte) value);
    }
    return buffer.flip();
  }

  private static void assertNext(ByteStream stream, int... values) throws IOException {
    ByteBuffer got = ByteBuffer.allocate(values.length);
    TwoStreamDevices.readFully(stream, got);
    assertThat(got.flip()).isEqualTo(bytes(values));
  }

  private static void assertEnd(ByteStream stream) throws IOException {
    ByteBuffer got = ByteBuffer.allocate(1);
    TwoStreamDevices.readFully(stream, got);
    assertThat(got.position()).as("bytes before the end").isZero();
    assertThat(stream.read(got)).isEqualTo(-1);
  }

  @Test
  void bytesArriveAsTheyWereWritten() throws IOException {
    try (TwoStreamDevices.Pair pair = devices.pair()) {
      TwoStreamDevices.writeFully(pair.client(), bytes(1, 2, 3, 4, 5));
      assertNext(pair.server(), 1, 2, 3, 4, 5);
      TwoStreamDevices.writeFully(pair.server(), bytes(6, 7));
      assertNext(pair.client(), 6, 7);
    }
  }

  @Test
  void addressesAreThoseOfBothEnds() throws IOException {
    try (StreamListener listener = devices.listen();
        ByteStream client = devices.connect(listener, StreamOptions.DEFAULT);
        ByteStream server = TwoStreamDevices.accept(listener)) {
      assertThat(client.remoteAddress()).isEqualTo(listener.localAddress());
      assertThat(server.localAddress()).isEqualTo(listener.localAddress());
      assertThat(client.localAddress().getAddress()).isEqualTo(devices.clientAddress);
      assertThat(server.remoteAddress()).isEqualTo(client.localAddress());
    }
  }

  @Test
  void piecesOfAnyLengthGoBothWaysAtOnce() throws IOException {
    for (StreamOptions options : new StreamOptions[] {StreamOptions.DEFAULT, SMALL}) {
      try (TwoStreamDevices.Pair pair = devices.pair(options, StreamOptions.DEFAULT)) {
        new Transfer(1)
            .begin(Thread.ofPlatform(), pair.client(), pair.server(), 3_000_001, 100_000)
            .begin(Thread.ofPlatform(), pair.server(), pair.client(), 2_000_003, 5_000)
            .end();
      }
    }
  }

  @Test
  void virtualThreadsDoTheSame() throws IOException {
    try (TwoStreamDevices.Pair pair = devices.pair(SMALL, SMALL)) {
      new Transfer(2)
          .begin(Thread.ofVirtual(), pair.client(), pair.server(), 1_000_001, 3_000)
          .begin(Thread.ofVirtual(), pair.server(), pair.client(), 1_000_003, 10_000)
          .end();
    }
  }

  /** More messages than sixteen bits count. */
  @Test
  void countsOfMessagesWrapAround() throws IOException {
    try (TwoStreamDevices.Pair pair = devices.pair(SMALL, SMALL)) {
      new Transfer(3).begin(Thread.ofPlatform(), pair.client(), pair.server(), 140_000, 3).end();
      assertThat(devices.client.counters().messagesSent()).isGreaterThan(1 << 16);
    }
  }

  /** The last byte of the send buffer is one that would fit into an inline message. */
  @Test
  void anEndOfTheSendBufferMakesNoStreamOfShortMessages() throws IOException {
    try (TwoStreamDevices.Pair pair = devices.pair(SMALL, StreamOptions.DEFAULT)) {
      move(pair, SMALL.sendBuffer() - 1 - 2000, 2000);
      long before = devices.client.counters().messagesSent();
      int writes = 40;
      for (int i = 0; i < writes; i++) {
        move(pair, 1000);
      }
      assertThat(devices.client.counters().messagesSent() - before).isBetween(40L, 80L);
    }
  }

  private static void move(TwoStreamDevices.Pair pair, int... lengths) throws IOException {
    for (int length : lengths) {
      TwoStreamDevices.writeFully(pair.client(), ByteBuffer.allocate(length));
      TwoStreamDevices.readFully(pair.server(), ByteBuffer.allocate(length));
    }
  }

  @Test
  void aWriterThatFindsNoRoomGetsZeroAndThenRoom() throws IOException {
    try (TwoStreamDevices.Pair pair = devices.pair(SMALL, SMALL)) {
      int written = 0;
      ByteBuffer source = ByteBuffer.allocate(1 << 20);
      while (pair.client().await(SelectionKey.OP_WRITE, System.nanoTime() + 100_000_000)) {
        written += pair.client().write(source);
      }
      assertThat(pair.client().write(source)).isZero();
      assertThat(pair.client().readyOps()).isZero();
      assertThat(written)
          .as("both halves of the peer's buffer, or a message for each credit")
          .isEqualTo(card.isConnectedByTcp() ? 16 * (512 - 4) : 4096);
      TwoStreamDevices.readFully(pair.server(), ByteBuffer.allocate(written / 2));
      assertThat(pair.client().await(SelectionKey.OP_WRITE, TwoStreamDevices.deadline())).isTrue();
      assertThat(pair.client().write(source)).isPositive();
    }
  }

  @Test
  void aReaderTakesAsMuchAsItHasRoomFor() throws IOException {
    try (TwoStreamDevices.Pair pair = devices.pair()) {
      TwoStreamDevices.writeFully(pair.client(), bytes(1, 2, 3, 4, 5));
      assertNext(pair.server(), 1, 2);
      assertThat(pair.server().readyOps() & SelectionKey.OP_READ).isNotZero();
      assertNext(pair.server(), 3, 4, 5);
      assertThat(pair.server().read(ByteBuffer.allocate(1))).isZero();
      assertThat(pair.server().readyOps()).isEqualTo(SelectionKey.OP_WRITE);
    }
  }

  // Ends.

  @Test
  void afterShutdownOfOneDirectionTheOtherGoesOn() throws IOException {
    try (TwoStreamDevices.Pair pair = devices.pair()) {
      TwoStreamDevices.writeFully(pair.client(), bytes(1));
      pair.client().shutdownOutput();
      assertNext(pair.server(), 1);
      assertEnd(pair.server());
      assertThatThrownBy(() -> pair.client().write(bytes(2)))
          .isInstanceOf(IOException.class)
          .hasMessage("Broken pipe");
      TwoStreamDevices.writeFully(pair.server(), bytes(3, 4));
      assertNext(pair.client(), 3, 4);
      pair.server().shutdownOutput();
      assertEnd(pair.client());
    }
  }

  @Test
  void whatWasWrittenBeforeACloseArrives() throws IOException {
    try (TwoStreamDevices.Pair pair = devices.pair()) {
      TwoStreamDevices.writeFully(pair.server(), bytes(1, 2, 3));
      pair.server().close();
      assertNext(pair.client(), 1, 2, 3);
      assertEnd(pair.client());
      assertThatThrownBy(() -> pair.client().write(bytes(2)))
          .isInstanceOf(IOException.class)
          .hasMessage("Broken pipe");
    }
  }

  @Test
  void bothMayCloseAtOnce() throws IOException {
    for (int i = 0; i < 50; i++) {
      TwoStreamDevices.Pair pair = devices.pair();
      CompletableFuture<Void> other = CompletableFuture.runAsync(pair.server()::close);
      pair.client().close();
      other.join();
    }
    assertNothingOpen();
  }

  private void assertNothingOpen() {
    long deadline = TwoStreamDevices.deadline();
    while (devices.client.counters().open() + devices.server.counters().open() > 0
        && System.nanoTime() < deadline) {
      Thread.onSpinWait();
    }
    assertThat(devices.client.counters().open()).isZero();
    assertThat(devices.server.counters().open()).isZero();
  }

  @Test
  void shutdownInputEndsReadingHere() throws IOException {
    try (TwoStreamDevices.Pair pair = devices.pair()) {
      pair.client().shutdownInput();
      assertThat(pair.client().read(ByteBuffer.allocate(1))).isEqualTo(-1);
      assertThat(pair.client().readyOps() & SelectionKey.OP_READ).isNotZero();
      TwoStreamDevices.writeFully(pair.client(), bytes(9));
      assertNext(pair.server(), 9);
    }
  }

  @Test
  void theEndOfThePeersDeviceEndsItsStreams() throws IOException {
    try (TwoStreamDevices.Pair pair = devices.pair()) {
      TwoStreamDevices.writeFully(pair.server(), bytes(1, 2, 3));
      devices.server.close();
      assertNext(pair.client(), 1, 2, 3);
      assertEnd(pair.client());
    }
  }

  // Waiting.

  @Test
  void aWaitEndsAtItsDeadline() throws IOException {
    try (TwoStreamDevices.Pair pair = devices.pair()) {
      long deadline = System.nanoTime() + 20_000_000;
      assertThat(pair.client().await(SelectionKey.OP_READ, deadline)).isFalse();
      assertThat(System.nanoTime() - deadline).isNotNegative();
    }
  }

  @Test
  void aWaitEndsWhenTheThreadIsWoken() throws Exception {
    for (Thread.Builder threads : new Thread.Builder[] {Thread.ofPlatform(), Thread.ofVirtual()}) {
      try (TwoStreamDevices.Pair pair = devices.pair()) {
        CompletableFuture<Boolean> waited = new CompletableFuture<>();
        Thread thread = threads.start(() -> complete(waited, pair.client(), SelectionKey.OP_READ));
        while (thread.getState() != Thread.State.TIMED_WAITING
            && thread.getState() != Thread.State.WAITING) {
          Thread.onSpinWait();
        }
        pair.client().wakeup();
        assertThat(waited.get(20, TimeUnit.SECONDS)).isTrue();
      }
    }
  }

  private static void complete(CompletableFuture<Boolean> waited, ByteStream stream, int ops) {
    try {
      waited.complete(stream.await(ops, Long.MAX_VALUE));
    } catch (IOException e) {
      waited.completeExceptionally(e);
    }
  }

  @Test
  void aThreadThatIsWokenBeforeItWaitsDoesNotWait() throws IOException {
    try (TwoStreamDevices.Pair pair = devices.pair()) {
      pair.client().wakeup();
      assertThat(pair.client().await(SelectionKey.OP_READ, Long.MAX_VALUE)).isTrue();
    }
  }

  /** Each of them sleeps, and whoever is woken takes what came for all. */
  @Test
  void manyThreadsWaitForStreamsOfOneEngine() throws Exception {
    int count = 40;
    TwoStreamDevices.Pair[] pairs = new TwoStreamDevices.Pair[count];
    CompletableFuture<?>[] read = new CompletableFuture<?>[count];
    for (int i = 0; i < count; i++) {
      TwoStreamDevices.Pair pair = devices.pair();
      pairs[i] = pair;
      CompletableFuture<Boolean> waited = new CompletableFuture<>();
      read[i] = waited;
      Thread.Builder threads = i % 2 == 0 ? Thread.ofPlatform() : Thread.ofVirtual();
      threads.start(() -> complete(waited, pair.server(), SelectionKey.OP_READ));
    }
    for (int i = count - 1; i >= 0; i--) {
      TwoStreamDevices.writeFully(pairs[i].client(), bytes(i));
    }
    CompletableFuture.allOf(read).get(20, TimeUnit.SECONDS);
    for (int i = 0; i < count; i++) {
      assertNext(pairs[i].server(), i);
      pairs[i].close();
    }
  }

  /** As a selector does it: the thread sleeps until it is woken, or a watcher is told. */
  @Test
  void aThreadThatSleepsIsWokenForAnyStream() throws Exception {
    try (TwoStreamDevices.Pair pair = devices.pair()) {
      ByteStream watched = pair.server();
      Semaphore woken = new Semaphore(0);
      Runnable wake = woken::release;
      watched.watch(wake);
      for (int i = 0; i < 100; i++) {
        TwoStreamDevices.writeFully(pair.client(), bytes(i));
        while ((watched.readyOps() & SelectionKey.OP_READ) == 0) {
          devices.server.beginSleep(wake);
          assertThat(woken.tryAcquire(20, TimeUnit.SECONDS)).as("message %d", i).isTrue();
          devices.server.endSleep(wake);
          devices.server.progress();
        }
        assertNext(watched, i);
      }
    }
  }

  @Test
  void aWatcherIsToldWhileAThreadWaitsForAnotherStream() throws Exception {
    try (TwoStreamDevices.Pair waited = devices.pair();
        TwoStreamDevices.Pair watched = devices.pair()) {
      CompletableFuture<Boolean> end = new CompletableFuture<>();
      Thread.ofPlatform().start(() -> complete(end, waited.server(), SelectionKey.OP_READ));
      AtomicInteger told = new AtomicInteger();
      watched.server().watch(told::incrementAndGet);
      for (int i = 0; i < 100; i++) {
        int before = told.get();
        TwoStreamDevices.writeFully(watched.client(), bytes(i));
        long deadline = TwoStreamDevices.deadline();
        while (told.get() == before && System.nanoTime() < deadline) {
          Thread.onSpinWait();
        }
        assertThat(told.get()).as("message %d", i).isGreaterThan(before);
        assertNext(watched.server(), i);
      }
      waited.server().wakeup();
      assertThat(end.get(20, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void aBufferWhoseMemoryIsGoneFailsItsWriteAndNothingElse() throws IOException {
    try (TwoStreamDevices.Pair pair = devices.pair()) {
      ByteBuffer gone;
      try (Arena arena = Arena.ofShared()) {
        gone = arena.allocate(100_000).asByteBuffer();
      }
      assertThatThrownBy(() -> pair.client().write(gone)).isInstanceOf(IllegalStateException.class);
      TwoStreamDevices.writeFully(pair.client(), bytes(1, 2, 3));
      assertThatThrownBy(() -> pair.server().read(gone)).isInstanceOf(IllegalStateException.class);
      assertNext(pair.server(), 1, 2, 3);
    }
  }

  /** The writer waits for room meanwhile. */
  @Test
  void aBufferThatIsClosedAmidAWriteEndsIt() throws Exception {
    try (TwoStreamDevices.Pair pair = devices.pair(SMALL, SMALL)) {
      Arena arena = Arena.ofShared();
      ByteBuffer source = arena.allocate(1_000_000).asByteBuffer();
      CompletableFuture<Void> end = new CompletableFuture<>();
      Thread writer =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      TwoStreamDevices.writeFully(pair.client(), source);
                      end.complete(null);
                    } catch (IOException | RuntimeException e) {
                      end.completeExceptionally(e);
                    }
                  });
      while (writer.getState() != Thread.State.TIMED_WAITING) {
        Thread.onSpinWait();
      }
      arena.close();
      int written = source.position();
      TwoStreamDevices.readFully(pair.server(), ByteBuffer.allocate(written));
      assertThat(end)
          .failsWithin(20, TimeUnit.SECONDS)
          .withThrowableThat()
          .withCauseInstanceOf(IllegalStateException.class);
      TwoStreamDevices.writeFully(pair.client(), bytes(9));
      assertNext(pair.server(), 9);
    }
  }

  @Test
  void countsWhatItHasMoved() throws IOException {
    try (TwoStreamDevices.Pair pair = devices.pair()) {
      TwoStreamDevices.writeFully(pair.client(), ByteBuffer.allocate(1000));
      TwoStreamDevices.readFully(pair.server(), ByteBuffer.allocate(1000));
      assertThat(devices.client.counters()).isEqualTo(new StreamCounters(1, 0, 1, 1000, 0, 1, 0));
      assertThat(devices.server.counters()).isEqualTo(new StreamCounters(0, 1, 1, 0, 1000, 0, 1));
    }
    assertNothingOpen();
    assertThat(devices.client.counters()).isEqualTo(new StreamCounters(1, 0, 0, 1000, 0, 1, 0));
  }
}

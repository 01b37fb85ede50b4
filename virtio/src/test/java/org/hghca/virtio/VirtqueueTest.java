package org.hghca.virtio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.SplittableRandom;
import org.hghca.vfio.DmaMapping;
import org.hghca.virtio.FakeDevice.Buffer;
import org.hghca.virtio.VirtioException.Reason;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** A queue of 8 descriptors, and both sides of it. */
class VirtqueueTest extends FakeDeviceFixture {
  private static final int AVAILABLE_FLAGS = 0;

  private VirtioDevice device;
  private Virtqueue queue;
  private FakeDevice.Queue seen;
  private long buffer;

  @BeforeEach
  void start() {
    start(0);
  }

  private void start(long features) {
    fake.features |= features;
    device = negotiated();
    queue = device.queue(0, 8, NO_VECTOR);
    device.start();
    seen = fake.queues[0];
    DmaMapping memory = device.allocate(4096);
    buffer = memory.iova(0);
  }

  private int submit(int bytes) {
    queue.put(buffer, bytes, true);
    return queue.submit();
  }

  private int availableFlags() {
    return (int) fake.get(seen.available + AVAILABLE_FLAGS, 2);
  }

  @Test
  void chainIsSeenAfterTheKickAsItWasDescribed() {
    assertThat(queue.nextId()).isZero();
    queue.put(buffer, 2, false);
    queue.put(buffer + 64, 300, false);
    queue.put(buffer + 1024, 1, true);
    assertThat(queue.nextId()).isZero();
    assertThat(queue.submit()).isZero();
    assertThat(queue.free()).isEqualTo(5);
    assertThat(fake.take(0)).isEqualTo(-1);
    assertThat(queue.inFlight()).isZero();

    assertThat(queue.kick()).isTrue();
    assertThat(queue.kick()).isFalse();

    assertThat(fake.notified).containsExactly(0);
    assertThat(queue.inFlight()).isEqualTo(1);
    int head = fake.take(0);
    assertThat(head).isZero();
    assertThat(fake.chain(0, head))
        .containsExactly(
            new Buffer(buffer, 2, false),
            new Buffer(buffer + 64, 300, false),
            new Buffer(buffer + 1024, 1, true));
  }

  @Test
  void usedChainComesBackWithItsLength() {
    int first = submit(100);
    int second = submit(200);
    queue.kick();
    assertThat(queue.poll()).isEqualTo(Virtqueue.NONE);
    fake.take(0);
    fake.take(0);
    fake.use(0, second, 200);
    fake.use(0, first, 0);
    assertThat(queue.poll()).isEqualTo(second);
    assertThat(queue.length()).isEqualTo(200);
    assertThat(queue.poll()).isEqualTo(first);
    assertThat(queue.length()).isZero();
    assertThat(queue.poll()).isEqualTo(Virtqueue.NONE);
    assertThat(queue.free()).isEqualTo(8);
    assertThat(queue.inFlight()).isZero();
  }

  @Test
  void chainsOfOneBufferAreDescribedAndHandedOverAtOnce() {
    assertThat(queue.submit(buffer, 100, true)).isZero();
    assertThat(queue.submit(buffer + 64, 7, false)).isEqualTo(1);
    assertThat(queue.free()).isEqualTo(6);
    queue.kick();
    assertThat(fake.chain(0, fake.take(0))).containsExactly(new Buffer(buffer, 100, true));
    assertThat(fake.chain(0, fake.take(0))).containsExactly(new Buffer(buffer + 64, 7, false));

    assertThatThrownBy(() -> queue.submit(buffer, 0, true))
        .isInstanceOf(IllegalArgumentException.class);
    queue.put(buffer, 1, true);
    assertThatThrownBy(() -> queue.submit(buffer, 1, true))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("is being described");
    assertThat(queue.submit()).isEqualTo(2);
    for (int i = 3; i < 8; i++) {
      assertThat(queue.submit(buffer, 1, true)).isEqualTo(i);
    }
    assertThatThrownBy(() -> queue.submit(buffer, 1, true))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("8 descriptors");
  }

  @Test
  void chainThatIsBackIsHandedOverAgainAsItWas() {
    submit(100);
    submit(200);
    queue.kick();
    fake.take(0);
    fake.take(0);
    fake.use(0, 1, 200);
    assertThat(queue.poll()).isEqualTo(1);
    queue.submitAgain(1);
    assertThat(queue.free()).isEqualTo(6);
    queue.kick();
    int head = fake.take(0);
    assertThat(head).isEqualTo(1);
    assertThat(fake.chain(0, head)).containsExactly(new Buffer(buffer, 200, true));
    fake.use(0, 1, 201);
    assertThatThrownBy(queue::poll).hasMessageContaining("201 bytes where 200 fit");
  }

  @Test
  void onlyTheChainThatCameBackLastIsHandedOverAgain() {
    submit(1);
    submit(1);
    queue.put(buffer, 1, true);
    queue.put(buffer, 1, true);
    queue.submit();
    queue.kick();
    assertThatThrownBy(() -> queue.submitAgain(0)).isInstanceOf(IllegalStateException.class);
    fake.use(0, 0, 1);
    fake.use(0, 1, 1);
    fake.use(0, 2, 1);
    queue.poll();
    assertThatThrownBy(() -> queue.submitAgain(1)).isInstanceOf(IllegalStateException.class);
    queue.submitAgain(0);
    assertThatThrownBy(() -> queue.submitAgain(0)).isInstanceOf(IllegalStateException.class);
    queue.poll();
    submit(1);
    assertThatThrownBy(() -> queue.submitAgain(1)).isInstanceOf(IllegalStateException.class);
    assertThat(queue.poll()).isEqualTo(2);
    assertThatThrownBy(() -> queue.submitAgain(2))
        .as("a chain of two buffers")
        .isInstanceOf(IllegalStateException.class);
    queue.put(buffer, 1, true);
    assertThatThrownBy(() -> queue.submitAgain(2)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void oneKickForAList() {
    submit(1);
    submit(2);
    submit(3);
    assertThat(queue.kick()).isTrue();
    assertThat(fake.notified).hasSize(1);
    assertThat(fake.take(0)).isEqualTo(0);
    assertThat(fake.take(0)).isEqualTo(1);
    assertThat(fake.take(0)).isEqualTo(2);
    assertThat(fake.take(0)).isEqualTo(-1);
  }

  @Test
  void publishedChainIsThereBeforeTheDeviceIsNotified() {
    submit(1);
    queue.publish();
    assertThat(fake.notified).isEmpty();
    assertThat(fake.take(0)).isZero();
    submit(2);
    assertThat(queue.kick()).isTrue();
    assertThat(fake.notified).hasSize(1);
    assertThat(fake.take(0)).isEqualTo(1);
    assertThat(queue.kick()).isFalse();
  }

  @Test
  void usedChainsCanBeLookedAtBeforeTheyComeBack() {
    int first = submit(100);
    int second = submit(200);
    queue.kick();
    assertThat(queue.pending()).isZero();
    fake.use(0, second, 2);
    fake.use(0, first, 1);
    assertThat(queue.pending()).isEqualTo(2);
    assertThat(queue.peek(0)).isEqualTo(second);
    assertThat(queue.peek(1)).isEqualTo(first);
    assertThat(queue.poll()).isEqualTo(second);
    assertThat(queue.pending()).isEqualTo(1);
    assertThat(queue.peek(0)).isEqualTo(first);
  }

  @Test
  void lookingAtAChainThatDoesNotExistFailsTheQueue() {
    submit(1);
    queue.kick();
    fake.use(0, 5, 0);
    assertThat(queue.pending()).isEqualTo(1);
    assertFailure(Reason.MALFORMED, () -> queue.peek(0))
        .withMessageContaining("it used chain 5, which it does not have");
    assertFailure(Reason.MALFORMED, queue::poll);
  }

  @Test
  void noKickWhenTheDeviceNeedsNone() {
    fake.put(seen.used, 2, 1);
    submit(1);
    assertThat(queue.kick()).isFalse();
    assertThat(fake.notified).isEmpty();
    assertThat(fake.take(0)).isZero();
    fake.put(seen.used, 2, 0);
    submit(1);
    assertThat(queue.kick()).isTrue();
    assertThat(fake.notified).hasSize(1);
  }

  @Test
  void interruptsAreAskedForByFlag() {
    assertThat(availableFlags()).isEqualTo(1);
    assertThat(queue.arm()).isTrue();
    assertThat(availableFlags()).isZero();
    queue.disarm();
    assertThat(availableFlags()).isEqualTo(1);
    submit(1);
    queue.kick();
    fake.use(0, fake.take(0), 0);
    assertThat(queue.arm()).isFalse();
    queue.poll();
    assertThat(queue.arm()).isTrue();
  }

  @Test
  void fullQueueRefusesMore() {
    for (int i = 0; i < 8; i++) {
      submit(1);
    }
    assertThat(queue.free()).isZero();
    assertThatThrownBy(() -> queue.put(buffer, 1, true))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContainingAll("queue 0", "8 descriptors");
    assertThatThrownBy(queue::nextId).isInstanceOf(IllegalStateException.class);
    queue.kick();
    fake.use(0, 5, 1);
    assertThat(queue.poll()).isEqualTo(5);
    assertThat(queue.nextId()).isEqualTo(5);
    assertThat(submit(1)).isEqualTo(5);
  }

  @Test
  void wrongChainsAreRefused() {
    assertThatThrownBy(queue::submit).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> queue.put(buffer, 0, true))
        .isInstanceOf(IllegalArgumentException.class);
    queue.put(buffer, 1, true);
    assertThatThrownBy(() -> queue.put(buffer, 1, false))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("come last");
    assertThat(queue.submit()).isZero();
    assertThat(queue.free()).isEqualTo(7);
  }

  @Test
  void indicesRunOverTheirEnd() {
    var random = new SplittableRandom(1);
    Deque<Integer> open = new ArrayDeque<>();
    int again = 0;
    for (int i = 0; i < 200_000; i++) {
      int buffers = 1 + random.nextInt(3);
      if (queue.free() >= buffers && random.nextBoolean()) {
        if (buffers == 1) {
          queue.submit(buffer, 10, true);
        } else {
          for (int j = 0; j < buffers; j++) {
            queue.put(buffer, 10, true);
          }
          queue.submit();
        }
        queue.kick();
      } else {
        for (int head = fake.take(0); head >= 0; head = fake.take(0)) {
          assertThat(fake.chain(0, head)).hasSizeBetween(1, 3);
          fake.use(0, head, head);
          open.add(head);
        }
        for (int id = queue.poll(); id != Virtqueue.NONE; id = queue.poll()) {
          assertThat(id).isEqualTo(open.remove());
          assertThat(queue.length()).isEqualTo(id);
          if (fake.chain(0, id).size() == 1 && random.nextInt(4) == 0) {
            queue.submitAgain(id);
            again++;
          }
        }
        assertThat(queue.free()).isEqualTo(8 - again);
        queue.kick();
        again = 0;
      }
    }
    assertThat(fake.notified.size()).isGreaterThan(1 << 16);
  }

  @Test
  void rewoundQueueIsAsNew() {
    submit(1);
    queue.put(buffer, 1, true);
    queue.kick();
    fake.use(0, 0, 1);
    queue.rewind();
    assertThat(queue.poll()).isEqualTo(Virtqueue.NONE);
    assertThat(queue.free()).isEqualTo(8);
    assertThat(queue.inFlight()).isZero();
    assertThat(fake.get(seen.available + 2, 2)).isZero();
    assertThat(fake.get(seen.used + 2, 2)).isZero();
    assertThat(availableFlags()).isEqualTo(1);
    assertThat(submit(1)).isZero();
  }

  /** What a device may not do; the queue fails, and stays so. */
  @Nested
  class Lies {
    private void assertQueueFails(String what) {
      assertFailure(Reason.MALFORMED, queue::poll).withMessageContainingAll("queue 0", what);
      assertFailure(Reason.MALFORMED, queue::poll).withMessageContaining(what);
      assertFailure(Reason.MALFORMED, () -> queue.put(buffer, 1, false));
      assertFailure(Reason.MALFORMED, queue::submit);
      assertFailure(Reason.MALFORMED, queue::kick);
      assertFailure(Reason.MALFORMED, queue::arm);
    }

    @Test
    void moreUsedThanThereAre() {
      submit(1);
      queue.kick();
      fake.put(seen.used + 2, 2, 2);
      assertQueueFails("claims 2 chains of 1");
    }

    @Test
    void usedIndexRunsBack() {
      submit(1);
      queue.kick();
      fake.put(seen.used + 2, 2, 0xffff);
      assertQueueFails("claims 65535 chains of 1");
    }

    @Test
    void usedThoughNothingIsVisible() {
      submit(1);
      fake.use(0, 0, 1);
      assertQueueFails("claims 1 chains of 0");
    }

    @Test
    void idOutOfRange() {
      submit(1);
      queue.kick();
      fake.use(0, 8, 1);
      assertQueueFails("used chain 8");
    }

    @Test
    void hugeId() {
      submit(1);
      queue.kick();
      fake.use(0, -1, 1);
      assertQueueFails("used chain 4294967295");
    }

    @Test
    void idInTheMiddleOfAChain() {
      queue.put(buffer, 1, false);
      queue.put(buffer, 1, true);
      queue.submit();
      queue.kick();
      fake.use(0, 1, 1);
      assertQueueFails("used chain 1");
    }

    @Test
    void sameChainTwice() {
      submit(1);
      submit(1);
      queue.kick();
      fake.use(0, 0, 1);
      fake.use(0, 0, 1);
      assertThat(queue.poll()).isZero();
      assertQueueFails("used chain 0");
    }

    @Test
    void longerThanTheBuffers() {
      queue.put(buffer, 100, false);
      queue.put(buffer, 10, true);
      queue.put(buffer, 20, true);
      queue.submit();
      queue.kick();
      fake.use(0, 0, 31);
      assertQueueFails("wrote 31 bytes where 30 fit");
    }

    @Test
    void hugeLength() {
      submit(4096);
      queue.kick();
      fake.use(0, 0, -1);
      assertQueueFails("wrote 4294967295 bytes where 4096 fit");
    }

    @Test
    void resetEndsTheFailure() {
      submit(1);
      queue.kick();
      fake.use(0, 8, 1);
      assertFailure(Reason.MALFORMED, queue::poll);
      queue.rewind();
      assertThat(queue.poll()).isEqualTo(Virtqueue.NONE);
    }
  }

  /** With EVENT_IDX. */
  @Nested
  class EventIndex {
    @BeforeEach
    void negotiateIt() {
      device.close();
      start(1L << 29);
      assertThat(device.has(29)).isTrue();
    }

    private long availableEvent() {
      return seen.used + 4 + 8 * 8;
    }

    private int usedEvent() {
      return (int) fake.get(seen.available + 4 + 2 * 8, 2);
    }

    @Test
    void kickOnlyWhereTheDeviceWantsIt() {
      fake.put(availableEvent(), 2, 2);
      submit(1);
      assertThat(queue.kick()).isFalse();
      submit(1);
      assertThat(queue.kick()).isFalse();
      submit(1);
      assertThat(queue.kick()).isTrue();
      submit(1);
      assertThat(queue.kick()).isFalse();
      assertThat(fake.notified).hasSize(1);
    }

    @Test
    void kickWhenAListRunsOverTheWantedEntry() {
      fake.put(availableEvent(), 2, 1);
      submit(1);
      submit(1);
      submit(1);
      assertThat(queue.kick()).isTrue();
    }

    @Test
    void flagOfTheDeviceHasNoMeaning() {
      fake.put(seen.used, 2, 1);
      submit(1);
      assertThat(queue.kick()).isTrue();
    }

    @Test
    void interruptsAreAskedForByEntry() {
      assertThat(usedEvent()).isEqualTo(0xffff);
      assertThat(queue.arm()).isTrue();
      assertThat(usedEvent()).isZero();
      submit(1);
      queue.kick();
      fake.use(0, fake.take(0), 0);
      queue.poll();
      assertThat(queue.arm()).isTrue();
      assertThat(usedEvent()).isEqualTo(1);
      queue.disarm();
      assertThat(usedEvent()).isZero();
    }
  }
}

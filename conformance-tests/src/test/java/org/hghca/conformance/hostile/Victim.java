package org.hghca.conformance.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.Context;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairAttributes;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WcStatus;

/** A program on a bad device: two queue pairs of one device that are connected to each other. */
final class Victim implements AutoCloseable {
  static final Duration LIMIT = Duration.ofMillis(30);

  private static final AtomicInteger NAMES = new AtomicInteger();
  private static final int SIZE = 4096;

  /** What was made, newest first. */
  private final ArrayDeque<AutoCloseable> made = new ArrayDeque<>();

  private final String name;
  Context context;
  CompletionQueue queue;
  QueuePair left;
  QueuePair right;
  MemoryRegion buffer;

  private Victim(String name) {
    this.name = name;
  }

  /** A name that no device has yet. */
  static String newName() {
    return "hostile" + NAMES.incrementAndGet();
  }

  private static String locator(String name) {
    return "hostile:%s?mode=inline&mac=02:00:00:00:00:01&ip=10.0.0.1&limit=%s"
        .formatted(name, LIMIT);
  }

  /** Opens a device and makes everything that traffic needs; on failure nothing stays open. */
  static Victim open(String name) {
    Victim victim = new Victim(name);
    try {
      victim.make();
      return victim;
    } catch (RuntimeException e) {
      victim.closeQuietly(e);
      throw e;
    }
  }

  private <T extends AutoCloseable> T made(T object) {
    made.push(object);
    return object;
  }

  private void make() {
    context = made(RdmaDevices.open(locator(name)));
    ProtectionDomain pd = made(context.allocateProtectionDomain());
    queue = made(context.createCompletionQueue(16));
    buffer =
        made(
            pd.allocate(
                2 * SIZE, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ));
    left = made(pd.createQueuePair(attributes()));
    right = made(pd.createQueuePair(attributes()));
    connect();
  }

  private QueuePairAttributes attributes() {
    return QueuePairAttributes.rc(queue, queue).sendDepth(16).receiveDepth(16);
  }

  private void connect() {
    ConnectionOptions options = ConnectionOptions.DEFAULT;
    for (QueuePair qp : new QueuePair[] {left, right}) {
      QueuePair peer = qp.equals(left) ? right : left;
      qp.modify(options.toInit(qp.type()));
      qp.modify(
          options.toRtr(qp.type(), new QpEndpoint(0, peer.number(), 0, context.queryGid(1, 0))));
      qp.modify(options.toRts(qp.type(), 0));
    }
  }

  Saboteur device() {
    return HostileProvider.device(name);
  }

  /** Sends a message from one queue pair to the other, and checks that it arrives. */
  void exchange() {
    send();
    Completions completions = new Completions(16);
    int found = 0;
    for (int n = queue.poll(completions); n > 0; n = queue.poll(completions)) {
      for (int i = 0; i < n; i++) {
        assertThat(completions.status(i)).isEqualTo(WcStatus.SUCCESS);
      }
      found += n;
    }
    assertThat(found).isEqualTo(2);
    assertThat(buffer.segment().asSlice(SIZE, SIZE).mismatch(buffer.segment().asSlice(0, SIZE)))
        .isEqualTo(-1);
  }

  /** Posts a message from one queue pair to the other. */
  void send() {
    buffer.segment().asSlice(0, SIZE).fill((byte) 'c');
    buffer.segment().asSlice(SIZE, SIZE).fill((byte) 's');
    right.postReceive(new ReceiveRequest().wrId(1).into(buffer, SIZE, SIZE));
    left.postSend(new SendRequest().wrId(2).send().sge(buffer, 0, SIZE).signaled());
  }

  /** Closes everything, newest first; the first failure, if there was one. */
  Optional<VerbsException> closeAll() {
    VerbsException first = null;
    for (AutoCloseable object : made) {
      try {
        object.close();
      } catch (VerbsException e) {
        first = first == null ? e : first;
      } catch (Exception e) {
        throw new AssertionError("close of " + object, e);
      }
    }
    return Optional.ofNullable(first);
  }

  private void closeQuietly(RuntimeException cause) {
    closeAll().ifPresent(cause::addSuppressed);
  }

  @Override
  public void close() {
    closeAll()
        .ifPresent(
            e -> {
              throw e;
            });
  }
}

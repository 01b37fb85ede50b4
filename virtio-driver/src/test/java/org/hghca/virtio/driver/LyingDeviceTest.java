package org.hghca.virtio.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random programs on a device that lies: it gives back what it did not get, invents completions and
 * answers, and writes over the rings. The program gets errors of the verbs and nothing else, never
 * the completion of a request that is not outstanding, and can always close everything.
 */
class LyingDeviceTest extends ScriptedDeviceFixture {
  private static final int PROGRAMS = 400;
  private static final int STEPS = 120;
  private static final int QUEUES = 15;

  private final Completions completions = new Completions(4);
  private final List<QueuePair> queuePairs = new ArrayList<>();
  private final List<AutoCloseable> objects = new ArrayList<>();
  private final Set<Long> outstanding = new HashSet<>();
  private final Set<Integer> scribbled = new HashSet<>();
  private ProtectionDomain pd;
  private CompletionQueue cq;
  private long wrId;
  private int lies;
  private int refusals;

  static IntStream programs() {
    return IntStream.range(0, PROGRAMS);
  }

  @AfterEach
  void closeObjects() {
    for (QueuePair qp : queuePairs) {
      attempt(qp::close);
    }
    for (AutoCloseable object : objects.reversed()) {
      attempt(object::close);
    }
    attempt(cq::close);
    attempt(pd::close);
  }

  @ParameterizedTest(name = "program {0}")
  @MethodSource("programs")
  void programGetsErrorsAndNothingElse(int seed) {
    Random random = new Random(seed);
    pd = context.allocateProtectionDomain();
    cq = completionQueue();
    queuePairs.add(connected(pd, cq));
    device.answer(9, data -> ScriptedDevice.number(3));
    queuePairs.add(connected(pd.createQueuePair(sized(QueuePairConfig.rc(cq, cq)))));
    double liar = random.nextInt(4) == 0 ? 0.3 : 0.03;

    for (int step = 0; step < STEPS; step++) {
      if (random.nextDouble() < liar) {
        lies++;
        lie(random);
      } else if (random.nextInt(3) == 0) {
        serve(random);
      } else {
        attempt(() -> act(random));
      }
    }

    assertThat(lies + refusals).as("what happened").isPositive();
  }

  /** Runs a part of a program; only errors of the verbs may come out of it. */
  private void attempt(Part part) {
    try {
      part.run();
    } catch (VerbsException e) {
      assertThat(e.getMessage()).isNotBlank();
      refusals++;
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private interface Part {
    void run() throws Exception;
  }

  // ---- the program

  private void act(Random random) {
    QueuePair qp = queuePairs.get(random.nextInt(queuePairs.size()));
    switch (random.nextInt(14)) {
      case 0, 1, 2 -> postSend(qp, random);
      case 3, 4 -> postReceive(qp);
      case 5, 6, 7, 8 -> poll();
      case 9 -> qp.flushSends();
      case 10 -> cq.requestNotify(random.nextBoolean());
      case 11 -> move(qp, random);
      case 12 -> make(random);
      default -> {
        context.queryPort(1);
        assertThat(qp.query()).isNotNull();
      }
    }
  }

  private void postSend(QueuePair qp, Random random) {
    SendRequest request = new SendRequest(2).wrId(++wrId);
    switch (random.nextInt(4)) {
      case 0 -> request.rdmaWrite(8, 8).sge(0x1000, 64, 5);
      case 1 -> request.rdmaRead(8, 8).sge(0x1000, 64, 5);
      case 2 -> request.sendWithImmediate(7).sge(0x1000, 64, 5);
      default -> request.send();
    }
    if (random.nextBoolean()) {
      request.signaled();
    }
    outstanding.add(wrId); // a doorbell may fail when the request is in the ring already
    boolean posted = random.nextBoolean() ? qp.tryPostSend(request) : qp.tryEnqueueSend(request);
    if (!posted) {
      outstanding.remove(request.wrId());
    }
  }

  private void postReceive(QueuePair qp) {
    outstanding.add(++wrId);
    if (!qp.tryPostReceive(new ReceiveRequest(1).wrId(wrId).sge(0x1000, 64, 5))) {
      outstanding.remove(wrId);
    }
  }

  private void poll() {
    int count = cq.poll(completions);
    for (int i = 0; i < count; i++) {
      assertThat(outstanding.remove(completions.wrId(i)))
          .as(completions.describe(i) + " is of an outstanding request")
          .isTrue();
    }
  }

  private static void move(QueuePair qp, Random random) {
    if (random.nextBoolean()) {
      qp.modify(QpAttributes.to(QpState.ERR));
    } else {
      qp.modify(QpAttributes.to(QpState.RESET));
      connected(qp);
    }
  }

  private void make(Random random) {
    switch (random.nextInt(4)) {
      case 0 -> objects.add(pd.allocate(4096, AccessFlag.LOCAL_WRITE));
      case 1 -> objects.add(pd.createAddressHandle(AddressVector.to(PEER, 0)));
      case 2 -> objects.add(context.createCompletionQueue(CompletionQueueConfig.of(4)));
      default -> {
        CompletionChannel channel = context.createCompletionChannel();
        objects.add(channel);
      }
    }
  }

  // ---- the device

  /** Does what an honest device might do with a request. */
  private void serve(Random random) {
    int qp = 2 + random.nextInt(2);
    int queue = (random.nextBoolean() ? ScriptedDevice.FIRST_SQ : ScriptedDevice.FIRST_RQ) + 2 * qp;
    if (isReadable(queue)
        && isReadable(ScriptedDevice.FIRST_CQ)
        && device.available(queue) > 0
        && device.available(ScriptedDevice.FIRST_CQ) > 0) {
      byte[] request = device.take(queue);
      device.use(queue);
      int receives = (queue - ScriptedDevice.FIRST_SQ) % 2;
      device.complete(0, entry(request, random.nextInt(8) == 0 ? 9 : 0, 3 * receives, qp));
    }
  }

  /** Whether the device can read a virtqueue that it may have written over. */
  private boolean isReadable(int queue) {
    return device.isUsable(queue) && !scribbled.contains(queue);
  }

  private void lie(Random random) {
    switch (random.nextInt(8)) {
      case 0 -> {
        int queue = random.nextInt(QUEUES);
        device.scribble(queue, random);
        scribbled.add(queue);
      }
      case 1 -> device.advance(random.nextInt(QUEUES), random.nextInt(1 << 16));
      case 2 -> device.advance(random.nextInt(QUEUES), 1);
      case 3 -> {
        if (isReadable(ScriptedDevice.FIRST_CQ) && device.available(ScriptedDevice.FIRST_CQ) > 0) {
          byte[] entry = new byte[48];
          random.nextBytes(entry);
          if (random.nextBoolean()) { // of a queue pair that exists
            entry = entry(entry, entry[8] & 15, entry[9] & 7, 2 + random.nextInt(2));
          }
          device.complete(0, entry);
        }
      }
      case 4 -> {
        int command = random.nextInt(18);
        byte[] answer = new byte[random.nextInt(160)];
        random.nextBytes(answer);
        device.answer(command, random.nextInt(4) == 0 ? data -> null : data -> answer);
      }
      case 5 -> {
        device.configuration.put(random.nextInt(32), (byte) random.nextInt());
        device.configurationChanged();
      }
      case 6 -> device.interrupt(random.nextInt(QUEUES));
      default -> {
        if (random.nextInt(8) == 0) {
          device.status |= 0x40; // DEVICE_NEEDS_RESET
          device.configurationChanged();
        }
      }
    }
  }
}

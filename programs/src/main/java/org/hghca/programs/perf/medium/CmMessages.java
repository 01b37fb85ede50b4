package org.hghca.programs.perf.medium;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Optional;
import org.hghca.cm.CmId;
import org.hghca.programs.Opened;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Context;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcStatus;

/**
 * A reliable queue pair of an identifier, for messages as SENDs. One receive is posted at any time,
 * so that the peer must not send again before it has an answer. While it waits for a message, an
 * empty RDMA WRITE now and then shows whether the peer can be reached: a process that is killed
 * takes no leave. One thread uses it.
 */
final class CmMessages implements AutoCloseable {
  private static final int LONGEST = Agreement.LENGTH;
  private static final int SENDS = 2;
  private static final int DEPTH = SENDS + 1;
  private static final long SENT = 1;
  private static final long RECEIVED = 2;
  private static final long PROBED = 3;

  /** How long a peer is silent before it is probed. */
  private static final Duration SILENCE = Duration.ofSeconds(5);

  private final Opened opened = new Opened();
  private final CompletionChannel channel;
  private final CompletionQueue queue;
  private final MemoryRegion out;
  private final MemoryRegion in;
  private final QueuePair pair;
  private final Completions one = new Completions(1);
  private final boolean probes;
  private Optional<byte[]> arrived = Optional.empty();
  private boolean probing;

  /** Makes the queue pair and posts the receive. */
  CmMessages(CmId id) {
    Context context = id.context();
    probes = context.queryDevice().has(DeviceFeature.ZERO_LENGTH);
    try {
      channel = opened.add(context.createCompletionChannel());
      CompletionQueueConfig config = CompletionQueueConfig.of(DEPTH).withChannel(channel);
      queue = opened.add(context.createCompletionQueue(config));
      ProtectionDomain pd = opened.add(context.allocateProtectionDomain());
      out = opened.add(pd.allocate(LONGEST));
      in = opened.add(pd.allocate(LONGEST, AccessFlag.LOCAL_WRITE));
      QueuePairConfig one = QueuePairConfig.rc(queue, queue).sendDepth(SENDS).receiveDepth(1);
      pair = opened.add(id.createQueuePair(pd, one));
      postReceive();
    } catch (RuntimeException e) {
      opened.close();
      throw e;
    }
  }

  private void postReceive() {
    pair.postReceive(new ReceiveRequest().wrId(RECEIVED).into(in));
  }

  /**
   * Sends a message, and waits until the peer has it.
   *
   * @return success, or why not; empty when the time is over
   */
  Optional<WcStatus> send(byte[] message, Duration limit) throws InterruptedException {
    MemorySegment.copy(message, 0, out.segment(), ValueLayout.JAVA_BYTE, 0, message.length);
    pair.postSend(new SendRequest().wrId(SENT).send().sge(out, 0, message.length).signaled());
    return await(SENT, limit);
  }

  /**
   * Waits for a message, which {@link #message} then returns.
   *
   * @return success, or why there is none; empty when the time is over
   */
  Optional<WcStatus> receive(Duration limit) throws InterruptedException {
    return arrived.isPresent() ? Optional.of(WcStatus.SUCCESS) : await(RECEIVED, limit);
  }

  /** Takes the message that arrived. */
  byte[] message() {
    byte[] message = arrived.orElseThrow();
    arrived = Optional.empty();
    return message;
  }

  private Optional<WcStatus> await(long request, Duration limit) throws InterruptedException {
    long deadline = System.nanoTime() + limit.toNanos();
    while (true) {
      while (queue.poll(one) == 0) {
        queue.requestNotify(false);
        if (queue.poll(one) != 0) {
          break;
        }
        Duration left = Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
        boolean silent = left.compareTo(SILENCE) > 0;
        if (channel.await(silent ? SILENCE : left).isEmpty()) {
          if (!silent) {
            return Optional.empty();
          }
          if (request == RECEIVED) {
            probe();
          }
        }
      }
      boolean received = one.wrId(0) == RECEIVED;
      if (received && one.isSuccess(0)) {
        arrived =
            Optional.of(in.segment().asSlice(0, one.byteLength(0)).toArray(ValueLayout.JAVA_BYTE));
        postReceive();
      }
      if (one.wrId(0) == PROBED) {
        probing = false;
      }
      if (one.wrId(0) == request || !one.isSuccess(0)) {
        return Optional.of(one.status(0));
      }
    }
  }

  /** It needs no rights, takes no receive, and fails if nobody answers. */
  private void probe() {
    if (probes && !probing) {
      probing = true;
      pair.postSend(new SendRequest().wrId(PROBED).rdmaWrite(0, 0).signaled());
    }
  }

  @Override
  public void close() {
    opened.close();
  }
}

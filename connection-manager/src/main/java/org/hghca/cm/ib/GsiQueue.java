package org.hghca.cm.ib;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import org.hghca.cm.mad.Mad;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.CompletionQueueConfig;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Context;
import org.hghca.verbs.Gid;
import org.hghca.verbs.GidEntry;
import org.hghca.verbs.GlobalRouteHeader;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;

/**
 * The queue pair of the general services with its memory: slots of one datagram each, those to send
 * behind those to receive. For one thread.
 *
 * <p>Each datagram has an address handle of its own, from its post to its completion: a neighbor's
 * new Ethernet address is used at once, and no peer makes a table grow.
 */
final class GsiQueue implements AutoCloseable {
  private static final ConditionLog LOG = ConditionLog.of(GsiQueue.class);

  private static final int RECEIVES = 1024;
  private static final int SENDS = 128;
  private static final long PAUSE = 100_000;
  private static final int SLOT = GlobalRouteHeader.LENGTH + Mad.LENGTH;

  private final Context context;
  private final ProtectionDomain pd;
  private final CompletionChannel channel;
  private final CompletionQueue completions;
  private final MemoryRegion memory;
  private final QueuePair qp;
  private final SendRequest send = new SendRequest();
  private final ReceiveRequest receive = new ReceiveRequest();
  private final Completions polled = new Completions(64);
  private final AddressHandle[] handles = new AddressHandle[SENDS];
  private final ArrayDeque<Integer> free = new ArrayDeque<>(SENDS);

  /** What to close, the last opened first. */
  private final ArrayDeque<AutoCloseable> opened = new ArrayDeque<>();

  private GsiQueue(Context context) {
    this.context = context;
    try {
      this.pd = opens(context.allocateProtectionDomain());
      this.channel = opens(context.createCompletionChannel());
      this.completions =
          opens(
              context.createCompletionQueue(
                  CompletionQueueConfig.of(RECEIVES + SENDS).withChannel(channel)));
      this.memory = opens(pd.allocate((long) (RECEIVES + SENDS) * SLOT, AccessFlag.LOCAL_WRITE));
      opened.push(this::closeHandles);
      this.qp =
          opens(
              pd.createQueuePair(
                  QueuePairConfig.gsi(completions, completions)
                      .sendDepth(SENDS)
                      .receiveDepth(RECEIVES)));
      qp.activate(QueuePair.GSI_QKEY);
      for (int slot = 0; slot < RECEIVES; slot++) {
        post(slot);
      }
    } catch (RuntimeException e) {
      closeAll().ifPresent(e::addSuppressed);
      throw e;
    }
    for (int slot = 0; slot < SENDS; slot++) {
      free.add(slot);
    }
  }

  private <T extends AutoCloseable> T opens(T object) {
    opened.push(object);
    return object;
  }

  /**
   * Takes the queue pair, or leaves nothing open.
   *
   * @throws VerbsException as {@link IbCarrier#of}
   */
  static GsiQueue open(Context context) {
    return new GsiQueue(context);
  }

  private About about() {
    return About.device(context.device().name()).qpn(QueuePair.GSI_NUMBER);
  }

  CompletionQueue completions() {
    return completions;
  }

  CompletionChannel channel() {
    return channel;
  }

  /**
   * Sends a datagram.
   *
   * @return false when all slots are in use
   * @throws VerbsException when there is no way to the destination, or the queue pair takes no
   *     requests; the slot stays free
   */
  boolean send(byte[] mad, AddressVector to) {
    if (free.isEmpty()) {
      return false;
    }
    AddressHandle handle = pd.createAddressHandle(to);
    int slot = free.getFirst();
    long at = (long) (RECEIVES + slot) * SLOT;
    MemorySegment.copy(mad, 0, memory.segment(), ValueLayout.JAVA_BYTE, at, mad.length);
    try {
      qp.postSend(
          send.wrId(RECEIVES + slot)
              .send()
              .to(handle, QueuePair.GSI_NUMBER, QueuePair.GSI_QKEY)
              .sge(memory, at, mad.length)
              .signaled());
    } catch (RuntimeException e) {
      handle.close();
      throw e;
    }
    free.removeFirst();
    handles[slot] = handle;
    return true;
  }

  /**
   * Polls once.
   *
   * @param received gets each datagram that came
   * @return whether there was anything
   */
  boolean poll(BiConsumer<byte[], Arrival> received) {
    int count = completions.poll(polled);
    for (int i = 0; i < count; i++) {
      int slot = (int) polled.wrId(i);
      if (slot >= RECEIVES) {
        sent(slot - RECEIVES, i);
      } else if (polled.isSuccess(i)) {
        take(slot, i, received);
        post(slot);
      } else {
        LOG.warn(about(), "a receive of the connection manager has failed: {}", polled.describe(i));
      }
    }
    return count > 0;
  }

  private void sent(int slot, int completion) {
    handles[slot].close();
    free.add(slot);
    if (!polled.isSuccess(completion)) {
      LOG.warn(
          about(), "a send of the connection manager has failed: {}", polled.describe(completion));
      if (qp.state() == QpState.SQE) {
        qp.modify(QpAttributes.to(QpState.RTS));
      }
    }
  }

  /** Passes on a datagram that queue pair 1 of a peer has sent to an own GID. */
  private void take(int slot, int completion, BiConsumer<byte[], Arrival> received) {
    if (polled.sourceQp(completion) != QueuePair.GSI_NUMBER
        || (polled.flags(completion) & Completions.GRH) == 0
        || polled.byteLength(completion) != SLOT) {
      LOG.debug(about(), "dropped: {}", polled.describe(completion));
      return;
    }
    MemorySegment bytes = memory.segment().asSlice((long) slot * SLOT, SLOT);
    GlobalRouteHeader header;
    try {
      header = GlobalRouteHeader.of(bytes);
    } catch (VerbsException e) {
      LOG.debug(about(), "dropped: {}", polled.describe(completion), e);
      return;
    }
    byte[] mad = bytes.asSlice(GlobalRouteHeader.LENGTH, Mad.LENGTH).toArray(ValueLayout.JAVA_BYTE);
    for (GidEntry own : context.queryGidTable()) {
      if (own.port() == Arrival.PORT && own.gid().equals(header.destinationGid())) {
        Gid source = header.sourceGid();
        received.accept(mad, new Arrival(source, own.gid(), own.index(), header.trafficClass()));
        return;
      }
    }
  }

  /** Waits until the device has sent what was posted, or a time is over. */
  void drain(Duration limit) {
    long end = System.nanoTime() + limit.toNanos();
    while (free.size() < SENDS && System.nanoTime() < end) {
      if (!poll((_, _) -> {})) {
        LockSupport.parkNanos(PAUSE);
      }
    }
  }

  private void post(int slot) {
    qp.postReceive(receive.wrId(slot).into(memory, (long) slot * SLOT, SLOT));
  }

  /**
   * Closes everything, also where closing fails on the way.
   *
   * @throws VerbsException the first failure; those after it are suppressed
   */
  @Override
  public void close() {
    Optional<RuntimeException> failure = closeAll();
    if (failure.isPresent()) {
      throw failure.get();
    }
  }

  private Optional<RuntimeException> closeAll() {
    Optional<RuntimeException> first = Optional.empty();
    while (!opened.isEmpty()) {
      try {
        opened.pop().close();
      } catch (Exception e) {
        RuntimeException failure =
            e instanceof RuntimeException unchecked ? unchecked : new IllegalStateException(e);
        first.ifPresent(earlier -> earlier.addSuppressed(failure));
        first = first.or(() -> Optional.of(failure));
      }
    }
    return first;
  }

  private void closeHandles() {
    for (AddressHandle handle : handles) {
      if (handle != null) {
        handle.close();
      }
    }
  }
}

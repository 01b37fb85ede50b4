package org.hghca.programs.perf.run;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.function.BooleanSupplier;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.SendRequest;

/** RDMA WRITEs whose last byte is their number, which the other side waits for in its memory. */
final class WriteRound implements Round {
  private static final VarHandle BYTE = JAVA_BYTE.varHandle();

  private final boolean client;
  private final QueuePair pair;
  private final SendRequest request;
  private final MemorySegment memory;
  private final long lastSent;
  private final long lastReceived;
  private final Completed sent;
  private final Waiting waiting;

  WriteRound(Resources resources, boolean client, long size) {
    this.client = client;
    pair = resources.pairs().getFirst();
    request = new SendRequests(resources, 0, size).at(0).signaled();
    memory = resources.memory().segment();
    lastSent = resources.buffers().sendOffset(0) + size - 1;
    lastReceived = resources.buffers().receiveOffset(0) + size - 1;
    sent = new Completed(resources, resources.sends(), "an RDMA WRITE");
    waiting = new Waiting(resources, () -> "the peer wrote nothing");
  }

  @Override
  public boolean begins() {
    return !client;
  }

  @Override
  public boolean receive(long number, BooleanSupplier over) {
    byte expected = (byte) number;
    while ((byte) BYTE.getAcquire(memory, lastReceived) != expected) {
      if (over.getAsBoolean() || !waiting.pause()) {
        return false;
      }
    }
    waiting.progress();
    return true;
  }

  @Override
  public boolean send(long number) {
    memory.set(JAVA_BYTE, lastSent, (byte) number);
    pair.postSend(request);
    return sent.await();
  }
}

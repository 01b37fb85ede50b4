package org.hghca.conformance.interop;

import static java.nio.ByteOrder.nativeOrder;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;

/** The software HCA's end. */
final class OurEnd implements End, AutoCloseable {
  private static final int PATIENCE_SECONDS = 60;

  private final MemoryRegion region;
  private final CompletionQueue completions;
  private final QueuePair queuePair;
  private final MemorySegment memory;

  OurEnd(Bench bench, QpType type, long bytes) {
    region = bench.domain().allocate(bytes, bench.access());
    memory = region.segment();
    completions = bench.context().createCompletionQueue(512);
    queuePair =
        bench
            .domain()
            .createQueuePair(
                QueuePairConfig.of(type, completions, completions).sendDepth(64).receiveDepth(256));
  }

  QueuePair queuePair() {
    return queuePair;
  }

  @Override
  public long address() {
    return region.address();
  }

  @Override
  public int rkey() {
    return region.rkey();
  }

  @Override
  public void fill(long offset, long length, int seed) {
    for (long i = 0; i < length; i++) {
      memory.set(ValueLayout.JAVA_BYTE, offset + i, (byte) ((seed + i) % PRIME));
    }
  }

  @Override
  public void zero(long offset, long length) {
    memory.asSlice(offset, length).fill((byte) 0);
  }

  @Override
  public long differs(long offset, long length, int seed) {
    for (long i = 0; i < length; i++) {
      if (memory.get(ValueLayout.JAVA_BYTE, offset + i) != (byte) ((seed + i) % PRIME)) {
        return i;
      }
    }
    return -1;
  }

  @Override
  public long number(long offset) {
    return memory.get(ValueLayout.JAVA_LONG.withOrder(nativeOrder()), offset);
  }

  @Override
  public void number(long offset, long value) {
    memory.set(ValueLayout.JAVA_LONG.withOrder(nativeOrder()), offset, value);
  }

  @Override
  public void receive(long wr, long offset, long length) {
    queuePair.postReceive(new ReceiveRequest().wrId(wr).into(region, offset, length));
  }

  @Override
  public void send(Work work) {
    queuePair.postSend(
        request(work).wrId(work.wr()).sge(region, work.offset(), work.length()).signaled());
  }

  /** Sends a datagram. */
  void send(Work work, AddressHandle handle, int qpn, int qkey) {
    queuePair.postSend(
        request(work)
            .to(handle, qpn, qkey)
            .wrId(work.wr())
            .sge(region, work.offset(), work.length())
            .signaled());
  }

  /** Waits for a completion, as the verbs report it. */
  Completions completed() {
    Completions one = new Completions(1);
    Instant end = Instant.now().plusSeconds(PATIENCE_SECONDS);
    while (completions.poll(one) == 0) {
      if (Instant.now().isAfter(end)) {
        throw new AssertionError("nothing has come");
      }
      Pause.briefly();
    }
    return one;
  }

  /** The 40 bytes in front of a datagram that is at the beginning of the buffer. */
  MemorySegment header() {
    return memory.asSlice(0, 40);
  }

  int number() {
    return queuePair.number();
  }

  private static SendRequest request(Work work) {
    SendRequest request = new SendRequest();
    return switch (work.kind()) {
      case "send" -> request.send();
      case "send_imm" -> request.sendWithImmediate(work.immediate());
      case "write" -> request.rdmaWrite(work.remoteAddress(), work.rkey());
      case "write_imm" ->
          request.rdmaWriteWithImmediate(work.remoteAddress(), work.rkey(), work.immediate());
      case "read" -> request.rdmaRead(work.remoteAddress(), work.rkey());
      case "swap" ->
          request.compareAndSwap(work.remoteAddress(), work.rkey(), work.compare(), work.operand());
      case "add" -> request.fetchAndAdd(work.remoteAddress(), work.rkey(), work.operand());
      default -> throw new IllegalArgumentException(work.kind());
    };
  }

  @Override
  public List<Result> poll(int count) {
    return poll(count, PATIENCE_SECONDS);
  }

  @Override
  public List<Result> poll(int count, int seconds) {
    Instant end = Instant.now().plus(Duration.ofSeconds(seconds));
    List<Result> found = new ArrayList<>();
    while (found.size() < count && Instant.now().isBefore(end)) {
      Completions batch = new Completions(count - found.size());
      int polled = completions.poll(batch);
      for (int i = 0; i < polled; i++) {
        found.add(result(batch, i));
      }
      if (polled == 0) {
        Pause.briefly();
      }
    }
    return found;
  }

  private static Result result(Completions of, int index) {
    return new Result(
        of.status(index),
        of.isSuccess(index) ? of.opcode(index).code() : 0,
        of.wrId(index),
        of.byteLength(index),
        of.hasImmediate(index) ? of.immediate(index) : 0,
        of.sourceQp(index),
        of.flags(index));
  }

  @Override
  public QpState state() {
    return queuePair.query().state();
  }

  @Override
  public void destroy() {
    queuePair.close();
  }

  @Override
  public void close() {
    queuePair.close();
    completions.close();
    region.close();
  }
}

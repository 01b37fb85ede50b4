package org.hghca.programs.rdmacm;

import java.io.PrintWriter;
import java.lang.foreign.MemorySegment;
import java.util.function.BiFunction;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Completions;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WcStatus;

/**
 * One end of an rping's connection: its queue pair and its memory. One receive is posted at any
 * time. One thread uses it, but for {@link #disconnected}.
 */
final class RpingEnd implements AutoCloseable {
  private static final int SEND_DEPTH = 16;
  private static final int RECEIVE_DEPTH = 2;

  private final PrintWriter err;
  private final Arrivals arrivals;
  private final MemoryRegion control;
  private final MemoryRegion received;
  private final MemoryRegion data;
  private final MemoryRegion source;
  private final QueuePair qp;
  private volatile boolean disconnected;

  /**
   * Makes the queue pair and posts the first receive.
   *
   * @param size bytes of a ping
   * @param create makes a queue pair of the protection domain
   */
  RpingEnd(
      ProtectionDomain pd,
      int size,
      BiFunction<ProtectionDomain, QueuePairConfig, QueuePair> create,
      PrintWriter err) {
    this.err = err;
    arrivals = new Arrivals(pd.context(), 2 * SEND_DEPTH);
    control = pd.allocate(Advertisement.BYTES);
    received = pd.allocate(Advertisement.BYTES, AccessFlag.LOCAL_WRITE);
    data = remote(pd, size);
    source = remote(pd, size);
    qp =
        create.apply(
            pd,
            QueuePairConfig.rc(arrivals.queue(), arrivals.queue())
                .sendDepth(SEND_DEPTH)
                .receiveDepth(RECEIVE_DEPTH));
    postReceive();
  }

  private static MemoryRegion remote(ProtectionDomain pd, int size) {
    return pd.allocate(
        size, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
  }

  QueuePair queuePair() {
    return qp;
  }

  /** What the peer's data is read into and written from, and where it writes to. */
  MemorySegment data() {
    return data.segment();
  }

  /** The data of the client's pings. */
  MemorySegment source() {
    return source.segment();
  }

  /** The peer has ended the connection: what fails from now on does so for that reason. */
  void disconnected() {
    disconnected = true;
  }

  private void postReceive() {
    qp.postReceive(new ReceiveRequest().into(received));
  }

  /** Names the source to the peer. */
  void advertiseSource() {
    advertise(source);
  }

  /** Names the data to the peer. */
  void advertiseData() {
    advertise(data);
  }

  private void advertise(MemoryRegion region) {
    new Advertisement(region.address(), region.rkey(), (int) region.length())
        .writeTo(control.segment());
    send();
  }

  /** Tells the peer to go on: a message whose contents mean nothing. */
  void send() {
    qp.postSend(new SendRequest().send().sge(control).signaled());
  }

  /** Reads the peer's memory into the data, and waits until it is there. */
  void read(Advertisement from) throws InterruptedException {
    if (from.size() > data.length()) {
      err.println(
          "the peer's ping has %d bytes, and this end has room for %d: give both the same -S"
              .formatted(from.size(), data.length()));
      throw new RpingEndedException(RpingState.RDMA_READ_COMPLETE, RpingState.ERROR);
    }
    qp.postSend(
        new SendRequest()
            .rdmaRead(from.address(), from.rkey())
            .sge(data, 0, from.size())
            .signaled());
    await(WcOpcode.RDMA_READ, RpingState.RDMA_READ_COMPLETE);
  }

  /** Writes the text of the data and its zero to the peer's memory, and waits for the end of it. */
  void write(Advertisement to) throws InterruptedException {
    long length = Math.min(PingText.length(data.segment()) + 1, data.length());
    qp.postSend(
        new SendRequest().rdmaWrite(to.address(), to.rkey()).sge(data, 0, length).signaled());
    await(WcOpcode.RDMA_WRITE, RpingState.RDMA_WRITE_COMPLETE);
  }

  /** Waits for a message of the peer, which brings this end into a state. */
  Advertisement receive(RpingState state) throws InterruptedException {
    Completions completion = await(WcOpcode.RECV, state);
    if (completion.byteLength(0) != Advertisement.BYTES) {
      err.println("Received bogus data, size " + completion.byteLength(0));
      err.println("recv wc error: -1");
      throw new RpingEndedException(state, RpingState.ERROR);
    }
    Advertisement advertisement = Advertisement.readFrom(received.segment());
    postReceive();
    return advertisement;
  }

  private Completions await(WcOpcode opcode, RpingState state) throws InterruptedException {
    while (true) {
      Completions completion = arrivals.take();
      WcStatus status = completion.status(0);
      if (status != WcStatus.SUCCESS) {
        if (disconnected) {
          throw new RpingEndedException(state, RpingState.DISCONNECTED);
        }
        err.println("cq completion failed status " + status.code());
        throw new RpingEndedException(state, RpingState.ERROR);
      }
      if (completion.opcode(0) == opcode) {
        return completion;
      }
    }
  }

  @Override
  public void close() {
    qp.close();
    source.close();
    data.close();
    received.close();
    control.close();
    arrivals.close();
  }
}

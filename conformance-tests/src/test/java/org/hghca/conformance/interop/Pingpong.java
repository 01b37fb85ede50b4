package org.hghca.conformance.interop;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.Gid;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.MemorySlice;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.SharedReceiveQueue;
import org.hghca.verbs.SharedReceiveQueueConfig;

/**
 * The other end of {@code ibv_rc_pingpong}, {@code ibv_uc_pingpong}, {@code ibv_ud_pingpong} and
 * {@code ibv_srq_pingpong}, by their protocol: endpoints of 52 bytes over TCP, then messages to and
 * fro on each queue pair, of bytes 7Bh, or 0 where a receive queue is shared.
 */
final class Pingpong implements AutoCloseable {
  private static final int ENDPOINT_BYTES = 52;
  private static final int SHARED_ENDPOINTS = 256;
  private static final byte[] DONE = "done\0".getBytes(StandardCharsets.US_ASCII);
  private static final int GRH_BYTES = 40;
  private static final int DEPTH = 100;
  private static final int QKEY = 0x11111111;
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final long RECEIVE = 1;
  private static final long SEND = 2;

  /** A queue pair, and its destination. */
  private static final class Lane {
    private final QueuePair queuePair;
    private final int psn = ThreadLocalRandom.current().nextInt(1 << 24);
    private QpEndpoint peer;
    private AddressHandle handle;
    private boolean sending;
    private boolean replies;

    Lane(QueuePair queuePair) {
      this.queuePair = queuePair;
    }
  }

  private final QpType type;
  private final MemoryRegion region;
  private final CompletionQueue completions;
  private final Optional<SharedReceiveQueue> shared;
  private final List<Lane> lanes = new ArrayList<>();
  private final Map<Integer, Lane> byNumber = new HashMap<>();
  private final Bench bench;
  private final ConnectionOptions options;
  private final MemorySlice incoming;
  private final MemorySlice outgoing;
  private final Gid gid;
  private int sent;
  private int received;

  /**
   * Makes the queue pairs and posts what they receive into.
   *
   * @param shares whether they share one receive queue, as those of {@code ibv_srq_pingpong} do
   * @param size bytes of a message
   */
  Pingpong(Bench bench, QpType type, boolean shares, int queuePairs, int size, Mtu mtu) {
    this.bench = bench;
    this.type = type;
    options =
        ConnectionOptions.DEFAULT
            .withGidIndex(bench.ownGidIndex())
            .withPathMtu(mtu)
            .withTimeout(Pair.LONG_TIMEOUT);
    int grh = type == QpType.UD ? GRH_BYTES : 0;
    region = bench.domain().allocate(2L * (size + grh), AccessFlag.LOCAL_WRITE);
    incoming = region.slice(0, size + grh);
    outgoing = region.slice(size + grh, size);
    byte fill = (byte) (shares ? 0 : 0x7b);
    region.segment().asSlice(outgoing.offset(), size).fill(fill);
    completions = bench.context().createCompletionQueue(DEPTH + 2 * queuePairs);
    gid = bench.context().queryGid(1, bench.ownGidIndex());
    shared =
        shares
            ? Optional.of(
                bench.domain().createSharedReceiveQueue(new SharedReceiveQueueConfig(DEPTH, 1, 0)))
            : Optional.empty();
    QueuePairConfig config =
        QueuePairConfig.of(type, completions, completions).sendDepth(2).receiveDepth(DEPTH);
    for (int i = 0; i < queuePairs; i++) {
      Lane lane =
          new Lane(
              bench
                  .domain()
                  .createQueuePair(shared.map(config::sharedReceiveQueue).orElse(config)));
      lanes.add(lane);
      byNumber.put(lane.queuePair.number(), lane);
      lane.queuePair.modify(options.toInit(type));
    }
    for (int i = 0; i < DEPTH; i++) {
      receive(lanes.getFirst());
    }
  }

  private void receive(Lane lane) {
    ReceiveRequest request = new ReceiveRequest().wrId(RECEIVE).into(incoming);
    if (shared.isPresent()) {
      shared.get().postReceive(request);
    } else {
      lane.queuePair.postReceive(request);
    }
  }

  /** The exchange of the side that was given a host name; the messages start here. */
  void connectAsClient(Socket socket) throws IOException {
    write(socket);
    read(socket);
    bringUp();
    socket.getOutputStream().write(DONE);
    lanes.forEach(this::send);
  }

  /** The exchange of the side that waits. */
  void connectAsServer(Socket socket) throws IOException {
    read(socket);
    bringUp();
    write(socket);
    byte[] done = socket.getInputStream().readNBytes(DONE.length);
    if (!Arrays.equals(done, DONE)) {
      throw new IOException("the client ended before the messages");
    }
  }

  private int endpoints() {
    return shared.isPresent() ? SHARED_ENDPOINTS : 1;
  }

  private void write(Socket socket) throws IOException {
    OutputStream stream = socket.getOutputStream();
    for (int i = 0; i < endpoints(); i++) {
      Lane lane = lanes.get(Math.min(i, lanes.size() - 1));
      String text = new QpEndpoint(0, lane.queuePair.number(), lane.psn, gid).toText();
      stream.write(Arrays.copyOf(text.getBytes(StandardCharsets.US_ASCII), ENDPOINT_BYTES));
    }
  }

  private void read(Socket socket) throws IOException {
    InputStream stream = socket.getInputStream();
    for (int i = 0; i < endpoints(); i++) {
      byte[] text = stream.readNBytes(ENDPOINT_BYTES);
      if (text.length < ENDPOINT_BYTES) {
        throw new IOException("%d bytes of an endpoint".formatted(text.length));
      }
      if (i < lanes.size()) {
        lanes.get(i).peer =
            QpEndpoint.parse(new String(text, 0, ENDPOINT_BYTES - 1, StandardCharsets.US_ASCII));
      }
    }
  }

  private void bringUp() {
    for (Lane lane : lanes) {
      lane.queuePair.modify(options.toRtr(type, lane.peer));
      lane.queuePair.modify(options.toRts(type, lane.psn));
      if (type == QpType.UD) {
        lane.handle =
            bench
                .domain()
                .createAddressHandle(AddressVector.to(lane.peer.gid(), bench.ownGidIndex()));
      }
    }
  }

  private void send(Lane lane) {
    SendRequest request = new SendRequest().wrId(SEND).send().sge(outgoing).signaled();
    if (type == QpType.UD) {
      request.to(lane.handle, lane.peer.qpNumber(), QKEY);
    }
    lane.sending = true;
    lane.queuePair.postSend(request);
  }

  /**
   * Runs until so many messages were sent and as many received, over all queue pairs.
   *
   * @throws AssertionError when a request fails, a message has other bytes, or there is no progress
   */
  void play(int messages) {
    Completions batch = new Completions(16);
    Instant end = Instant.now().plus(PATIENCE);
    while (sent < messages || received < messages) {
      int count = completions.poll(batch);
      for (int i = 0; i < count; i++) {
        if (!batch.isSuccess(i)) {
          throw new AssertionError("%s; %s".formatted(batch.describe(i), bench.counts()));
        }
        Lane lane = byNumber.get(batch.qpNumber(i));
        if (batch.wrId(i) == RECEIVE) {
          received++;
          check(batch.byteLength(i));
          receive(lane);
          lane.replies = true;
        } else {
          sent++;
          lane.sending = false;
        }
        if (lane.replies && !lane.sending && sent < messages) {
          lane.replies = false;
          send(lane);
        }
      }
      if (count > 0) {
        end = Instant.now().plus(PATIENCE);
      } else if (Instant.now().isAfter(end)) {
        throw new AssertionError(
            "stuck: %d sent, %d received; %s".formatted(sent, received, bench.counts()));
      } else {
        Thread.onSpinWait();
      }
    }
  }

  private void check(long bytes) {
    if (bytes != incoming.length()) {
      throw new AssertionError("%d bytes instead of %d".formatted(bytes, incoming.length()));
    }
    long from = incoming.offset() + (type == QpType.UD ? GRH_BYTES : 0);
    long differs =
        region
            .segment()
            .asSlice(from, outgoing.length())
            .mismatch(region.segment().asSlice(outgoing.offset(), outgoing.length()));
    if (differs >= 0) {
      throw new AssertionError("message %d differs at byte %d".formatted(received, differs));
    }
  }

  @Override
  public void close() {
    for (Lane lane : lanes) {
      lane.queuePair.close();
      if (lane.handle != null) {
        lane.handle.close();
      }
    }
    shared.ifPresent(SharedReceiveQueue::close);
    completions.close();
    region.close();
  }
}

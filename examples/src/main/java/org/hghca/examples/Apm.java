package org.hghca.examples;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.hghca.verbs.AccessFlag.LOCAL_WRITE;

import java.io.IOException;
import java.util.Set;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.AlternatePath;
import org.hghca.verbs.AsyncEvent;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.Gid;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.PathMigrationState;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;

/**
 * Automatic path migration: a connection with two paths. The client cuts the first one while its
 * messages flow; the device goes on by the second one, and no message is lost. Then it goes back.
 * Each path leads from one of the port's addresses to the same one of the peer's.
 */
final class Apm implements Example {
  private static final int WINDOW = 32;
  private static final long BYTES = 64;
  private static final int PHASE = 2000;

  /** Lines of the port's GID table: its IPv4 address, and the link-local address of its MAC. */
  private static final int FIRST = 1;

  private static final int SECOND = 0;

  /** No device of the network has this address. */
  private static final long NOBODY = 0x0200_dead_0001L;

  /** 67 ms, three times: then the retries are used up. */
  private static final ConnectionOptions OPTIONS =
      ConnectionOptions.DEFAULT.withGidIndex(FIRST).withTimeout(14).withRetryCount(2);

  @Override
  public String shows() {
    return "automatic path migration: the first path is cut under traffic, and nothing is lost";
  }

  @Override
  public Set<DeviceFeature> needs() {
    return Set.of(DeviceFeature.PATH_MIGRATION);
  }

  @Override
  public void server(End end) throws Exception {
    try (TcpPeer peer = TcpPeer.accept(end);
        Connection my = new Connection(end, peer)) {
      for (int slot = 0; slot < WINDOW; slot++) {
        my.postReceive(slot);
      }
      my.rearm(SECOND, peer);
      receive(my, 0);
      my.awaitEvent(AsyncEventType.PATH_MIG);
      my.rearm(FIRST, peer);
      receive(my, PHASE);
      my.awaitEvent(AsyncEventType.PATH_MIG);
      end.say("%d messages, each once and in order".formatted(2 * PHASE));
      peer.synchronize();
    }
  }

  private static void receive(Connection my, int first) throws Exception {
    for (int number = first; number < first + PHASE; number++) {
      int slot = (int) End.await(my.cq).wrId(0);
      int got = my.memory.segment().get(JAVA_INT, slot * BYTES);
      End.check(got == number, "message %d came in the place of %d".formatted(got, number));
      my.postReceive(slot);
    }
  }

  @Override
  public void client(End end) throws Exception {
    try (TcpPeer peer = TcpPeer.connect(end.server());
        Connection my = new Connection(end, peer)) {
      my.rearm(SECOND, peer);
      my.send(PHASE / 2);
      cut(my); // while the last window of messages is in flight
      my.send(PHASE / 2);
      my.awaitEvent(AsyncEventType.PATH_MIG); // the retries on the first path are used up
      end.say("the path leads to " + my.qp.query().addressVector().destination());

      end.context().addNeighbor(my.peers[FIRST], my.peersMac); // repaired
      my.rearm(FIRST, peer);
      my.send(PHASE / 2);
      // A program may order it, too; the peer follows the first packet that comes by the new path.
      my.qp.modify(new QpAttributes().pathMigration(PathMigrationState.MIGRATED));
      my.send(PHASE / 2);
      end.say("the path leads to " + my.qp.query().addressVector().destination());
      peer.synchronize();
    }
  }

  /** No program can pull a cable: from now on the first path leads to nobody. */
  private static void cut(Connection my) throws Exception {
    my.end.say("cuts the first path");
    my.end.context().addNeighbor(my.peers[FIRST], NOBODY);
    // The connection notices when its path is set again, for which its sends must have drained.
    AddressVector path = my.qp.query().addressVector();
    my.qp.modify(QpAttributes.to(QpState.SQD).sqdNotify(true));
    my.awaitEvent(AsyncEventType.SQ_DRAINED);
    my.qp.modify(QpAttributes.to(QpState.SQD).addressVector(path));
    my.qp.modify(QpAttributes.to(QpState.RTS));
  }

  /** One end of the connection. */
  private static final class Connection implements AutoCloseable {
    final End end;
    final ProtectionDomain pd;
    final MemoryRegion memory;
    final CompletionQueue cq;
    final QueuePair qp;
    final Gid[] peers = new Gid[2];
    final long peersMac;
    int sent;
    int completed;

    Connection(End end, TcpPeer peer) throws IOException {
      this.end = end;
      pd = end.context().allocateProtectionDomain();
      memory = pd.allocate(WINDOW * BYTES, LOCAL_WRITE);
      cq = end.context().createCompletionQueue(2 * WINDOW);
      qp = pd.createQueuePair(QueuePairConfig.rc(cq, cq).sendDepth(WINDOW).receiveDepth(WINDOW));
      for (int path : new int[] {SECOND, FIRST}) {
        peers[path] = Gid.ofHex(peer.exchange(end.context().queryGid(1, path).hex()));
      }
      peersMac =
          peers[SECOND]
              .mac()
              .orElseThrow(() -> new IllegalStateException("needs ports with link-local GIDs"));
      end.context().addNeighbor(peers[FIRST], peersMac);
      qp.connect(OPTIONS, peer::exchange);
    }

    /** Loads an alternate path at both ends. The next messages arm it. */
    void rearm(int path, TcpPeer peer) throws IOException {
      AddressVector way = AddressVector.to(peers[path], path);
      qp.modify(
          new QpAttributes()
              .alternatePath(new AlternatePath(way, 0, OPTIONS.timeout()))
              .pathMigration(PathMigrationState.REARM));
      peer.synchronize();
    }

    /** Sends numbered messages; the last window of them may still be in flight on return. */
    void send(int count) throws Exception {
      for (int last = sent + count; sent < last; sent++) {
        for (; sent - completed == WINDOW; completed++) {
          End.await(cq); // the oldest one: its slot is free
        }
        long slot = (long) sent % WINDOW * BYTES;
        memory.segment().set(JAVA_INT, slot, sent);
        qp.postSend(new SendRequest().send().sge(memory, slot, BYTES).signaled());
      }
    }

    void postReceive(int slot) {
      qp.postReceive(new ReceiveRequest().wrId(slot).into(memory, slot * BYTES, BYTES));
    }

    void awaitEvent(AsyncEventType type) throws InterruptedException {
      AsyncEventType got;
      do {
        AsyncEvent event = end.context().asyncEvents().await(End.PATIENCE).orElseThrow();
        got = event.type();
        event.acknowledge(); // before that the queue pair cannot be closed
        end.say("event " + got);
      } while (got != type);
    }

    @Override
    public void close() {
      qp.close();
      cq.close();
      memory.close();
      pd.close();
    }
  }
}

package org.hghca.examples;

import static org.hghca.verbs.AccessFlag.LOCAL_WRITE;
import static org.hghca.verbs.AccessFlag.REMOTE_READ;
import static org.hghca.verbs.AccessFlag.REMOTE_WRITE;

import java.io.IOException;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.RemoteMemory;
import org.hghca.verbs.SendRequest;

/**
 * The classic first program, with verbs alone: the server SENDs a message; then the client READs
 * the server's memory and WRITEs into it, and the server does nothing for that. A TCP connection,
 * {@link TcpPeer}, carries what the two must know of each other.
 */
final class Rc implements Example {
  private static final int BYTES = 64;

  @Override
  public String shows() {
    return "SEND, RDMA READ and RDMA WRITE; what two ends exchange before, over TCP";
  }

  @Override
  public void server(End end) throws Exception {
    try (TcpPeer peer = TcpPeer.accept(end);
        Connection my = new Connection(end, peer)) {
      my.memory.segment().setString(0, "SEND operation");
      my.qp.postSend(new SendRequest().send().sge(my.memory).signaled());
      end.say("sent: " + End.await(my.cq).describe(0));

      // The completion says that the message is at the client: the memory is ours again.
      my.memory.segment().setString(0, "RDMA read operation");
      peer.synchronize(); // the client may read
      peer.synchronize(); // the client has read and written, and nothing told us but this
      end.say("the client wrote '" + my.memory.segment().getString(0) + "'");
      check(my.memory, "RDMA write operation");
    }
  }

  @Override
  public void client(End end) throws Exception {
    try (TcpPeer peer = TcpPeer.connect(end.server());
        Connection my = new Connection(end, peer)) {
      end.say("received: " + End.await(my.cq).describe(0));
      end.say("the server sent '" + my.memory.segment().getString(0) + "'");
      check(my.memory, "SEND operation");

      peer.synchronize();
      my.qp.postSend(new SendRequest().rdmaRead(my.remote).sge(my.memory).signaled());
      end.say("read: " + End.await(my.cq).describe(0));
      end.say("the server's memory is '" + my.memory.segment().getString(0) + "'");
      check(my.memory, "RDMA read operation");

      my.memory.segment().setString(0, "RDMA write operation");
      my.qp.postSend(new SendRequest().rdmaWrite(my.remote).sge(my.memory).signaled());
      end.say("written: " + End.await(my.cq).describe(0));
      peer.synchronize();
    }
  }

  private static void check(MemoryRegion memory, String text) {
    End.check(memory.segment().getString(0).equals(text), "the text must be: " + text);
  }

  /** What an end needs on its device: created from the top down, closed from the bottom up. */
  private static final class Connection implements AutoCloseable {
    final ProtectionDomain pd;
    final MemoryRegion memory;
    final CompletionQueue cq;
    final QueuePair qp;
    final RemoteMemory remote;

    Connection(End end, TcpPeer peer) throws IOException {
      pd = end.context().allocateProtectionDomain();
      // It begins at a page, as some cards need. The peer may READ and WRITE it with its key.
      memory = pd.allocate(BYTES, LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE);
      cq = end.context().createCompletionQueue(2);
      qp = pd.createQueuePair(QueuePairConfig.rc(cq, cq));
      // A message that meets no receive must be sent again, which some cards cannot: so the receive
      // is posted before the peer knows where to send.
      qp.connect(
          local -> {
            qp.postReceive(new ReceiveRequest().into(memory));
            return peer.exchange(local);
          });
      remote = peer.exchange(memory.remote());
      // Both ends are connected now, since each has sent its memory after it was: both may send.
      end.say("QP 0x%06x is connected, the peer has %s".formatted(qp.number(), remote));
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

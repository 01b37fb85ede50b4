package org.hghca.tools.demo;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Completions;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.PortAttributes;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcOpcode;

/**
 * The classic first program of RDMA: the server SENDs a message; the client READs another out of
 * the server's buffer, then WRITEs a third into it. Every buffer is verified to its last byte.
 */
final class RcExample {
  private static final String CONNECT = "connect";
  private static final String SEND = "send";
  private static final String READ = "rdma read";
  private static final String WRITE = "rdma write";

  private static final String SEND_TEXT = "SEND operation";
  private static final String READ_TEXT = "RDMA read operation";
  private static final String WRITE_TEXT = "RDMA write operation";

  private static final int BUFFER_BYTES = 64;
  private static final AccessFlag[] ACCESS = {
    AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE
  };
  private static final long SEND_ID = 1;
  private static final long RECEIVE_ID = 2;

  private final Sides sides;
  private final Journal journal;
  private final SendRequest request = new SendRequest(1).wrId(SEND_ID);

  RcExample(Sides sides) {
    this.sides = sides;
    this.journal = sides.journal();
  }

  /**
   * Runs it.
   *
   * @throws CheckFailedException when a check fails
   */
  void run() {
    sides.server().run(this::printDevice);
    sides.client().run(this::printDevice);
    Part<Buffer> serverBuffer = sides.server().map(this::register);
    Part<Buffer> clientBuffer = sides.client().map(this::register);
    Part<End> server = serverBuffer.map(this::createQueuePair);
    Part<End> client = clientBuffer.map(this::createQueuePair);
    // In the original these travel over a TCP socket, too.
    Address serverAddress = server.share(Address.MESSAGE, End::address);
    Address clientAddress = client.share(Address.MESSAGE, End::address);
    server.run(end -> connect(end, clientAddress.endpoint()));
    client.run(end -> connect(end, serverAddress.endpoint()));
    sides.held(CONNECT);

    server.run(this::send);
    client.run(this::receive);
    sides.held(SEND);

    server.run(end -> load(end, READ_TEXT));
    sides.barrier("loaded");
    client.run(end -> read(end, serverAddress));
    sides.held(READ);

    client.run(end -> write(end, serverAddress));
    sides.barrier("written");
    server.run(end -> verify(WRITE, end, WRITE_TEXT));
    sides.held(WRITE);
  }

  /** What a side has registered. */
  private record Buffer(Side side, MemoryRegion memory) {}

  /** A side with its queue pair. */
  private record End(Side side, MemoryRegion buffer, QueuePair qp) {
    Address address() {
      return Address.of(side, qp, buffer);
    }
  }

  private void printDevice(Side side) {
    PortAttributes port = side.context().queryPort(Side.PORT);
    journal.step(
        side,
        "device %s: port %d %s, MTU %d, GID %s"
            .formatted(
                side.context().device().name(),
                Side.PORT,
                port.state().text(),
                port.activeMtu().bytes(),
                side.gid()));
  }

  private Buffer register(Side side) {
    MemoryRegion memory = side.own(side.pd().allocate(BUFFER_BYTES, ACCESS));
    journal.step(
        side,
        "MR registered: address 0x%x, %d bytes, lkey 0x%x, rkey 0x%x"
            .formatted(memory.address(), memory.length(), memory.lkey(), memory.rkey()));
    return new Buffer(side, memory);
  }

  private End createQueuePair(Buffer buffer) {
    Side side = buffer.side();
    QueuePairConfig config = QueuePairConfig.rc(side.cq(), side.cq()).signalAll();
    QueuePair qp = side.own(side.pd().createQueuePair(config));
    journal.step(side, "QP created: QP number 0x%06x, state %s".formatted(qp.number(), qp.state()));
    return new End(side, buffer.memory(), qp);
  }

  /** Posts the receive and takes the queue pair from RESET to RTS, verb by verb. */
  private void connect(End end, QpEndpoint peer) {
    QueuePair qp = end.qp();
    qp.modify(QpAttributes.to(QpState.INIT).port(Side.PORT).pkeyIndex(0).access(ACCESS));
    String states = "INIT";
    qp.postReceive(new ReceiveRequest(1).wrId(RECEIVE_ID).into(end.buffer()));
    journal.step(end.side(), "Receive Request was posted");
    peer.wrapMemory().ifPresent(qp::takeWrapMemory);
    qp.modify(
        QpAttributes.to(QpState.RTR)
            .addressVector(AddressVector.to(peer.gid(), Side.GID_INDEX))
            .pathMtu(Mtu.MTU_256)
            .destinationQpn(peer.qpNumber())
            .receivePsn(peer.psn())
            .maxDestinationReadAtomic(1)
            .minRnrTimer(0x12));
    states += " -> " + qp.query().state();
    qp.modify(
        QpAttributes.to(QpState.RTS)
            .timeout(0x12)
            .retryCount(6)
            .rnrRetry(0)
            .sendPsn(Address.PSN)
            .maxReadAtomic(1));
    QpState reached = qp.query().state();
    states += " -> " + reached;
    if (reached != QpState.RTS) {
      throw new CheckFailedException(
          CONNECT,
          "the %s's QP 0x%06x is in state %s".formatted(end.side().role(), qp.number(), reached));
    }
    journal.step(
        end.side(),
        "QP 0x%06x connected: %s, to QP 0x%06x at GID %s"
            .formatted(qp.number(), states, peer.qpNumber(), peer.gid()));
  }

  private void send(End end) {
    load(end, SEND_TEXT);
    end.qp().postSend(request.send().sge(end.buffer()));
    journal.step(end.side(), "Send Request was posted");
    expect(SEND, end.side(), WcOpcode.SEND, SEND_ID);
  }

  private void receive(End end) {
    expect(SEND, end.side(), WcOpcode.RECV, RECEIVE_ID);
    long received = end.side().completions().byteLength(0);
    if (received != BUFFER_BYTES) {
      throw new CheckFailedException(
          SEND,
          "the %s received %d bytes of %d".formatted(end.side().role(), received, BUFFER_BYTES));
    }
    verify(SEND, end, SEND_TEXT);
  }

  private void read(End end, Address remote) {
    end.qp().postSend(request.rdmaRead(remote.memory(), remote.rkey()).sge(end.buffer()));
    printRemote(end, "RDMA Read Request was posted", remote);
    expect(READ, end.side(), WcOpcode.RDMA_READ, SEND_ID);
    verify(READ, end, READ_TEXT);
  }

  private void write(End end, Address remote) {
    load(end, WRITE_TEXT);
    end.qp().postSend(request.rdmaWrite(remote.memory(), remote.rkey()).sge(end.buffer()));
    printRemote(end, "RDMA Write Request was posted", remote);
    expect(WRITE, end.side(), WcOpcode.RDMA_WRITE, SEND_ID);
  }

  private void printRemote(End end, String what, Address remote) {
    journal.step(
        end.side(),
        "%s: remote address 0x%x, rkey 0x%x".formatted(what, remote.memory(), remote.rkey()));
  }

  private void load(End end, String text) {
    MemorySegment memory = end.buffer().segment();
    memory.fill((byte) 0);
    memory.setString(0, text, StandardCharsets.US_ASCII);
    journal.step(end.side(), "buffer loaded with '%s'".formatted(text));
  }

  /** Waits for exactly one completion, and for this one. */
  private void expect(String check, Side side, WcOpcode opcode, long wrId) {
    int count = side.await(check);
    Completions completions = side.completions();
    journal.step(side, "completion: %s".formatted(completions.describe(0)));
    if (count != 1 || completions.opcode(0) != opcode || completions.wrId(0) != wrId) {
      throw new CheckFailedException(
          check,
          "the %s expected one completion of %s with wr_id %d, and found %d, first %s"
              .formatted(side.role(), opcode, wrId, count, completions.describe(0)));
    }
  }

  /** The whole buffer holds the text and zeros behind it. */
  private void verify(String check, End end, String text) {
    byte[] expected = new byte[BUFFER_BYTES];
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(bytes, 0, expected, 0, bytes.length);
    long mismatch = end.buffer().segment().mismatch(MemorySegment.ofArray(expected));
    if (mismatch >= 0) {
      throw new CheckFailedException(
          check,
          "the %s's buffer is not '%s': byte %d differs"
              .formatted(end.side().role(), text, mismatch));
    }
    journal.step(end.side(), "buffer verified, %d bytes: '%s'".formatted(BUFFER_BYTES, text));
  }
}

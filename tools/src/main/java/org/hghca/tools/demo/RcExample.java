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
  private static final String SEND_TEXT = "SEND operation";
  private static final String READ_TEXT = "RDMA read operation";
  private static final String WRITE_TEXT = "RDMA write operation";

  private static final int BUFFER_BYTES = 64;
  private static final AccessFlag[] ACCESS = {
    AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE
  };
  private static final long SEND_ID = 1;
  private static final long RECEIVE_ID = 2;
  private static final int PSN = 0;

  private final Journal journal;
  private final Side server;
  private final Side client;
  private final SendRequest request = new SendRequest(1).wrId(SEND_ID);

  RcExample(Journal journal, Side server, Side client) {
    this.journal = journal;
    this.server = server;
    this.client = client;
  }

  /**
   * Runs it.
   *
   * @throws CheckFailedException when a check fails
   */
  void run() {
    tellDevice(server);
    tellDevice(client);
    try (MemoryRegion serverBuffer = register(server);
        MemoryRegion clientBuffer = register(client);
        QueuePair serverQp = createQueuePair(server);
        QueuePair clientQp = createQueuePair(client)) {
      // In the original these travel over a TCP socket.
      QpEndpoint serverEnd = server.endpoint(serverQp, PSN);
      QpEndpoint clientEnd = client.endpoint(clientQp, PSN);
      connect(server, serverQp, serverBuffer, clientEnd);
      connect(client, clientQp, clientBuffer, serverEnd);
      journal.held("connect");

      send(serverQp, serverBuffer, clientBuffer);
      rdmaRead(clientQp, clientBuffer, serverBuffer);
      rdmaWrite(clientQp, clientBuffer, serverBuffer);
    }
  }

  private void tellDevice(Side side) {
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

  private MemoryRegion register(Side side) {
    MemoryRegion buffer = side.pd().allocate(BUFFER_BYTES, ACCESS);
    journal.step(
        side,
        "MR registered: address 0x%x, %d bytes, lkey 0x%x, rkey 0x%x"
            .formatted(buffer.address(), buffer.length(), buffer.lkey(), buffer.rkey()));
    return buffer;
  }

  private QueuePair createQueuePair(Side side) {
    QueuePair qp = side.pd().createQueuePair(QueuePairConfig.rc(side.cq(), side.cq()).signalAll());
    journal.step(side, "QP created: QP number 0x%06x, state %s".formatted(qp.number(), qp.state()));
    return qp;
  }

  /** Posts the receive and takes the queue pair from RESET to RTS, verb by verb. */
  private void connect(Side side, QueuePair qp, MemoryRegion buffer, QpEndpoint peer) {
    qp.modify(QpAttributes.to(QpState.INIT).port(Side.PORT).pkeyIndex(0).access(ACCESS));
    String states = "INIT";
    qp.postReceive(new ReceiveRequest(1).wrId(RECEIVE_ID).into(buffer));
    journal.step(side, "Receive Request was posted");
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
            .sendPsn(PSN)
            .maxReadAtomic(1));
    QpState reached = qp.query().state();
    states += " -> " + reached;
    if (reached != QpState.RTS) {
      throw new CheckFailedException(
          "connect",
          "the %s's QP 0x%06x is in state %s".formatted(side.role(), qp.number(), reached));
    }
    journal.step(
        side,
        "QP 0x%06x connected: %s, to QP 0x%06x at GID %s"
            .formatted(qp.number(), states, peer.qpNumber(), peer.gid()));
  }

  private void send(QueuePair serverQp, MemoryRegion serverBuffer, MemoryRegion clientBuffer) {
    String check = "send";
    load(server, serverBuffer, SEND_TEXT);
    serverQp.postSend(request.send().sge(serverBuffer));
    journal.step(server, "Send Request was posted");
    expect(check, server, WcOpcode.SEND, SEND_ID);
    expect(check, client, WcOpcode.RECV, RECEIVE_ID);
    long received = client.completions().byteLength(0);
    if (received != BUFFER_BYTES) {
      throw new CheckFailedException(
          check, "the client received %d bytes of %d".formatted(received, BUFFER_BYTES));
    }
    verify(check, client, clientBuffer, SEND_TEXT);
  }

  private void rdmaRead(QueuePair clientQp, MemoryRegion clientBuffer, MemoryRegion serverBuffer) {
    String check = "rdma read";
    load(server, serverBuffer, READ_TEXT);
    clientQp.postSend(
        request.rdmaRead(serverBuffer.address(), serverBuffer.rkey()).sge(clientBuffer));
    tellRemote("RDMA Read Request was posted", serverBuffer);
    expect(check, client, WcOpcode.RDMA_READ, SEND_ID);
    verify(check, client, clientBuffer, READ_TEXT);
  }

  private void rdmaWrite(QueuePair clientQp, MemoryRegion clientBuffer, MemoryRegion serverBuffer) {
    String check = "rdma write";
    load(client, clientBuffer, WRITE_TEXT);
    clientQp.postSend(
        request.rdmaWrite(serverBuffer.address(), serverBuffer.rkey()).sge(clientBuffer));
    tellRemote("RDMA Write Request was posted", serverBuffer);
    expect(check, client, WcOpcode.RDMA_WRITE, SEND_ID);
    verify(check, server, serverBuffer, WRITE_TEXT);
  }

  private void tellRemote(String what, MemoryRegion remote) {
    journal.step(
        client,
        "%s: remote address 0x%x, rkey 0x%x".formatted(what, remote.address(), remote.rkey()));
  }

  private void load(Side side, MemoryRegion buffer, String text) {
    MemorySegment memory = buffer.segment();
    memory.fill((byte) 0);
    memory.setString(0, text, StandardCharsets.US_ASCII);
    journal.step(side, "buffer loaded with '%s'".formatted(text));
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
  private void verify(String check, Side side, MemoryRegion buffer, String text) {
    byte[] expected = new byte[BUFFER_BYTES];
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(bytes, 0, expected, 0, bytes.length);
    long mismatch = buffer.segment().mismatch(MemorySegment.ofArray(expected));
    if (mismatch >= 0) {
      throw new CheckFailedException(
          check,
          "the %s's buffer is not '%s': byte %d differs".formatted(side.role(), text, mismatch));
    }
    journal.step(side, "buffer verified, %d bytes: '%s'".formatted(BUFFER_BYTES, text));
    journal.held(check);
  }
}

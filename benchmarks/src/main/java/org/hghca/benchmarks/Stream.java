package org.hghca.benchmarks;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SplittableRandom;
import org.hghca.benchmarks.Pair.Connection;
import org.hghca.benchmarks.Pair.Side;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WrOpcode;

/**
 * Messages of one kind and size from client to server, over one or more connections in turn. They
 * are posted in lists, of which only the last request is signaled; each message has its own place
 * in both memories. One thread plays both sides.
 */
final class Stream implements AutoCloseable {
  /** Requests in a list of short messages. */
  static final int LIST = 16;

  private final Side client;
  private final Side server;
  private final List<Connection> connections;
  private final MemoryRegion local;
  private final MemoryRegion remote;
  private final int listLength;
  private final int mostLists;
  private final SendRequest[] requests;

  /** For SENDs; empty otherwise. */
  private final ReceiveRequest[] receives;

  private int next;

  /** Requests of the next list that are posted already. */
  private int posted;

  private int nextReceive;
  private int received;

  /**
   * Makes a stream that has not started.
   *
   * @param opcode SEND, RDMA_WRITE or RDMA_READ
   * @param listLength requests in a list, at most {@link #LIST}
   * @param mostLists number of lists outstanding at a time
   */
  Stream(
      Pair pair,
      List<Connection> connections,
      WrOpcode opcode,
      int bytes,
      int listLength,
      int mostLists) {
    this.client = pair.client();
    this.server = pair.server();
    this.connections = connections;
    this.listLength = listLength;
    this.mostLists = mostLists;
    int places = listLength * Math.max(1, mostLists / connections.size());
    this.local = client.memory((long) bytes * places);
    this.remote = server.memory((long) bytes * places);
    this.requests = new SendRequest[places];
    MemoryRegion source = opcode == WrOpcode.RDMA_READ ? remote : local;
    byte[] content = new byte[bytes * places];
    new SplittableRandom(bytes).nextBytes(content);
    source.segment().copyFrom(MemorySegment.ofArray(content));
    boolean sends = opcode == WrOpcode.SEND;
    this.receives = new ReceiveRequest[sends ? places : 0];
    for (int i = 0; i < places; i++) {
      requests[i] = request(opcode, (long) i * bytes, bytes);
      if (i % listLength == listLength - 1) {
        requests[i].signaled();
      }
    }
    for (int i = 0; i < receives.length; i++) {
      receives[i] = new ReceiveRequest(1).into(remote, (long) i * bytes, bytes);
    }
    for (int count = 0; sends && count < pair.depth(); count += listLength) {
      postReceives();
    }
  }

  private SendRequest request(WrOpcode opcode, long offset, int bytes) {
    SendRequest request = new SendRequest(1);
    switch (opcode) {
      case SEND -> request.send();
      case RDMA_WRITE -> request.rdmaWrite(remote.address() + offset, remote.rkey());
      case RDMA_READ -> request.rdmaRead(remote.address() + offset, remote.rkey());
      default -> throw new IllegalArgumentException(opcode.toString());
    }
    request.sge(local, offset, bytes);
    return bytes <= Pair.INLINE && opcode != WrOpcode.RDMA_READ ? request.inline() : request;
  }

  private void postReceives() {
    for (Connection connection : connections) {
      check(connection.server().tryPostReceive(receives, nextReceive, listLength));
    }
    nextReceive = (nextReceive + listLength) % receives.length;
  }

  private void check(int taken) {
    if (taken != listLength) {
      throw new IllegalStateException("a queue took " + taken + " of " + listLength);
    }
  }

  /** Streams for some time; returns messages a second. */
  double run(long nanos) {
    long start = System.nanoTime();
    long now = start;
    long lists = 0;
    int outstanding = 0;
    while (now - start < nanos || outstanding > 0) {
      while (outstanding < mostLists && now - start < nanos && postList()) {
        outstanding++;
      }
      int done = client.await();
      lists += done;
      outstanding -= done;
      takeReceived();
      now = System.nanoTime();
    }
    return (double) lists * listLength * 1e9 / (now - start);
  }

  /**
   * Posts what is left of a list to the next connection, as far as that has room; returns whether
   * it took all. Lists of two connections may complete in another order than they were posted in.
   */
  private boolean postList() {
    int list = next / connections.size() % (requests.length / listLength);
    Connection connection = connections.get(next % connections.size());
    int from = list * listLength + posted;
    posted += connection.client().tryPostSend(requests, from, listLength - posted);
    if (posted < listLength) {
      return false;
    }
    posted = 0;
    next++;
    return true;
  }

  /** Posts a receive for each message that has arrived. */
  private void takeReceived() {
    if (receives.length == 0) {
      return;
    }
    int found;
    do {
      found = server.poll();
      received += found;
      while (received >= listLength) {
        received -= listLength;
        postReceives();
      }
    } while (found > 0);
  }

  /**
   * Checks what has arrived, and frees the memories. The connections stay, and so do receives that
   * were posted to them.
   */
  @Override
  public void close() {
    long mismatch = local.segment().mismatch(remote.segment());
    local.close();
    remote.close();
    if (mismatch >= 0) {
      throw new IllegalStateException(
          "the memories of client and server differ from byte " + mismatch);
    }
  }
}

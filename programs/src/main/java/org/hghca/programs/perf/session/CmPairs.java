package org.hghca.programs.perf.session;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.hghca.cm.CmEvent;
import org.hghca.cm.CmEventType;
import org.hghca.cm.CmId;
import org.hghca.cm.ConnectionParameters;
import org.hghca.cm.DatagramParameters;
import org.hghca.cm.PortSpace;
import org.hghca.programs.Opened;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.medium.CmEvents;
import org.hghca.programs.perf.medium.CmMedium;
import org.hghca.programs.perf.medium.Conversation;
import org.hghca.programs.perf.run.Buffers;
import org.hghca.programs.perf.run.Completed;
import org.hghca.programs.perf.run.Resources;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.DeviceQuirk;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;

/**
 * The queue pairs of a side that the connection manager connects: {@code -R}. Closing it ends the
 * connections. One thread uses it.
 */
final class CmPairs implements AutoCloseable {
  /** The reason of a rejection: nobody listens. */
  private static final int NO_LISTENER = 8;

  /** How long a server of perftest may take until it listens. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private static final Duration PAUSE = Duration.ofMillis(20);

  /** How long the peer may take to end a connection. */
  private static final Duration FAREWELL = Duration.ofSeconds(5);

  /** Bytes of the first datagram of a client. */
  private static final int GREETING = Integer.BYTES;

  private final Resources resources;
  private final InetSocketAddress server;
  private final boolean client;
  private final PortSpace space;
  private final Opened opened = new Opened();
  private final CmEvents events;
  private final List<CmId> ids = new ArrayList<>();

  private CmPairs(Resources resources, InetSocketAddress server, boolean client) {
    this.resources = resources;
    this.server = server;
    this.client = client;
    space = parameters().type() == QpType.UD ? PortSpace.UDP : PortSpace.TCP;
    events = opened.add(new CmEvents(resources.device()));
  }

  /**
   * Nothing is connected yet; a server listens from now on.
   *
   * @param host of the server; empty to be it
   */
  static CmPairs of(Resources resources, Optional<String> host, int port) {
    InetSocketAddress server =
        host.map(name -> CmMedium.address(name, port)).orElseGet(() -> new InetSocketAddress(port));
    CmPairs pairs = new CmPairs(resources, server, host.isPresent());
    try {
      if (!pairs.client) {
        pairs.opened.add(pairs.events.listen(pairs.space, port, pairs.count()));
      }
      return pairs;
    } catch (RuntimeException e) {
      pairs.close();
      throw e;
    }
  }

  private Parameters parameters() {
    return resources.parameters();
  }

  private int count() {
    return parameters().queues().pairs();
  }

  private ConnectionParameters wanted() {
    boolean requests = parameters().test().verb().isRequest();
    int reads = requests ? resources.outstandingReads() : 0;
    int retries = parameters().route().retryCount();
    return ConnectionParameters.DEFAULT
        .withResponderResources(reads)
        .withInitiatorDepth(reads)
        .withRetryCount(retries)
        .withRnrRetryCount(retries);
  }

  /** Makes and connects all queue pairs. */
  void connect() throws InterruptedException {
    if (client) {
      for (int i = 0; i < count(); i++) {
        connectOne();
      }
    } else {
      accept();
    }
  }

  private QueuePair make(CmId id) {
    return id.createQueuePair(resources.pd(), resources.config());
  }

  /** Takes a queue pair, whose datagrams go to a destination. */
  private void adopt(CmId id, QueuePair pair, Optional<AddressVector> destination) {
    ids.add(opened.add(id));
    resources.adopt(pair);
    destination.ifPresent(resources::reach);
  }

  /** A server of perftest begins to listen only after it has said that it is ready. */
  private void connectOne() throws InterruptedException {
    Instant end = Instant.now().plus(PATIENCE);
    while (!tryToConnect(Instant.now().isAfter(end))) {
      Thread.sleep(PAUSE);
    }
  }

  /** Says whether somebody listened, as must be the last time. */
  private boolean tryToConnect(boolean last) throws InterruptedException {
    CmId id = events.resolve(space, server);
    try {
      QueuePair pair = make(id);
      id.connect(wanted());
      CmEvent event =
          events.next(Conversation.SOON).orElseThrow(() -> CmEvents.silent(CmEvents.text(server)));
      if (isNobodyThere(event) && !last) {
        event.close();
        id.close();
        return false;
      }
      if (event.type() != CmEventType.ESTABLISHED) {
        throw CmEvents.unexpected(event, CmEvents.text(server));
      }
      Optional<DatagramParameters> to = event.datagram();
      event.close();
      adopt(id, pair, to.map(DatagramParameters::vector));
      if (to.isPresent() && parameters().receives(true)) {
        greet(pair, to.get());
      }
      return true;
    } catch (RuntimeException | InterruptedException e) {
      id.close();
      throw e;
    }
  }

  private static boolean isNobodyThere(CmEvent event) {
    return event.type() == CmEventType.REJECTED && event.status() == NO_LISTENER
        || event.type() == CmEventType.UNREACHABLE && event.status() > 0;
  }

  /** Tells a server of perftest where its datagrams are to go to. */
  private void greet(QueuePair pair, DatagramParameters to) throws InterruptedException {
    SendRequest request = new SendRequest(1);
    if (resources.attributes().has(DeviceQuirk.NO_IMMEDIATE_VALUE)) {
      request.send(); // to one of this program, which does not read it
    } else {
      request.sendWithImmediate(pair.number());
    }
    AddressHandle handle = resources.handle(ids.size() - 1);
    pair.postSend(
        request
            .sge(resources.memory(), 0, GREETING)
            .to(handle, to.qpNumber(), to.qkey())
            .signaled());
    await(new Completed(resources, resources.sends(), "a SEND"));
  }

  private static void await(Completed completed) throws InterruptedException {
    if (!completed.await()) {
      throw new InterruptedException("interrupted");
    }
  }

  /** A client of perftest asks for all of them at once. */
  private void accept() throws InterruptedException {
    int established = 0;
    while (established < count()) {
      CmEvent event =
          events.next(Conversation.SOON).orElseThrow(() -> CmEvents.silent("the client"));
      switch (event.type()) {
        case CONNECT_REQUEST -> {
          try (event) {
            accept(event.id());
          }
          established += space == PortSpace.UDP ? 1 : 0;
        }
        case ESTABLISHED -> {
          event.close();
          established++;
        }
        default -> throw CmEvents.unexpected(event, "the client");
      }
    }
  }

  private void accept(CmId id) throws InterruptedException {
    if (ids.size() == count()) {
      id.reject(new byte[0]);
      id.close();
      return;
    }
    QueuePair pair = make(id);
    adopt(id, pair, space == PortSpace.UDP ? id.path() : Optional.empty());
    boolean greeted = space == PortSpace.UDP && parameters().receives(true);
    if (greeted) {
      long where = resources.buffers().receiveOffset(0);
      int bytes = Buffers.DATAGRAM_HEADER + GREETING;
      pair.postReceive(new ReceiveRequest(1).into(resources.memory(), where, bytes));
    }
    id.accept(wanted());
    if (greeted) {
      await(new Completed(resources, resources.receives(), "a receive request"));
    }
  }

  /** Ends the connections as perftest does: the server begins, and both wait for each other. */
  void disconnect() throws InterruptedException {
    if (space == PortSpace.UDP) {
      return;
    }
    if (!client) {
      ids.forEach(CmId::disconnect);
    }
    for (int left = ids.size(); left > 0; left--) {
      Optional<CmEvent> end = events.next(FAREWELL);
      if (end.isEmpty()) {
        return;
      }
      try (CmEvent event = end.get()) {
        if (event.type() != CmEventType.DISCONNECTED) {
          return;
        }
        if (client) {
          event.id().disconnect();
        }
      }
    }
  }

  @Override
  public void close() {
    opened.close();
  }
}

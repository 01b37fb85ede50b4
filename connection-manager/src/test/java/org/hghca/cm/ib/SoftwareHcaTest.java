package org.hghca.cm.ib;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.cm.Failures.assertErrno;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.hghca.cm.carrier.ConnectReply;
import org.hghca.cm.carrier.ConnectRequest;
import org.hghca.cm.carrier.Handshake;
import org.hghca.cm.carrier.HandshakeEvents;
import org.hghca.cm.carrier.Listener;
import org.hghca.cm.carrier.NamedEvents;
import org.hghca.cm.carrier.Path;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.carrier.Requests;
import org.hghca.cm.carrier.ServiceEvents;
import org.hghca.cm.carrier.ServiceHandshake;
import org.hghca.cm.carrier.ServiceReply;
import org.hghca.cm.carrier.ServiceRequest;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The carrier over the queue pairs 1 of two software HCAs. */
class SoftwareHcaTest {
  private static final long SERVICE = 0x0106_1c06L;
  private static final long UD_SERVICE = 0x0111_1c06L;
  private static final Gid A = Gid.ofIpv4(0x0a00_0001);
  private static final Gid B = Gid.ofIpv4(0x0a00_0002);
  private static final int CONNECTIONS = 1000;

  private Context a;
  private Context b;
  private IbCarrier asking;
  private IbCarrier asked;

  @BeforeEach
  void open() {
    a = RdmaDevices.open("model:ibcm-a?hub=ibcm&ip=10.0.0.1");
    b = RdmaDevices.open("model:ibcm-b?hub=ibcm&ip=10.0.0.2");
    a.addNeighbor(B, mac(b));
    b.addNeighbor(A, mac(a));
    asking = IbCarrier.of(a);
    asked = IbCarrier.of(b);
  }

  private static long mac(Context context) {
    return context.queryGid(1, 0).mac().orElseThrow();
  }

  @AfterEach
  void close() {
    asking.close();
    asked.close();
    b.close();
    a.close();
  }

  private static int index(Context context, Gid gid) {
    return context.queryGidTable().stream()
        .filter(entry -> entry.gid().equals(gid))
        .findFirst()
        .orElseThrow()
        .index();
  }

  private Path path() {
    return new Path(A, index(a, A), B, 0, 0, 64, 0, 1, Mtu.MTU_1024, 8);
  }

  private ConnectRequest request(int qpNumber) {
    return Requests.of(
        SERVICE,
        new InetSocketAddress("10.0.0.1", 40000),
        new InetSocketAddress("10.0.0.2", 7174),
        path(),
        qpNumber,
        8);
  }

  /** One end, which does what is due at once and reports what happened. */
  private static final class End extends NamedEvents {
    private final BlockingQueue<String> events;
    private volatile Handshake handshake;

    End(BlockingQueue<String> events) {
      this.events = events;
    }

    @Override
    protected void add(String event) {
      events.add(event);
    }

    @Override
    public void replied(ConnectReply reply) {
      await(() -> handshake != null);
      handshake.confirm(PrivateData.EMPTY);
    }

    @Override
    public void disconnected(PrivateData privateData) {
      try {
        handshake.disconnect(PrivateData.EMPTY);
      } catch (VerbsException e) {
        assertThat(e.errno()).isEqualTo(Errno.EINVAL); // it was this end that has ended it
      }
    }
  }

  private static void await(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      Thread.onSpinWait();
    }
  }

  private static void awaitEvents(BlockingQueue<String> events, int count, String which)
      throws InterruptedException {
    for (int i = 0; i < count; i++) {
      assertThat(events.poll(50, TimeUnit.SECONDS)).as("event %d", i).isEqualTo(which);
    }
  }

  /** Accepts everything. */
  private static Listener accepting(BlockingQueue<String> events) {
    return new Listener() {
      @Override
      public Optional<HandshakeEvents> requested(Handshake handshake, ConnectRequest request) {
        End end = new End(events);
        end.handshake = handshake;
        handshake.reply(Requests.reply(request.path(), 0x80_0000 + request.qpNumber(), 15));
        return Optional.of(end);
      }

      @Override
      public boolean requested(ServiceHandshake handshake, ServiceRequest request) {
        handshake.answer(new ServiceReply(request.path(), 0, 0x44, 0x0123_4567, PrivateData.EMPTY));
        return true;
      }

      @Override
      public void failed(VerbsException cause) {
        events.add("listener failed: " + cause.getMessage());
      }
    };
  }

  @Test
  void thousandConnectionsAtOnceLeaveNothingBehind() throws InterruptedException {
    BlockingQueue<String> events = new LinkedBlockingQueue<>();
    asked.listen(SERVICE, new InetSocketAddress("0.0.0.0", 7174), accepting(events));
    List<End> ends = new ArrayList<>();
    for (int i = 0; i < CONNECTIONS; i++) {
      End end = new End(events);
      end.handshake = asking.connect(request(0x100 + i), end);
      ends.add(end);
    }
    awaitEvents(events, 2 * CONNECTIONS, "established");
    for (End end : ends) {
      end.handshake.disconnect(PrivateData.EMPTY);
    }
    awaitEvents(events, 2 * CONNECTIONS, "timeWaitExited");
    await(() -> asking.size() == 0 && asked.size() == 0);
    assertThat(events).isEmpty();
  }

  @Test
  void questionForAService() throws InterruptedException {
    BlockingQueue<ServiceReply> answers = new LinkedBlockingQueue<>();
    asked.listen(
        UD_SERVICE,
        new InetSocketAddress("10.0.0.2", 7174),
        accepting(new LinkedBlockingQueue<>()));
    asking.resolve(
        new ServiceRequest(
            UD_SERVICE,
            new InetSocketAddress("10.0.0.1", 40000),
            new InetSocketAddress("10.0.0.2", 7174),
            path(),
            PrivateData.EMPTY),
        new ServiceEvents() {
          @Override
          public void answered(ServiceReply reply) {
            answers.add(reply);
          }

          @Override
          public void unreachable(String tried) {
            throw new AssertionError(tried);
          }

          @Override
          public void failed(VerbsException cause) {
            throw new AssertionError(cause);
          }
        });
    ServiceReply reply = answers.poll(50, TimeUnit.SECONDS);
    assertThat(reply.qpNumber()).isEqualTo(0x44);
    assertThat(reply.qkey()).isEqualTo(0x0123_4567);
  }

  @Test
  void noListenerOnThePort() throws InterruptedException {
    BlockingQueue<String> events = new LinkedBlockingQueue<>();
    asking.connect(request(0x11), new End(events));
    awaitEvents(events, 1, "rejected 8");
  }

  @Test
  void unknownNeighborFailsAtOnce() throws InterruptedException {
    BlockingQueue<String> events = new LinkedBlockingQueue<>();
    Gid nobody = Gid.ofIpv4(0x0a00_0063);
    ConnectRequest r = request(0x11);
    Path path = new Path(A, index(a, A), nobody, 0, 0, 64, 0, 1, Mtu.MTU_1024, 8);
    asking.connect(
        Requests.of(SERVICE, r.local(), new InetSocketAddress("10.0.0.99", 7174), path, 0x11, 8),
        new End(events));
    assertThat(events.poll(50, TimeUnit.SECONDS)).contains("unreachable", "is not known");
    await(() -> asking.size() == 0);
  }

  @Test
  void deviceHasOneCarrierAtATime() {
    assertErrno(Errno.EBUSY, () -> IbCarrier.of(a));
    asking.close();
    asking.close();
    asking = IbCarrier.of(a);
  }

  @Test
  void endOfACarrierTellsItsPeers() throws InterruptedException {
    BlockingQueue<String> events = new LinkedBlockingQueue<>();
    asked.listen(SERVICE, new InetSocketAddress("0.0.0.0", 7174), accepting(events));
    End end = new End(events);
    end.handshake = asking.connect(request(0x100), end);
    awaitEvents(events, 2, "established");
    asking.close();
    awaitEvents(events, 1, "timeWaitExited");
    await(() -> asked.size() == 0);
  }
}

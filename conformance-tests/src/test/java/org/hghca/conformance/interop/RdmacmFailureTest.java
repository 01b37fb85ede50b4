package org.hghca.conformance.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.hghca.cm.CmEvent;
import org.hghca.cm.CmEventType;
import org.hghca.cm.CmId;
import org.hghca.cm.EventChannel;
import org.hghca.cm.PortSpace;
import org.hghca.conformance.interop.GuestProgram.End;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * Clients of librdmacm in the guest whose server fails them: each meets a server of Linux first, in
 * the guest, then one of ours, and must end and print the same.
 */
@WithSoftRoce
@DisplayName("unmodified")
class RdmacmFailureTest {
  private static final int LONGEST_PING_SECONDS = 15;
  private static final String OURS = "10.99.0.1";
  private static final String GUESTS = "10.99.0.11";

  /** More messages than a completion queue of soft RoCE holds: ucmatose then refuses. */
  private static final String TOO_MANY = " -C 10000000";

  private Bench bench;

  @BeforeEach
  void take(Bench itsBench) {
    bench = itsBench;
  }

  private GuestProgram guest(String name, String command) {
    return GuestProgram.start(bench.guest(), name, command);
  }

  private End client(String command) {
    return guest("client", command).await();
  }

  private CmId listen(EventChannel channel, PortSpace space, int port) throws Exception {
    CmId id = channel.createId(space);
    id.bind(new InetSocketAddress(InetAddress.getByName(OURS), port));
    id.listen(0);
    return id;
  }

  /** Refuses the first request that comes. */
  private End refused(PortSpace space, int port, String command) throws Exception {
    try (EventChannel channel = EventChannel.open(bench.context());
        CmId listener = listen(channel, space, port)) {
      assertThat(listener.localAddress().getPort()).isEqualTo(port);
      GuestProgram client = guest("client", command);
      try (CmEvent request = channel.await();
          CmId asking = request.id()) {
        assertThat(request.type()).isEqualTo(CmEventType.CONNECT_REQUEST);
        asking.reject(new byte[0]);
        return client.await();
      }
    }
  }

  @Test
  @DisplayName("ucmatose, whose server refuses")
  void refusedConnection() throws Exception {
    GuestProgram server =
        GuestProgram.listening(bench.guest(), "server", "ucmatose -b " + GUESTS + TOO_MANY);
    End linux = client("ucmatose -s " + GUESTS).with(28);
    assertThat(server.await().output()).contains("cmatose: failing connection request");
    assertThat(linux.output()).contains("cmatose: event: RDMA_CM_EVENT_REJECTED, error: 28\n");
    assertThat(refused(PortSpace.TCP, 7471, "ucmatose -s " + OURS)).isEqualTo(linux);
  }

  @Test
  @DisplayName("udaddy, whose server refuses")
  void refusedService() throws Exception {
    GuestProgram server =
        GuestProgram.listening(bench.guest(), "server", "udaddy -b " + GUESTS + " -S 5000");
    End linux = client("udaddy -s " + GUESTS).with(2);
    assertThat(server.await().output()).contains("udaddy: failing connection request");
    assertThat(linux.output()).contains("udaddy: event: RDMA_CM_EVENT_UNREACHABLE, error: 2\n");
    assertThat(refused(PortSpace.UDP, 7174, "udaddy -s " + OURS)).isEqualTo(linux);
  }

  @Test
  @DisplayName("rping, ucmatose, udaddy and rdma_client, with no listener on the port")
  void noListenerOnThePort() throws Exception {
    try (EventChannel channel = EventChannel.open(bench.context());
        CmId other = listen(channel, PortSpace.TCP, 7999)) {
      assertThat(other.localAddress().getPort()).isEqualTo(7999);
      End ucmatose = client("ucmatose -s " + GUESTS).with(8);
      assertThat(client("ucmatose -s " + OURS)).isEqualTo(ucmatose);
      End udaddy = client("udaddy -s " + GUESTS).with(1);
      assertThat(client("udaddy -s " + OURS)).isEqualTo(udaddy);
      End rdmaClient = client("rdma_client -s " + GUESTS).with(255);
      assertThat(client("rdma_client -s " + OURS)).isEqualTo(rdmaClient);
      // rping ends while another thread of it may print more.
      End rping = client("rping -c -a " + GUESTS).with(255);
      assertThat(rping.output()).startsWith("cma event RDMA_CM_EVENT_REJECTED, error 8\n");
      assertThat(client("rping -c -a " + OURS).with(255).output())
          .startsWith("cma event RDMA_CM_EVENT_REJECTED, error 8\n");
    }
  }

  /**
   * A client learns that its server was killed. What else it prints depends on the step of the
   * ping; and it may wait for ever after that, with a server of Debian's, too, since two threads of
   * it race.
   */
  @Test
  @DisplayName("rping, whose server is killed")
  void killedServer() {
    OurProgram ours = bench.start("rping -s -v -a " + OURS);
    GuestProgram client = guest("client", "rping -c -V -a " + OURS);
    ours.awaitOutput("rdma-ping-10:");
    ours.interrupt();
    ours.await(130);
    assertThat(client.await(LONGEST_PING_SECONDS).output())
        .contains("client DISCONNECT EVENT...\n");
  }
}

package org.hghca.conformance.interop;

import static org.assertj.core.api.Assertions.assertThat;

import org.hghca.conformance.interop.GuestProgram.End;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * The programs of librdmacm with both ends in the guest: what they print and how they end is what
 * the tests with one end of ours expect.
 */
@WithSoftRoce
@DisplayName("both ends in the guest")
class GuestAloneTest {
  private static final String ADDRESS = "10.99.0.11";

  private GuestVerbs guest;

  @BeforeEach
  void take(GuestVerbs its) {
    guest = its;
  }

  @Test
  @DisplayName("rping")
  void rping() {
    GuestProgram server =
        GuestProgram.listening(guest, "server", "rping -s -a " + ADDRESS + " -C 3 -v");
    End client =
        GuestProgram.start(guest, "client", "rping -c -a " + ADDRESS + " -C 3 -v").await().with(0);
    assertThat(client.output()).contains("ping data: rdma-ping-2: CDEF");
    assertThat(server.await().with(0).output())
        .contains("server ping data: rdma-ping-2: CDEF", "server DISCONNECT EVENT...");
  }

  @Test
  @DisplayName("rping, with no listener on the port")
  void noListenerOnThePort() {
    End client = GuestProgram.start(guest, "client", "rping -c -a " + ADDRESS + " -p 7999").await();
    assertThat(client.with(255).output()).contains("cma event RDMA_CM_EVENT_REJECTED, error 8");
  }
}

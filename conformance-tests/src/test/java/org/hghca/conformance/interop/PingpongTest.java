package org.hghca.conformance.interop;

import java.io.IOException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * The ping-pongs of libibverbs with each kind of queue pair. The time-out of the originals is 67
 * ms, which an emulated processor that is not scheduled exceeds: soft RoCE then repeats without
 * need, and stops for good when the ACK of all of it comes in the middle of more than 64 packets.
 * Messages here have fewer.
 */
@WithEachCard
@DisplayName("unmodified, with the tool of that name:")
class PingpongTest {
  private Pingpongs pingpongs;

  @BeforeEach
  void take(Bench bench) {
    pingpongs = new Pingpongs(bench);
  }

  @ParameterizedTest(name = "ibv_{0}_pingpong as client, {1} bytes{2}", quoteTextArguments = false)
  @PingpongOptions
  void guestIsClient(String kind, int size, String more) throws IOException {
    String options = " -n 100 -s " + size + more;
    Pingpongs.assertPlayed(pingpongs.weServe(kind, options, options), kind, size, 100);
  }

  @ParameterizedTest(name = "ibv_{0}_pingpong as server, {1} bytes{2}", quoteTextArguments = false)
  @PingpongOptions
  void guestServes(String kind, int size, String more) {
    String options = " -n 100 -s " + size + more;
    Pingpongs.assertPlayed(pingpongs.guestServes(kind, options, options), kind, size, 100);
  }
}

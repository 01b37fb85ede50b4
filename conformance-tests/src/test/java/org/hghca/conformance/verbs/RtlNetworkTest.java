package org.hghca.conformance.verbs;

import java.nio.file.Path;
import java.util.SplittableRandom;
import org.hghca.conformance.profile.OnlyOn;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.verbs.QpType;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Two software HCAs of the first RTL that exchange its frames over a stream. The RTL repeats
 * nothing, and what the listening side sends before it has accepted its peer is lost: the right
 * side, which has connected, sends first.
 */
@OnlyOn(value = "r1", why = "the encapsulation is that of the makers' first RTL")
class RtlNetworkTest {
  @TempDir private Path folder;
  private final SplittableRandom random = new SplittableRandom(3);

  @BeforeEach
  void ownDevices() {
    TestProfile.requireModel();
  }

  private Fabric fabric() {
    Path socket = folder.resolve("net");
    return Fabric.on(
        "model:rtl-left?profile=r1&mtu=4300&net=stream:listen:" + socket,
        "model:rtl-right?profile=r1&mtu=4300&net=stream:" + socket);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 5, 64, 1023, 4096, 4097, 20_000})
  void messagesArriveBothWays(int length) {
    try (RcPair pair = new RcSetup().on(fabric())) {
      exchange(pair.right, pair.left, length);
      exchange(pair.left, pair.right, length);
    }
  }

  private void exchange(Side from, Side to, int length) {
    from.randomize(0, length, random);
    to.expect(0, from, 0, length);
    from.qp.postSend(
        from.send
            .rdmaWrite(to.address(0), to.buffer.rkey())
            .sge(from.buffer, 0, length)
            .signaled());
    Side.assertSuccess(from.sent());
    to.verifyWritten("WRITE of %d bytes".formatted(length));

    to.postReceive(1, 0, length);
    from.randomize(0, length, random);
    to.expect(0, from, 0, length);
    from.qp.postSend(from.send.send().sge(from.buffer, 0, length).signaled());
    Side.assertSuccess(from.sent());
    Side.assertSuccess(to.received());
    to.verifyWritten("SEND of %d bytes".formatted(length));

    to.randomize(0, length, random);
    from.expect(0, to, 0, length);
    from.qp.postSend(
        from.send.rdmaRead(to.address(0), to.buffer.rkey()).sge(from.buffer, 0, length).signaled());
    Side.assertSuccess(from.sent());
    from.verifyWritten("READ of %d bytes".formatted(length));
  }

  @Test
  void datagramArrives() {
    try (RcPair pair = new RcSetup().type(QpType.UD).on(fabric())) {
      RcPair.sendDatagram(pair.right, pair.left, 99);
    }
  }
}

package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.hghca.model.Disturbance;
import org.hghca.model.Hub;
import org.hghca.model.ModelProvider;
import org.hghca.model.SoftwareHca;
import org.hghca.verbs.Context;
import org.hghca.verbs.QpType;
import org.hghca.verbs.RdmaDevices;
import org.hghca.vfio.Locator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Three software HCAs on a hub. */
class HubTest {
  private static final int LENGTH = 3000;

  private final SplittableRandom random = new SplittableRandom(7);
  private final RcSetup setup = new RcSetup();

  /** One side of each connection between the three, and the hub that joins them. */
  private final class Net implements AutoCloseable {
    final Fabric fabric;
    final Context third;
    final Side a;
    final Side b;
    final Side bToC;
    final Side c;
    final SoftwareHca hcaOfA;
    final SoftwareHca hcaOfB;
    final SoftwareHca hcaOfC;
    final Hub hub;
    private boolean left;

    Net(boolean virtualTime) {
      fabric = Fabric.onHub(virtualTime);
      third = RdmaDevices.open(fabric.locatorOfThird());
      a = new Side(fabric, fabric.left(), setup);
      b = new Side(fabric, fabric.right(), setup);
      bToC = new Side(fabric, fabric.right(), setup);
      c = new Side(fabric, third, setup);
      hcaOfA = hca(fabric.left());
      hcaOfB = hca(fabric.right());
      hcaOfC = hca(third);
      hub = hcaOfA.hub().orElseThrow();
      RcPair.connect(setup, a.qp, b.qp);
      RcPair.connect(setup, bToC.qp, c.qp);
    }

    private static SoftwareHca hca(Context context) {
      return ModelProvider.hca(Locator.parse(context.device().locator())).orElseThrow();
    }

    long carriedTo(SoftwareHca hca) {
      return hub.countersTo(hca).carried();
    }

    /** Closes the third HCA and its objects. */
    void leave() {
      c.close();
      third.close();
      left = true;
    }

    @Override
    public void close() {
      a.close();
      b.close();
      bToC.close();
      if (!left) {
        leave();
      }
      fabric.close();
    }
  }

  private void write(Side from, Side to) {
    from.randomize(0, LENGTH, random);
    to.expect(0, from, 0, LENGTH);
    from.qp.postSend(
        from.send
            .rdmaWrite(to.address(0), to.buffer.rkey())
            .sge(from.buffer, 0, LENGTH)
            .signaled());
    Side.assertSuccess(from.sent());
    to.verifyWritten("what was written through the hub");
  }

  @ParameterizedTest(name = "virtual time {0}")
  @ValueSource(booleans = {true, false})
  void eachHcaReachesTheOthersAndOnlyUnknownAddressesAreFlooded(boolean virtualTime) {
    try (Net net = new Net(virtualTime)) {
      assertThat(net.hcaOfC.hub()).containsSame(net.hub);
      write(net.a, net.b); // b has not sent yet
      assertThat(net.carriedTo(net.hcaOfC)).as("flooded").isPositive();

      long seenByC = net.carriedTo(net.hcaOfC);
      write(net.a, net.b);
      write(net.b, net.a);
      assertThat(net.carriedTo(net.hcaOfC)).as("after learning").isEqualTo(seenByC);

      long seenByA = net.carriedTo(net.hcaOfA);
      write(net.bToC, net.c); // c has not sent yet
      assertThat(net.carriedTo(net.hcaOfA)).as("flooded").isGreaterThan(seenByA);

      seenByA = net.carriedTo(net.hcaOfA);
      write(net.bToC, net.c);
      write(net.c, net.bToC);
      assertThat(net.carriedTo(net.hcaOfA)).as("after learning").isEqualTo(seenByA);

      seenByC = net.carriedTo(net.hcaOfC);
      write(net.a, net.b);
      assertThat(net.carriedTo(net.hcaOfC)).isEqualTo(seenByC);
    }
  }

  @ParameterizedTest(name = "virtual time {0}")
  @ValueSource(booleans = {true, false})
  void disturbedPathDelaysOnlyItsOwnTraffic(boolean virtualTime) {
    try (Net net = new Net(virtualTime)) {
      net.hub.disturbTo(net.hcaOfC, Disturbance.NONE.withDrop(1));
      write(net.a, net.b);
      net.hub.disturbTo(net.hcaOfC, Disturbance.NONE);
      write(net.bToC, net.c);
      assertThat(net.hub.countersTo(net.hcaOfC).dropped()).isPositive();
      assertThat(net.hub.countersTo(net.hcaOfB).dropped()).isZero();
    }
  }

  @ParameterizedTest(name = "virtual time {0}")
  @ValueSource(booleans = {true, false})
  void hcaThatLeavesKeepsTheOthersConnected(boolean virtualTime) {
    try (Net net = new Net(virtualTime)) {
      write(net.a, net.b);
      write(net.bToC, net.c);
      net.leave();
      write(net.a, net.b);
      write(net.b, net.a);
    }
  }

  @Test
  void datagramsHaveTheSourceAddressOfTheirPort() {
    RcSetup datagrams = new RcSetup().type(QpType.UD);
    try (RcPair pair = datagrams.on(Fabric.onHub(true))) {
      pair.sendDatagram(100);
      Hub hub = Net.hca(pair.left.context).hub().orElseThrow();
      assertThat(hub.invalidSources()).isZero();
    }
  }
}

package org.hghca.tools.bringup.verbs;

import java.util.ArrayList;
import java.util.List;
import org.hghca.tools.bringup.board.Driver;
import org.hghca.tools.bringup.step.Capability;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.step.Step;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.Completions;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcStatus;

/**
 * What of the data path works without a loop: a board whose data path is dead differs from one
 * without a cable.
 */
public final class PathSteps {
  private static final int BYTES = 4096;
  private static final int LENGTH = 64;

  /** The bytes before a datagram in its receive. */
  private static final int HEADER = 40;

  private final Driver driver;

  public PathSteps(Driver driver) {
    this.driver = driver;
  }

  /** Of a device whose requests the steps without the driver do not ring. */
  public List<Step> ofEveryStage() {
    List<Step> steps = new ArrayList<>();
    steps.add(
        Step.of(
            "path.doorbell",
            "a request completes that needs no network",
            "verbs: a request in ERR is flushed",
            "the notification of the send queue; the buffers of the completion queue",
            this::flush,
            Capability.DRIVER));
    steps.addAll(ofDatagram());
    return steps;
  }

  /** Of a card. */
  public List<Step> ofDatagram() {
    return List.of(
        Step.of(
            "path.datagram",
            "a datagram completes, for which nothing comes back",
            "verbs: a datagram completes when it was sent",
            "where path.doorbell passed: the read of the payload, the link, the MAC; else what"
                + " path.doorbell names",
            this::datagram,
            Capability.DRIVER));
  }

  private void flush(Observation o) {
    o.expect("the request is flushed within %s".formatted(driver.options().limit()));
    try (Pair pair = new Pair(driver, QpType.RC, BYTES, 0).connect()) {
      pair.left().pair().modify(QpAttributes.to(QpState.ERR));
      pair.left()
          .pair()
          .postSend(new SendRequest(1).wrId(1).send().sge(pair.left().memory(), 0, LENGTH));
      o.check(
          pair.await(pair.left(), driver.options().limit()),
          "no completion: the notification did not arrive, or the device fetched no request, or"
              + " wrote no completion");
      Completions c = pair.completions();
      o.saw(c.describe(0));
      o.check(
          c.status(0) == WcStatus.WR_FLUSH_ERR && c.wrId(0) == 1,
          "expected wr_id 1 flushed, not %s".formatted(c.describe(0)));
    }
  }

  private void datagram(Observation o) {
    if (!driver.abilities().datagramsAlone()) {
      throw Observation.skip("what a datagram to nobody does on the second RTL is not known");
    }
    o.expect("a completion of the sender within %s".formatted(driver.options().limit()));
    try (Pair pair = new Pair(driver, QpType.UD, BYTES, 0);
        AddressHandle way = pair.activate()) {
      pair.right()
          .pair()
          .postReceive(new ReceiveRequest(1).into(pair.right().memory(), 0, HEADER + LENGTH));
      pair.left()
          .pair()
          .postSend(
              new SendRequest(1)
                  .send()
                  .sge(pair.left().memory(), BYTES / 2, LENGTH)
                  .to(way, pair.right().pair().number(), Pair.QKEY));
      o.check(
          pair.await(pair.left(), driver.options().limit()),
          "no completion: the card has not read the payload, or cannot send a packet (no link or"
              + " MAC)");
      o.saw(pair.completions().describe(0));
      o.check(
          pair.completions().isSuccess(0),
          "the status is '%s'".formatted(pair.completions().status(0).text()));
    }
  }
}

package org.hghca.tools.bringup.verbs;

import java.time.Duration;
import java.util.List;
import org.hghca.tools.bringup.board.Driver;
import org.hghca.tools.bringup.board.Target;
import org.hghca.tools.bringup.step.Capability;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.step.Step;
import org.hghca.tools.bringup.step.StepFailedException;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WcStatus;

/** Errors that do not stop the card, and events. */
public final class ErrorSteps {
  private static final int BYTES = 8192;

  private static final int SHORT_TIMEOUT = 8;
  private static final int SHORT_RNR = 1;

  private final Driver driver;

  public ErrorSteps(Driver driver) {
    this.driver = driver;
  }

  public List<Step> steps() {
    return List.of(
        error("err.lkey", "a SEND with an unknown key", this::localKey, Capability.DRIVER),
        error(
            "err.flush",
            "a queue pair that goes to ERR flushes its receives",
            this::flush,
            Capability.DRIVER),
        error(
            "err.rkey",
            "an RDMA WRITE to memory that was deregistered",
            this::remoteKey,
            Capability.MESSAGES),
        error(
            "err.rnr", "a SEND that finds no receive", this::receiverNotReady, Capability.MESSAGES),
        error("err.timeout", "a SEND to a peer that has left", this::timeout, Capability.MESSAGES),
        Step.of(
                "event.cq",
                "a completion wakes the thread that waits for it",
                "interface document, 3.2.4 (event queues); CQ arm is an extension",
                "MSI-X table and vectors; where the card has no events the driver polls for them",
                this::event,
                Capability.MESSAGES)
            .giving(Capability.EVENTS));
  }

  private static Step error(String id, String title, Step.Body body, Capability need) {
    return Step.of(
        id,
        title,
        "interface document, tables 3-3-4 and 3-3-5; RTL ENG/RequesterRecvControl.v",
        "run the step alone with --only and look at the completion",
        o -> {
          o.expectEvents();
          body.run(o);
        },
        need);
  }

  private Pair pair() {
    return new Pair(driver, QpType.RC, BYTES, 0);
  }

  /** The next completion of the left end. */
  private void await(Observation o, Pair pair) {
    o.check(
        pair.await(pair.left(), driver.options().limit()),
        "no completion within %s".formatted(driver.options().limit()));
    o.saw("%s".formatted(pair.completions().describe(0)));
  }

  /** The error is over: another pair works. */
  private void checkAlive(Observation o) {
    if (!driver.isLooped()) {
      return;
    }
    try (Pair other = pair().connect()) {
      o.check(new Transfers(driver, other).probe(64), "afterwards another pair does not work");
    }
    o.saw("afterwards another pair works");
  }

  private void localKey(Observation o) {
    boolean careful = !driver.abilities().keysSafe();
    o.expect(
        careful
            ? "the driver refuses it with EINVAL: it would stop the card"
            : "refused with EINVAL, or a completion with a local protection error");
    try (Pair pair = pair().connect()) {
      SendRequest request =
          new SendRequest(1).send().sge(pair.left().memory().address(), 64, Target.NO_KEY);
      try {
        pair.left().pair().postSend(request);
      } catch (VerbsException e) {
        o.saw("%s".formatted(e.getMessage()));
        o.check(e.errno() == Errno.EINVAL, "it was refused with %s".formatted(e.errno()));
        return;
      }
      o.check(!careful, "the driver has posted it");
      await(o, pair);
      o.check(
          pair.completions().status(0) == WcStatus.LOC_PROT_ERR,
          "the status is '%s'".formatted(pair.completions().status(0).text()));
    }
    checkAlive(o);
  }

  private void remoteKey(Observation o) {
    if (!driver.abilities().errorCompletions()) {
      throw Observation.skip("this card checks no keys");
    }
    boolean exact = driver.abilities().exactErrors();
    o.expect(
        exact
            ? "a remote access error; the queue pair is in ERR"
            : "an error without a cause; both queue pairs are in ERR; the others work");
    try (Pair pair = pair().connect()) {
      MemoryRegion right = pair.right().memory();
      int gone;
      try (MemoryRegion other = pair.right().domain().allocate(BYTES, right.access())) {
        gone = other.rkey();
      }
      pair.left()
          .pair()
          .postSend(
              new SendRequest(1).rdmaWrite(right.address(), gone).sge(pair.left().memory(), 0, 64));
      await(o, pair);
      WcStatus status = pair.completions().status(0);
      o.check(
          status == WcStatus.REM_ACCESS_ERR || !exact && status == WcStatus.GENERAL_ERR,
          "the status is '%s'".formatted(status.text()));
      QpState state = pair.left().pair().query().state();
      o.saw("the sender is in %s".formatted(state));
      o.check(state == QpState.ERR, "the sender is in %s, not ERR".formatted(state));
    }
    checkAlive(o);
  }

  private void flush(Observation o) {
    o.expect(
        "two receives, flushed"
            + (driver.abilities().flushes() ? "" : ": by the driver, the card does not"));
    try (Pair pair = pair().connect()) {
      QueuePair qp = pair.left().pair();
      ReceiveRequest receive = new ReceiveRequest(1).into(pair.left().memory(), 0, 64);
      qp.postReceive(receive.wrId(1));
      qp.postReceive(receive.wrId(2));
      qp.modify(QpAttributes.to(QpState.ERR));
      for (int id = 1; id <= 2; id++) {
        await(o, pair);
        Completions c = pair.completions();
        o.check(
            c.wrId(0) == id && c.status(0) == WcStatus.WR_FLUSH_ERR,
            "expected wr_id %d flushed, not %s".formatted(id, c.describe(0)));
      }
    }
    checkAlive(o);
  }

  private ConnectionOptions impatient(Pair pair) {
    return ConnectionOptions.DEFAULT
        .withPort(Driver.PORT)
        .withPathMtu(pair.mtu())
        .withMinRnrTimer(SHORT_RNR)
        .withTimeout(SHORT_TIMEOUT)
        .withRetryCount(1)
        .withRnrRetry(1);
  }

  private void checkRetries() {
    if (!driver.abilities().retries()) {
      throw Observation.skip("this card does not retry, and the queue pair's number would be lost");
    }
  }

  private void receiverNotReady(Observation o) {
    checkRetries();
    o.expect("RNR retry counter exceeded");
    try (Pair pair = pair()) {
      pair.connect(impatient(pair));
      pair.left().pair().postSend(new SendRequest(1).send().sge(pair.left().memory(), 0, 64));
      await(o, pair);
      o.check(
          pair.completions().status(0) == WcStatus.RNR_RETRY_EXC_ERR,
          "the status is '%s'".formatted(pair.completions().status(0).text()));
    }
    checkAlive(o);
  }

  private void timeout(Observation o) {
    checkRetries();
    o.expect("transport retry counter exceeded");
    try (Pair pair = pair()) {
      pair.connect(impatient(pair));
      // The peer leaves.
      pair.right().pair().modify(QpAttributes.to(QpState.RESET));
      pair.left().pair().postSend(new SendRequest(1).send().sge(pair.left().memory(), 0, 64));
      await(o, pair);
      o.check(
          pair.completions().status(0) == WcStatus.RETRY_EXC_ERR,
          "the status is '%s'".formatted(pair.completions().status(0).text()));
    }
    checkAlive(o);
  }

  private void event(Observation o) {
    o.expect(
        driver.abilities().events()
            ? "an event of the card"
            : "an event: this card has none, so the driver polls for it");
    try (Pair pair = Pair.notified(driver, BYTES).connect()) {
      CompletionQueue queue = pair.right().queue();
      pair.right().pair().postReceive(new ReceiveRequest(1).into(pair.right().memory(), 0, 64));
      queue.requestNotify(false);
      pair.left().pair().postSend(new SendRequest(1).send().sge(pair.left().memory(), 0, 64));
      Duration limit = driver.options().limit();
      boolean woken = queue.channel().orElseThrow().await(limit).isPresent();
      o.saw(
          "%s; %d completion vectors"
              .formatted(
                  woken ? "woken" : "not woken", driver.right().queryDevice().completionVectors()));
      if (!woken) {
        o.gives(Capability.EVENTS, "no thread woke");
      }
      o.check(woken, "no thread woke within %s".formatted(limit));
      o.check(queue.poll(new Completions(1)) == 1, "woken, but there is nothing to poll");
      o.check(pair.await(pair.left(), limit), "the sender has no completion");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StepFailedException("interrupted");
    }
  }
}

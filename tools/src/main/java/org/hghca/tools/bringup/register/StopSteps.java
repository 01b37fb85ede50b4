package org.hghca.tools.bringup.register;

import java.time.Duration;
import java.util.List;
import org.hghca.abi.Cqe;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.Syndrome;
import org.hghca.abi.WqeOpcode;
import org.hghca.tools.bringup.board.Board;
import org.hghca.tools.bringup.board.Driver;
import org.hghca.tools.bringup.step.Capability;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.step.Step;
import org.hghca.tools.raw.CardStoppedException;

/**
 * Requests that stop the makers' card: posted directly, bypassing the driver's checks, each
 * followed by a reset and a check that the card works again.
 */
public final class StopSteps {
  private static final int LEFT = 7;
  private static final int RIGHT = 23;
  private static final int CQN = 20;
  private static final int NO_KEY = 0x7700_0033;

  /** A refused READ with PSN 0 and one packet of response does not stop the first RTL. */
  private static final int PSN_OF_READ = 5;

  /** The second packet has the last PSN. */
  private static final int PSN_BEFORE_LAST = 0xff_fffe;

  /** Completions after which no end of them is expected: two rounds of the queue. */
  private static final int WITHOUT_END = 64;

  /** How much longer than for an answer to wait for one that must not come. */
  private static final int FACTOR = 20;

  private static final Duration LEAST_PATIENCE = Duration.ofSeconds(1);

  private static final String BETTER =
      "this card does not stop here, as its RTL does: better than expected";

  private final Board board;
  private final Driver driver;

  public StopSteps(Board board, Driver driver) {
    this.board = board;
    this.driver = driver;
  }

  public List<Step> steps() {
    return List.of(
        stop(
            "stop.read",
            "an RDMA READ with an unknown key",
            "interface document, table 3-3-5; RTL: an endless stream of packets, no completion",
            o -> refused(o, PSN_OF_READ, StopSteps::read, Syndrome.REMOTE_ACCESS_ERR)),
        stop(
            "stop.last-element",
            "a SEND whose last element has an unknown key",
            "interface document, table 3-3-5; RTL ENG/WQEParser.v: waits for one more unit",
            o -> refused(o, 0, loop -> loop.post(NO_KEY), Syndrome.LOCAL_PROT_ERR)),
        stop(
            "stop.psn-wrap",
            "a SEND whose packet has the last PSN",
            "InfiniBand: PSNs count modulo 2^24; RTL ENG/RequesterRecvControl.v: completions"
                + " without end",
            this::wrap));
  }

  private interface Blow {
    void strike(RawLoop loop);
  }

  private static Step stop(String id, String title, String source, Step.Body body) {
    return Step.destructive(
        id,
        title,
        source,
        "a card that does not come back after its reset needs its bitstream loaded again",
        body,
        Capability.WHOLE_LOOP);
  }

  private static void read(RawLoop loop) {
    loop.left()
        .access(
            WqeOpcode.RDMA_READ,
            loop.source().key(),
            loop.source().start(),
            RawLoop.LENGTH,
            loop.target().start(),
            NO_KEY);
  }

  private void refused(Observation o, int psn, Blow blow, Syndrome syndrome) {
    boolean stops = prepare();
    o.expect(
        stops
            ? "no completion, and nothing of another queue pair leaves the card"
            : "a completion with syndrome " + syndrome + "; other queue pairs work");
    o.expect("after a reset the card works");
    RawLoop loop = new RawLoop(board, LEFT, RIGHT, CQN, psn);
    RawLoop bystander = bystander();
    blow.strike(loop);
    Duration limit = stops ? patience() : board.options().limit();
    byte[] entry = loop.left().completion(limit);
    boolean alive = bystander.send(o, 1, limit);
    if (stops) {
      o.saw(
          "%s; another queue pair %s"
              .formatted(entry.length == 0 ? "no completion" : "a completion", state(alive)));
      if (entry.length != 0 || alive) {
        o.warn(BETTER);
      }
    } else {
      o.check(entry.length != 0, "no completion");
      int code = entry[Cqe.SYNDROME_OFFSET] & 0xff;
      o.saw("syndrome %02xh; another queue pair %s".formatted(code, state(alive)));
      o.check(code == syndrome.code(), "the syndrome is %02xh".formatted(code));
      o.check(alive, "another queue pair is dead");
    }
    comeBack(o);
  }

  private void wrap(Observation o) {
    boolean stops = prepare();
    o.expect(
        stops
            ? "completions of one SEND without end, and no completion of another queue pair"
            : "one completion of each SEND before, at and after the wrap; other queue pairs work");
    o.expect("after a reset the card works");
    Duration limit = board.options().limit();
    RawLoop loop = new RawLoop(board, LEFT, RIGHT, CQN, PSN_BEFORE_LAST);
    RawLoop bystander = bystander();
    o.check(loop.send(o, 1, limit), "the SEND before the last PSN gave no completion");
    loop.post(loop.source().key());
    // Its bytes may be those of a later one already.
    boolean completed = loop.left().completion(limit).length != 0;
    int more = 0;
    while (more < WITHOUT_END && loop.left().completion(patience()).length != 0) {
      more++;
    }
    boolean alive = bystander.send(o, 2, stops ? patience() : limit);
    boolean survived = completed && more == 0 && alive && stillWorks(o, loop);
    o.saw(
        "%s of the SEND with the last PSN%s; another queue pair %s: this card %s its PSN wrap"
            .formatted(
                completed ? "a completion" : "no completion",
                switch (more) {
                  case 0 -> "";
                  case WITHOUT_END -> ", and more without end";
                  default -> ", and %d more".formatted(more);
                },
                state(alive),
                survived ? "survives" : "does not survive"));
    if (!stops) {
      o.check(survived, "the card does not survive its PSN wrap");
    } else if (survived) {
      o.warn(BETTER);
    }
    comeBack(o);
  }

  /** Whether the message with the last PSN has arrived, and the next one works. */
  private boolean stillWorks(Observation o, RawLoop loop) {
    Duration limit = board.options().limit();
    return loop.right().completion(limit).length != 0 && loop.send(o, 3, limit);
  }

  private static String state(boolean alive) {
    return alive ? "works" : "is dead";
  }

  /**
   * Brings the board up without the driver.
   *
   * @return whether its RTL stops
   */
  private boolean prepare() {
    driver.close();
    board.close();
    board.bringUp();
    if (!board.function().canReset()) {
      throw Observation.skip("the function has no reset: the card would stay stopped");
    }
    if (board.profile() == HardwareProfile.R2) {
      throw Observation.skip("what the second RTL does is not known");
    }
    return board.profile() == HardwareProfile.R1;
  }

  private RawLoop bystander() {
    return new RawLoop(board, LEFT + 1, RIGHT + 1, CQN + 2);
  }

  /** How long to wait for what must not come: some times the longest of all answers so far. */
  private Duration patience() {
    Duration patience = board.waits().longest().multipliedBy(FACTOR);
    Duration enough = LEAST_PATIENCE.compareTo(patience) < 0 ? patience : LEAST_PATIENCE;
    Duration most = board.options().limit().dividedBy(4);
    return enough.compareTo(most) < 0 ? enough : most;
  }

  private void comeBack(Observation o) {
    board.close();
    board.bringUp();
    if (!new RawLoop(board, LEFT, RIGHT, CQN).send(o, 2, board.options().limit())) {
      throw new CardStoppedException("after the reset the card does not work");
    }
    board.close();
    o.saw("after the reset the card works");
  }
}

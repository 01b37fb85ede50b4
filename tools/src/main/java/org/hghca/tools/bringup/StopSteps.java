package org.hghca.tools.bringup;

import java.time.Duration;
import java.util.List;
import org.hghca.abi.Cqe;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.Syndrome;
import org.hghca.abi.WqeOpcode;

/**
 * Requests that stop the makers' card: posted directly, bypassing the driver's checks, each
 * followed by a reset and a check that the card works again.
 */
final class StopSteps {
  private static final int LEFT = 7;
  private static final int RIGHT = 23;
  private static final int CQN = 20;
  private static final int NO_KEY = 0x7700_0033;

  private final Board board;
  private final Driver driver;

  StopSteps(Board board, Driver driver) {
    this.board = board;
    this.driver = driver;
  }

  List<Step> steps() {
    return List.of(
        stop(
            "stop.read",
            "an RDMA READ with an unknown key",
            "interface document, table 3-3-5; RTL: an endless stream of packets, no completion",
            (o, loop) -> read(loop),
            Syndrome.REMOTE_ACCESS_ERR),
        stop(
            "stop.last-element",
            "a SEND whose last element has an unknown key",
            "interface document, table 3-3-5; RTL ENG/WQEParser.v: waits for one more unit",
            (o, loop) -> send(loop),
            Syndrome.LOCAL_PROT_ERR));
  }

  private interface Blow {
    void strike(Observation o, RawLoop loop);
  }

  private Step stop(String id, String title, String source, Blow blow, Syndrome syndrome) {
    return Step.destructive(
        id,
        title,
        source,
        "a card that does not come back after its reset needs its bitstream loaded again",
        o -> stop(o, blow, syndrome),
        "loop.read");
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

  private static void send(RawLoop loop) {
    loop.right().receive(loop.target(), 0, RawLoop.LENGTH);
    loop.left().send(NO_KEY, loop.source().start(), RawLoop.LENGTH);
  }

  private void stop(Observation o, Blow blow, Syndrome syndrome) {
    driver.close();
    board.close();
    board.bringUp();
    if (!board.function().canReset()) {
      throw Observation.skip("the function has no reset: the card would stay stopped");
    }
    if (board.profile() == HardwareProfile.R2) {
      throw Observation.skip("what the second RTL does is not known");
    }
    boolean stops = board.profile() == HardwareProfile.R1;
    o.expect(
        stops
            ? "no completion, and nothing of another queue pair leaves the card"
            : "a completion with syndrome " + syndrome + "; other queue pairs work");
    o.expect("after a reset the card works");
    RawLoop loop = new RawLoop(board, LEFT, RIGHT, CQN);
    RawLoop bystander = new RawLoop(board, LEFT + 1, RIGHT + 1, CQN + 2);
    blow.strike(o, loop);
    // If no completion is expected, the wait is short.
    Duration limit = board.options().limit();
    Duration patience = stops ? limit.dividedBy(4) : limit;
    byte[] entry = loop.left().completion(patience);
    boolean alive = bystander.send(o, 1, patience);
    if (stops) {
      o.saw(
          "%s; another queue pair %s"
              .formatted(
                  entry.length == 0 ? "no completion" : "a completion",
                  alive ? "works" : "is dead"));
      if (entry.length != 0 || alive) {
        o.warn("this card does not stop here, as its RTL does: better than expected");
      }
    } else {
      o.check(entry.length != 0, "no completion");
      int code = entry[Cqe.SYNDROME_OFFSET] & 0xff;
      o.saw("syndrome %02xh; another queue pair %s".formatted(code, alive ? "works" : "is dead"));
      o.check(code == syndrome.code(), "the syndrome is %02xh".formatted(code));
      o.check(alive, "another queue pair is dead");
    }
    comeBack(o);
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

package org.hghca.tools.bringup.data;

import org.hghca.tools.bringup.board.Driver;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.verbs.Pair;
import org.hghca.tools.bringup.verbs.Pair.End;
import org.hghca.verbs.Completions;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcOpcode;

/**
 * Requests of the left queue pair of a pair, of which as many are outstanding as its send queue
 * holds. Their wr_ids are consecutive numbers from 0, and each completes in its turn. One thread.
 */
final class Window {
  private final Driver driver;
  private final Pair pair;
  private final int depth;
  private long posted;
  private long completed;
  private long received;

  /**
   * @param depth of the send queue
   */
  Window(Driver driver, Pair pair, int depth) {
    this.driver = driver;
    this.pair = pair;
    this.depth = depth;
  }

  /** How many requests can be posted now. */
  int room() {
    return depth - outstanding();
  }

  /** Requests without a completion. */
  int outstanding() {
    return (int) (posted - completed);
  }

  /** The wr_id of the next request. */
  long next() {
    return posted;
  }

  /** Takes the oldest completion where the send queue is full. */
  void makeRoom(Observation o, WcOpcode oldest) {
    if (room() == 0) {
      long _ = take(o, oldest);
    }
  }

  /** Takes the completions of all requests, which are of one kind. */
  void takeAll(Observation o, WcOpcode opcode) {
    while (outstanding() > 0) {
      long _ = take(o, opcode);
    }
  }

  /** Posts a request. */
  void post(SendRequest request) {
    pair.left().pair().postSend(request.wrId(posted));
    posted++;
  }

  /** Posts requests in one list; their wr_ids are set. */
  void post(SendRequest[] list) {
    for (int i = 0; i < list.length; i++) {
      list[i].wrId(posted + i);
    }
    pair.left().pair().postSend(list);
    posted += list.length;
  }

  /**
   * Takes the completion of the oldest request.
   *
   * @return its wr_id
   * @throws org.hghca.tools.bringup.step.StepFailedException when it does not come, or another one
   */
  long take(Observation o, WcOpcode opcode) {
    await(o, pair.left(), completed, opcode, "sender");
    return completed++;
  }

  /**
   * Takes the completion of the oldest receive, whose wr_ids count from 0, too.
   *
   * @param length that it must have
   */
  void takeReceive(Observation o, int length) {
    await(o, pair.right(), received, WcOpcode.RECV, "receiver");
    long arrived = pair.completions().byteLength(0);
    o.check(
        arrived == length,
        "message %d: the completion of the receiver has %d bytes, not %d"
            .formatted(received, arrived, length));
    received++;
  }

  /**
   * Waits for the requests that are in flight: a card does not forget those of a closed queue pair.
   */
  void drain() {
    while (outstanding() > 0 && pair.await(pair.left(), driver.options().limit())) {
      completed++;
    }
  }

  private void await(Observation o, End end, long id, WcOpcode opcode, String side) {
    o.check(
        pair.await(end, driver.options().limit()),
        "message %d: the %s has no completion within %s, %d requests outstanding"
            .formatted(id, side, driver.options().limit(), outstanding()));
    Completions c = pair.completions();
    o.check(
        c.isSuccess(0) && c.wrId(0) == id && c.opcode(0) == opcode,
        "message %d: the %s expected wr_id %d, %s, and has %s"
            .formatted(id, side, id, opcode, c.describe(0)));
    o.check(
        c.qpNumber(0) == end.pair().number(),
        "message %d: the completion of the %s names QPN 0x%06x, not 0x%06x"
            .formatted(id, side, c.qpNumber(0), end.pair().number()));
  }
}

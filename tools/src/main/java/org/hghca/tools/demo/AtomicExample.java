package org.hghca.tools.demo;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.util.List;
import org.hghca.tools.demo.Connection.End;
import org.hghca.verbs.Completions;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcOpcode;

/** Atomics: the client adds to a number in the server's memory, then exchanges it for another. */
final class AtomicExample {
  private static final String CHECK = "atomics";
  private static final long FIRST = 40;
  private static final long ADDED = 2;
  private static final long LAST = 7;

  private static final Message<Boolean> SUPPORTED =
      new Message<>("atomics", Object::toString, Boolean::valueOf);

  private final Sides sides;
  private final Journal journal;
  private final SendRequest request = new SendRequest(1);

  AtomicExample(Sides sides) {
    this.sides = sides;
    this.journal = sides.journal();
  }

  /**
   * Runs it, if both devices support atomics.
   *
   * @throws CheckFailedException when a check fails
   */
  void run() {
    for (Part<Side> side : List.of(sides.server(), sides.client())) {
      if (!side.share(SUPPORTED, device -> device.has(DeviceFeature.ATOMICS))) {
        journal.missing(side.role(), DeviceFeature.ATOMICS, "the example leaves them out");
        return;
      }
    }
    Connection connection = new Connection(sides, Long.BYTES);
    Address number = connection.serverAddress();
    connection.server().run(this::load);
    sides.barrier("loaded");
    connection
        .client()
        .run(
            end -> {
              carryOut(
                  end,
                  request.fetchAndAdd(number.memory(), number.rkey(), ADDED),
                  "Fetch and Add Request was posted: +%d".formatted(ADDED),
                  WcOpcode.FETCH_ADD,
                  FIRST);
              carryOut(
                  end,
                  request.compareAndSwap(number.memory(), number.rkey(), FIRST + ADDED, LAST),
                  "Compare and Swap Request was posted: %d for %d".formatted(LAST, FIRST + ADDED),
                  WcOpcode.COMP_SWAP,
                  FIRST + ADDED);
            });
    sides.barrier("changed");
    connection.server().run(this::verify);
    sides.held(CHECK);
  }

  private void load(End end) {
    end.memory().segment().set(JAVA_LONG, 0, FIRST);
    journal.step(end.side(), "buffer loaded with the number %d".formatted(FIRST));
  }

  private void verify(End end) {
    long found = end.memory().segment().get(JAVA_LONG, 0);
    if (found != LAST) {
      throw new CheckFailedException(
          CHECK, "the server's number is %d instead of %d".formatted(found, LAST));
    }
    journal.step(end.side(), "buffer verified: the number is %d".formatted(found));
  }

  private void carryOut(End end, SendRequest atomic, String what, WcOpcode opcode, long before) {
    Side client = end.side();
    end.qp().postSend(atomic.sge(end.memory()).signaled());
    journal.step(client, what);
    client.await(CHECK);
    Completions completions = client.completions();
    journal.step(client, "completion: %s".formatted(completions.describe(0)));
    long original = end.memory().segment().get(JAVA_LONG, 0);
    if (completions.opcode(0) != opcode || original != before) {
      throw new CheckFailedException(
          CHECK, "the client found %d instead of %d".formatted(original, before));
    }
    journal.step(client, "the number was %d".formatted(original));
  }
}

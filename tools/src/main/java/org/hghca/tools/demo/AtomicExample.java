package org.hghca.tools.demo;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.util.List;
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

  private final Journal journal;
  private final Side server;
  private final Side client;
  private final SendRequest request = new SendRequest(1);

  AtomicExample(Journal journal, Side server, Side client) {
    this.journal = journal;
    this.server = server;
    this.client = client;
  }

  /**
   * Runs it, if both devices support atomics.
   *
   * @throws CheckFailedException when a check fails
   */
  void run() {
    for (Side side : List.of(server, client)) {
      if (!side.has(DeviceFeature.ATOMICS)) {
        journal.missing(side, DeviceFeature.ATOMICS, "the example leaves them out");
        return;
      }
    }
    try (Connection connection = new Connection(server, client, Long.BYTES)) {
      long address = connection.serverMemory().address();
      int rkey = connection.serverMemory().rkey();
      connection.serverMemory().segment().set(JAVA_LONG, 0, FIRST);
      journal.step(server, "buffer loaded with the number %d".formatted(FIRST));
      carryOut(
          connection,
          request.fetchAndAdd(address, rkey, ADDED),
          "Fetch and Add Request was posted: +%d".formatted(ADDED),
          WcOpcode.FETCH_ADD,
          FIRST);
      carryOut(
          connection,
          request.compareAndSwap(address, rkey, FIRST + ADDED, LAST),
          "Compare and Swap Request was posted: %d for %d".formatted(LAST, FIRST + ADDED),
          WcOpcode.COMP_SWAP,
          FIRST + ADDED);
      long found = connection.serverMemory().segment().get(JAVA_LONG, 0);
      if (found != LAST) {
        throw new CheckFailedException(
            CHECK, "the server's number is %d instead of %d".formatted(found, LAST));
      }
      journal.step(server, "buffer verified: the number is %d".formatted(found));
      journal.held(CHECK);
    }
  }

  private void carryOut(
      Connection connection, SendRequest atomic, String what, WcOpcode opcode, long before) {
    connection.clientQp().postSend(atomic.sge(connection.clientMemory()).signaled());
    journal.step(client, what);
    client.await(CHECK);
    Completions completions = client.completions();
    journal.step(client, "completion: %s".formatted(completions.describe(0)));
    long original = connection.clientMemory().segment().get(JAVA_LONG, 0);
    if (completions.opcode(0) != opcode || original != before) {
      throw new CheckFailedException(
          CHECK, "the client found %d instead of %d".formatted(original, before));
    }
    journal.step(client, "the number was %d".formatted(original));
  }
}

package org.hghca.conformance.verbs;

import java.lang.foreign.ValueLayout;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.conformance.profile.TestTime;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.junit.jupiter.api.Test;

/** So many messages that every ring wraps many times. */
class RingWrapTest {
  private static final int DEPTH = 128;
  private static final int BATCH = 64;

  /**
   * Each message carries its own number; the peer's buffer has a slot for each position of the
   * ring.
   */
  @Test
  void millionWritesArriveInOrderAndOnce() {
    int messages = DEPTH * TestTime.times(8_000);
    try (RcPair pair = new RcSetup().depth(DEPTH).inline(8).open()) {
      SendRequest[] batch = new SendRequest[BATCH];
      for (int i = 0; i < BATCH; i++) {
        batch[i] = new SendRequest();
      }
      Completions completions = new Completions(BATCH);
      int rkey = pair.right.buffer.rkey();
      int posted = 0;
      int done = 0;
      while (done < messages) {
        // A slot is reused only after the message before it has completed.
        int count = Math.min(Math.min(BATCH, messages - posted), DEPTH - (posted - done));
        for (int i = 0; i < count; i++) {
          int number = posted + i;
          long slot = 8L * (number % DEPTH);
          pair.left.memory().set(ValueLayout.JAVA_LONG, slot, number);
          SendRequest request =
              batch[i]
                  .wrId(number)
                  .rdmaWrite(pair.right.address(slot), rkey)
                  .sge(pair.left.buffer, slot, 8);
          if (number % 8 == 7) {
            request.signaled();
          }
        }
        posted += pair.left.qp.tryPostSend(batch, 0, count);
        for (int n = poll(pair, pair.left.sendQueue, completions), i = 0; i < n; i++) {
          same(done + 7, completions.wrId(i), completions, i);
          done += 8;
        }
        for (int number = Math.max(0, done - DEPTH); number < done && done == posted; number++) {
          long slot = 8L * (number % DEPTH);
          pair.fabric.awaitWritten(
              pair.right.memory().asSlice(slot, 8), pair.left.memory().asSlice(slot, 8));
        }
      }
      pair.right.expectAnything(0, 8L * DEPTH);
      pair.right.verify("a million writes");
      pair.left.assertQuiet();
    }
  }

  /** The receive ring wraps as well: each SEND must meet its own receive. */
  @Test
  void sendsMeetTheirReceivesAcrossRingWraps() {
    int messages = 32 * TestTime.times(3_000);
    try (RcPair pair = new RcSetup().depth(32).open()) {
      Completions completions = new Completions(32);
      ReceiveRequest receive = new ReceiveRequest();
      int posted = 0;
      int sent = 0;
      int received = 0;
      while (received < messages) {
        while (posted < messages
            && pair.right.qp.tryPostReceive(
                receive.wrId(posted).into(pair.right.buffer, 8L * (posted % 32), 8))) {
          posted++;
        }
        while (sent < posted && sent < received + 32) {
          long slot = 8L * (sent % 32);
          pair.left.memory().set(ValueLayout.JAVA_LONG, slot, sent);
          SendRequest send = numbered(pair.left.send.wrId(sent), sent);
          send.sge(pair.left.buffer, slot, 8);
          if (!pair.left.qp.tryPostSend(sent % 16 == 15 ? send.signaled() : send)) {
            break;
          }
          sent++;
        }
        // Frees the queue; otherwise no further send could be posted or received.
        pair.left.sendQueue.poll(completions);
        if (sent == received) {
          continue;
        }
        for (int n = poll(pair, pair.right.receiveQueue, completions), i = 0; i < n; i++) {
          same(received, completions.wrId(i), completions, i);
          if (TestProfile.has(Feature.SEND_WITH_IMMEDIATE)) {
            same(received, completions.immediate(i), completions, i);
          }
          long slot = 8L * (received % 32);
          same(received, pair.right.memory().get(ValueLayout.JAVA_LONG, slot), completions, i);
          received++;
        }
      }
    }
  }

  private static SendRequest numbered(SendRequest request, int number) {
    return TestProfile.has(Feature.SEND_WITH_IMMEDIATE)
        ? request.sendWithImmediate(number)
        : request.send();
  }

  /** An assertion without the cost of one: it runs millions of times. */
  private static void same(long expected, long actual, Completions completions, int index) {
    if (expected != actual || !completions.isSuccess(index)) {
      throw new AssertionError(
          "%d instead of %d; %s".formatted(actual, expected, completions.describe(index)));
    }
  }

  private static int poll(RcPair pair, CompletionQueue queue, Completions completions) {
    int[] found = new int[1];
    pair.fabric.await(() -> (found[0] = queue.poll(completions)) > 0, () -> "no completion");
    return found[0];
  }
}

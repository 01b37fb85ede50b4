package org.hghca.conformance.verbs;

import java.util.ArrayList;
import java.util.List;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WcStatus;

/** A completion as a value, for comparison in tests. */
record Wc(
    long wrId,
    WcStatus status,
    WcOpcode opcode,
    long bytes,
    int qpNumber,
    boolean hasImmediate,
    int immediate,
    int sourceQp) {

  static Wc of(Completions completions, int index) {
    return new Wc(
        completions.wrId(index),
        completions.status(index),
        completions.opcode(index),
        completions.byteLength(index),
        completions.qpNumber(index),
        completions.hasImmediate(index),
        completions.immediate(index),
        completions.sourceQp(index));
  }

  /** Without the numbers of queue pairs, which each device chooses for itself. */
  Wc withoutNumbers() {
    return new Wc(wrId, status, opcode, bytes, 0, hasImmediate, immediate, 0);
  }

  /** The status at the requester; on some profiles only that the request failed. */
  static WcStatus cause(WcStatus known) {
    return TestProfile.pick(Feature.ERROR_CAUSE, known, WcStatus.GENERAL_ERR);
  }

  /** All completions that a queue holds now. */
  static List<Wc> drain(CompletionQueue queue) {
    List<Wc> found = new ArrayList<>();
    Completions completions = new Completions(16);
    for (int n = queue.poll(completions); n > 0; n = queue.poll(completions)) {
      for (int i = 0; i < n; i++) {
        found.add(of(completions, i));
      }
    }
    return found;
  }

  /** Waits for exactly this many completions. */
  static List<Wc> await(Fabric fabric, CompletionQueue queue, int count) {
    List<Wc> found = new ArrayList<>();
    fabric.await(
        () -> {
          found.addAll(drain(queue));
          return found.size() >= count;
        },
        () -> "%d completions instead of %d: %s".formatted(found.size(), count, found));
    if (found.size() > count) {
      throw new AssertionError(
          "%d completions instead of %d: %s".formatted(found.size(), count, found));
    }
    return found;
  }

  /** Waits for a single completion. */
  static Wc awaitOne(Fabric fabric, CompletionQueue queue) {
    return await(fabric, queue, 1).getFirst();
  }
}

package org.hghca.conformance.verbs;

import java.util.ArrayDeque;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WcStatus;
import org.hghca.verbs.WrOpcode;

/**
 * A minimal reference of a reliable connection: requests are executed one after the other, at once,
 * unless they wait for a receive. It says which completions must arrive and what memory must hold;
 * it models neither packets nor time.
 */
final class ReferenceQp {

  /** The reason for which a request must fail. */
  enum Flaw {
    NONE,
    LOCAL_KEY,
    REMOTE_KEY
  }

  /** Parts of a region. */
  record Part(ProgramRegion region, Pieces pieces) {}

  /**
   * A request.
   *
   * @param remote where RDMA reads or writes; null for other operations
   * @param operands of an atomic operation: compare, and swap or add; null for other operations
   */
  record Op(
      long wrId,
      WrOpcode opcode,
      boolean signaled,
      Flaw flaw,
      int immediate,
      Part local,
      Part remote,
      long[] operands) {

    static Op receive(long wrId, Part into) {
      return new Op(wrId, null, true, Flaw.NONE, 0, into, null, null);
    }

    long length() {
      return local.pieces().total();
    }

    private boolean takesReceive() {
      return Transfer.takesReceive(opcode);
    }

    private boolean isWrite() {
      return opcode == WrOpcode.RDMA_WRITE || opcode == WrOpcode.RDMA_WRITE_WITH_IMM;
    }

    private boolean isAtomic() {
      return operands != null;
    }

    /** The value that an atomic request leaves in memory. */
    private long result(long before) {
      if (opcode == WrOpcode.ATOMIC_FETCH_AND_ADD) {
        return before + operands[1];
      }
      return before == operands[0] ? operands[1] : before;
    }

    /** Memory that the request may have changed when it failed. */
    private List<Part> targets() {
      if (isAtomic()) {
        return List.of(local, remote);
      }
      if (opcode == null || opcode == WrOpcode.RDMA_READ) {
        return List.of(local);
      }
      return isWrite() ? List.of(remote) : List.of();
    }
  }

  /** An expected completion. Opcode and length count only for a success. */
  record Expected(long wrId, WcStatus status, WcOpcode opcode, long bytes, int immediate) {

    boolean matches(Wc found) {
      if (found.wrId() != wrId || found.status() != status) {
        return false;
      }
      if (status != WcStatus.SUCCESS) {
        return true;
      }
      boolean counts =
          opcode.isReceive()
              || opcode == WcOpcode.RDMA_READ
              || opcode == WcOpcode.COMP_SWAP
              || opcode == WcOpcode.FETCH_ADD;
      return found.opcode() == opcode
          && (!counts || found.bytes() == bytes)
          && (!found.hasImmediate() || found.immediate() == immediate);
    }
  }

  final QueuePair qp;
  ReferenceQp peer;
  private boolean failed;
  private final ArrayDeque<Op> sends = new ArrayDeque<>();
  private final ArrayDeque<Op> receives = new ArrayDeque<>();
  private final ArrayDeque<Expected> sendCompletions = new ArrayDeque<>();
  private final ArrayDeque<Expected> receiveCompletions = new ArrayDeque<>();
  private final Consumer<Part> done;
  private final Consumer<Part> undefined;

  /**
   * A queue pair in RTS.
   *
   * @param done is called with memory that a request no longer uses
   * @param undefined is called with memory that a failed request may have changed
   */
  ReferenceQp(QueuePair qp, Consumer<Part> done, Consumer<Part> undefined) {
    this.qp = qp;
    this.done = done;
    this.undefined = undefined;
  }

  boolean hasFailed() {
    return failed;
  }

  /** Whether a request waits for a receive. */
  boolean waits() {
    return !sends.isEmpty();
  }

  /** Memory that the waiting request may have changed already. */
  List<Part> changing() {
    return sends.isEmpty() ? List.of() : sends.peek().targets();
  }

  /** Whether a receive is posted that no message has consumed. */
  boolean receives() {
    return !receives.isEmpty();
  }

  /**
   * The length of the receive that the next message without one before it would consume; -1: none.
   */
  long roomForNext(WrOpcode opcode) {
    if (opcode == WrOpcode.RDMA_WRITE_WITH_IMM || !Transfer.takesReceive(opcode)) {
      return Long.MAX_VALUE;
    }
    long ahead = sends.stream().filter(Op::takesReceive).count();
    return peer.receives.stream().skip(ahead).findFirst().map(Op::length).orElse(-1L);
  }

  /** The length of the message that would consume the next receive; -1 for none. */
  long waitingForNextReceive() {
    long ahead = receives.size();
    return peer.sends.stream()
        .filter(op -> op.takesReceive())
        .skip(ahead)
        .findFirst()
        .map(Op::length)
        .orElse(-1L);
  }

  void postSend(Op op) {
    sends.add(op);
    if (failed) {
      flush();
    } else {
      run();
    }
  }

  void postReceive(Op op) {
    receives.add(op);
    if (failed) {
      flush();
    } else {
      peer.run();
    }
  }

  void toError() {
    failed = true;
    flush();
    peer.run();
  }

  private void run() {
    while (!failed && !sends.isEmpty()) {
      Op op = sends.poll();
      if (!step(op)) {
        sends.addFirst(op);
        return;
      }
    }
  }

  /** Executes a request; false when it has to wait. */
  private boolean step(Op op) {
    if (op.flaw() == Flaw.LOCAL_KEY) {
      return fail(op, WcStatus.LOC_PROT_ERR, false);
    }
    if (peer.failed) {
      return fail(op, WcStatus.RETRY_EXC_ERR, false);
    }
    if (op.flaw() == Flaw.REMOTE_KEY) {
      return fail(op, WcStatus.REM_ACCESS_ERR, true);
    }
    if (op.takesReceive()) {
      Op receive = peer.receives.poll();
      if (receive == null) {
        return false;
      }
      if (!op.isWrite() && op.length() > receive.length()) {
        peer.receiveCompletions.add(failure(receive, WcStatus.LOC_LEN_ERR));
        undefined.accept(receive.local());
        return fail(op, WcStatus.REM_INV_REQ_ERR, true);
      }
      if (!op.isWrite()) {
        receive
            .local()
            .region()
            .expect(receive.local().pieces(), op.local().region(), op.local().pieces());
      }
      peer.receiveCompletions.add(
          new Expected(
              receive.wrId(),
              WcStatus.SUCCESS,
              op.isWrite() ? WcOpcode.RECV_RDMA_WITH_IMM : WcOpcode.RECV,
              op.length(),
              op.immediate()));
      done.accept(receive.local());
    }
    if (op.isWrite()) {
      op.remote().region().expect(op.remote().pieces(), op.local().region(), op.local().pieces());
    } else if (op.opcode() == WrOpcode.RDMA_READ) {
      op.local().region().expect(op.local().pieces(), op.remote().region(), op.remote().pieces());
    } else if (op.isAtomic()) {
      long before = op.remote().region().expectedWord(op.remote().pieces());
      op.local().region().expectWord(op.local().pieces(), before);
      op.remote().region().expectWord(op.remote().pieces(), op.result(before));
    }
    if (op.signaled()) {
      sendCompletions.add(
          new Expected(op.wrId(), WcStatus.SUCCESS, op.opcode().completion(), op.length(), 0));
    }
    free(op);
    return true;
  }

  private boolean fail(Op op, WcStatus status, boolean peerToo) {
    sendCompletions.add(failure(op, status));
    op.targets().forEach(undefined);
    free(op);
    failed = true;
    flush();
    if (peerToo) {
      peer.failed = true;
      peer.flush();
    } else if (!peer.failed) {
      peer.run();
    }
    return true;
  }

  private void flush() {
    for (Op op = sends.poll(); op != null; op = sends.poll()) {
      sendCompletions.add(failure(op, WcStatus.WR_FLUSH_ERR));
      op.targets().forEach(undefined);
      free(op);
    }
    for (Op op = receives.poll(); op != null; op = receives.poll()) {
      receiveCompletions.add(failure(op, WcStatus.WR_FLUSH_ERR));
      undefined.accept(op.local());
    }
  }

  private static Expected failure(Op op, WcStatus status) {
    return new Expected(op.wrId(), status, null, 0, 0);
  }

  private void free(Op op) {
    done.accept(op.local());
    if (op.remote() != null) {
      done.accept(op.remote());
    }
  }

  /** Discards everything that is outstanding or unpolled. */
  void reset() {
    for (ArrayDeque<Op> queue : List.of(sends, receives)) {
      for (Op op : queue) {
        op.targets().forEach(undefined);
        free(op);
      }
      queue.clear();
    }
    sendCompletions.clear();
    receiveCompletions.clear();
    failed = false;
  }

  /** A completion was polled. */
  void check(Wc found) {
    ArrayDeque<Expected> queue = found.opcode().isReceive() ? receiveCompletions : sendCompletions;
    Expected expected = queue.poll();
    if (expected == null || !expected.matches(found)) {
      throw new AssertionError("%s instead of %s".formatted(found, expected));
    }
  }

  List<Expected> missing() {
    return Stream.concat(sendCompletions.stream(), receiveCompletions.stream()).toList();
  }
}

package org.hghca.tools.bringup.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.SplittableRandom;
import org.hghca.tools.bringup.board.Driver;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.step.Stages;
import org.hghca.tools.bringup.step.StepFailedException;
import org.hghca.tools.bringup.verbs.Pair.End;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.Completions;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WcStatus;

/** Moves messages over a pair, one at a time, and checks every byte of them. */
public final class Transfers {
  static final int IMMEDIATE = 0x1234_5678;

  /** Bytes around a target that must not change. */
  private static final int GUARD = 64;

  /** The bytes before the message in a datagram's receive. */
  private static final int HEADER = 40;

  private static final byte BLANK = 0x5c;

  /** How a message goes. */
  public enum Kind {
    SEND(WcOpcode.SEND, WcOpcode.RECV),
    SEND_IMM(WcOpcode.SEND, WcOpcode.RECV),
    WRITE(WcOpcode.RDMA_WRITE, null),
    WRITE_IMM(WcOpcode.RDMA_WRITE, WcOpcode.RECV_RDMA_WITH_IMM),
    READ(WcOpcode.RDMA_READ, null);

    private final WcOpcode sent;
    private final WcOpcode received;

    Kind(WcOpcode sent, WcOpcode received) {
      this.sent = sent;
      this.received = received;
    }

    boolean hasImmediate() {
      return this == SEND_IMM || this == WRITE_IMM;
    }
  }

  private final Driver driver;
  private final Pair pair;
  private final SplittableRandom random = new SplittableRandom(42);
  private final SendRequest request = new SendRequest(Pair.ELEMENTS);
  private final ReceiveRequest receive = new ReceiveRequest(1);
  private AddressHandle handle;
  private boolean inline;
  private int elements = 1;
  private long wrId = 100;
  private long bytes;
  private int messages;
  private boolean complete;

  public Transfers(Driver driver, Pair pair) {
    this.driver = driver;
    this.pair = pair;
  }

  /** Messages are datagrams from now on. */
  Transfers to(AddressHandle way) {
    handle = way;
    return this;
  }

  /** Messages are sent inline from now on. */
  Transfers inline() {
    inline = true;
    return this;
  }

  /** Messages are gathered from this number of pieces from now on. */
  Transfers gather(int pieces) {
    elements = pieces;
    return this;
  }

  /** Number of messages transferred. */
  public int messages() {
    return messages;
  }

  /** Number of bytes transferred. */
  public long bytes() {
    return bytes;
  }

  /** Whether the completions of the last message were right, also where its bytes are not. */
  boolean isComplete() {
    return complete;
  }

  /** One SEND that may or may not arrive. */
  boolean probe(int length) {
    End right = pair.right();
    right.pair().postReceive(receive.into(right.memory(), 0, length));
    pair.left().pair().postSend(request.send().sge(pair.left().memory(), 0, length));
    return pair.await(pair.left(), driver.options().limit())
        && pair.completions().isSuccess(0)
        && pair.await(right, driver.options().limit())
        && pair.completions().isSuccess(0);
  }

  /**
   * One message, verified.
   *
   * @param from offset in the memory that it comes from
   * @param to offset in the memory that it goes to, at least the guard
   * @throws StepFailedException when anything about it is wrong
   */
  public void move(Observation o, Kind kind, int length, int from, int to) {
    boolean read = kind == Kind.READ;
    MemoryRegion source = (read ? pair.right() : pair.left()).memory();
    MemoryRegion target = (read ? pair.left() : pair.right()).memory();
    byte[] message = new byte[length];
    random.nextBytes(message);
    MemorySegment.copy(message, 0, source.segment(), ValueLayout.JAVA_BYTE, from, length);
    int header = handle == null ? 0 : HEADER;
    int before = Math.min(to, GUARD);
    MemorySegment around =
        target.segment().asSlice(to - before, before + header + length + GUARD).fill(BLANK);
    String what = "%s of %d bytes from +%d to +%d".formatted(kind, length, from, to);
    long id = wrId++;
    boolean receives = kind.received != null;
    if (receives) {
      receive.wrId(id).empty();
      if (kind != Kind.WRITE_IMM && header + length > 0) {
        receive.sge(target, to, header + length);
      }
      pair.right().pair().postReceive(receive);
    }
    complete = false;
    post(kind, length, from, to, source, target, id);
    awaitSender(o, what, receives, around);
    checkCompletion(o, what, pair.left(), id, kind.sent);
    if (receives) {
      if (!pair.await(pair.right(), driver.options().limit())) {
        o.saw(new Stages(isChanged(around), Optional.of(false), true).text());
        throw missing(what, "receiver");
      }
      checkCompletion(o, what, pair.right(), id, kind.received);
      checkReceive(o, what, kind, header + length);
    }
    complete = true;
    byte[] expected = new byte[before + header + length + GUARD];
    Arrays.fill(expected, BLANK);
    System.arraycopy(message, 0, expected, before + header, length);
    // The header comes from the network, or is undefined.
    MemorySegment.copy(around, ValueLayout.JAVA_BYTE, before, expected, before, header);
    o.compareNow(what, expected, () -> around.toArray(ValueLayout.JAVA_BYTE));
    messages++;
    bytes += length;
  }

  private void post(
      Kind kind, int length, int from, int to, MemoryRegion source, MemoryRegion target, long id) {
    boolean read = kind == Kind.READ;
    long remote = read ? source.address() + from : target.address() + to;
    int rkey = read ? source.rkey() : target.rkey();
    request.wrId(id);
    switch (kind) {
      case SEND -> request.send();
      case SEND_IMM -> request.sendWithImmediate(IMMEDIATE);
      case WRITE -> request.rdmaWrite(remote, rkey);
      case WRITE_IMM -> request.rdmaWriteWithImmediate(remote, rkey, IMMEDIATE);
      case READ -> request.rdmaRead(remote, rkey);
    }
    if (inline) {
      request.inline();
    }
    if (handle != null) {
      request.to(handle, pair.right().pair().number(), Pair.QKEY);
    }
    int at = read ? to : from;
    MemoryRegion local = read ? target : source;
    int pieces = Math.min(elements, Math.max(1, length));
    for (int i = 0; i < pieces && length > 0; i++) {
      int first = (int) ((long) length * i / pieces);
      int end = (int) ((long) length * (i + 1) / pieces);
      request.sge(local, at + first, end - first);
    }
    pair.left().pair().postSend(request);
  }

  private void awaitSender(Observation o, String what, boolean receives, MemorySegment around) {
    if (pair.await(pair.left(), driver.options().limit())) {
      return;
    }
    Optional<Boolean> received =
        receives ? Optional.of(pair.await(pair.right(), Duration.ZERO)) : Optional.empty();
    o.saw(new Stages(isChanged(around), received, false).text());
    throw missing(what, "sender");
  }

  private StepFailedException missing(String what, String side) {
    return new StepFailedException(
        "%s: the %s has no completion within %s".formatted(what, side, driver.options().limit()));
  }

  private static boolean isChanged(MemorySegment around) {
    for (long i = 0; i < around.byteSize(); i++) {
      if (around.get(ValueLayout.JAVA_BYTE, i) != BLANK) {
        return true;
      }
    }
    return false;
  }

  /** Checks the completion that was found. */
  private void checkCompletion(Observation o, String what, End end, long id, WcOpcode opcode) {
    String side = opcode.isReceive() ? "receiver" : "sender";
    Completions c = pair.completions();
    o.check(
        c.status(0) == WcStatus.SUCCESS, "%s: the %s has %s".formatted(what, side, c.describe(0)));
    o.check(
        c.wrId(0) == id && c.opcode(0) == opcode && c.qpNumber(0) == end.pair().number(),
        "%s: the %s expected wr_id %d, %s, QPN 0x%06x, and has %s"
            .formatted(what, side, id, opcode, end.pair().number(), c.describe(0)));
  }

  private void checkReceive(Observation o, String what, Kind kind, int length) {
    Completions c = pair.completions();
    o.check(
        c.byteLength(0) == length,
        "%s: the completion of the receiver has %d bytes, not %d"
            .formatted(what, c.byteLength(0), length));
    boolean delivered = kind.hasImmediate() && driver.abilities().immediateDelivered();
    o.check(
        c.hasImmediate(0) == delivered && (!delivered || c.immediate(0) == IMMEDIATE),
        "%s: the immediate is %s"
            .formatted(what, c.hasImmediate(0) ? "%08x".formatted(c.immediate(0)) : "missing"));
    if (handle != null) {
      o.check(
          c.sourceQp(0) == pair.left().pair().number(),
          "%s: the source is QP 0x%06x".formatted(what, c.sourceQp(0)));
    }
  }
}

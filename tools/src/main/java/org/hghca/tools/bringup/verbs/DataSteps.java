package org.hghca.tools.bringup.verbs;

import static org.hghca.tools.bringup.verbs.Transfers.Kind.READ;
import static org.hghca.tools.bringup.verbs.Transfers.Kind.SEND;
import static org.hghca.tools.bringup.verbs.Transfers.Kind.SEND_IMM;
import static org.hghca.tools.bringup.verbs.Transfers.Kind.WRITE;
import static org.hghca.tools.bringup.verbs.Transfers.Kind.WRITE_IMM;

import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;
import org.hghca.tools.bringup.board.Driver;
import org.hghca.tools.bringup.board.Loop;
import org.hghca.tools.bringup.step.Capability;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.step.Step;
import org.hghca.tools.bringup.step.StepFailedException;
import org.hghca.tools.bringup.verbs.Transfers.Kind;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpType;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;

/** Every operation with data that the card has, over lengths and alignments, byte for byte. */
public final class DataSteps {
  private static final int BYTES = 256 * 1024;
  private static final int TARGET = 4096;

  private static final int LONGER = 256;

  /** Messages that turn the shortest completion queue more than twice. */
  private static final int TURNS = 2 * Pair.COMPLETIONS + 22;

  /** Queue pairs of a card that send at the same time: more than this stop the first RTL. */
  private static final int MOST_QUEUE_PAIRS = 40;

  private static final int[] LENGTHS = {
    1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 255, 256, 257, 511, 512, 513, 1023,
    1024, 1025, 4095, 4096, 4097, 8193, 65536
  };
  private static final int[] INLINE = {1, 12, 13, 28, 32, 64};
  private static final int[] PACKETS = {1, 64, 255, 1000, 1024};
  private static final String WQE = "interface document, tables 3-4-1 to 3-4-13; CQE: 3-3-2";

  /** What a kind of messages shows that completes. */
  private static final Map<Kind, Capability> SHOWN =
      Map.of(SEND, Capability.SEND, WRITE, Capability.WRITE, READ, Capability.READ);

  private final Driver driver;

  public DataSteps(Driver driver) {
    this.driver = driver;
  }

  public List<Step> steps() {
    return List.of(
        data("rc.send", "SEND, reliable connection", o -> rc(o, SEND)).giving(Capability.SEND),
        data("rc.write", "RDMA WRITE, reliable connection", o -> rc(o, WRITE))
            .giving(Capability.WRITE),
        data("rc.read", "RDMA READ, reliable connection", o -> rc(o, READ)).giving(Capability.READ),
        data("rc.send-imm", "SEND with immediate, reliable connection", this::sendImmediate),
        data(
            "rc.write-imm",
            "RDMA WRITE with immediate, reliable connection",
            o -> rc(o, WRITE_IMM)),
        data("rc.inline", "inline data", this::inline),
        data("rc.gather", "data gathered from three pieces", this::gather),
        data("rc.mtu", "every path MTU", this::mtus),
        data("rc.ring", "queues that turn several times", this::turns),
        data("rc.many", "many queue pairs at once, of all kinds of messages", this::many),
        data("rc.zero", "zero-length messages", this::zero),
        data("rc.atomic", "fetch-and-add, compare-and-swap", this::atomics),
        data("uc.send", "SEND, unreliable connection", o -> unreliable(o, SEND)),
        data(
            "uc.write",
            "RDMA WRITE with immediate, unreliable connection",
            o -> unreliable(o, WRITE_IMM)),
        data("ud.send", "SEND, datagram", this::datagrams));
  }

  private static Step data(String id, String title, Step.Body body) {
    return Step.of(
        id,
        title,
        WQE,
        "the message that is named: its length against MTU, page and 32-byte boundaries",
        body,
        Capability.MESSAGES);
  }

  /**
   * All lengths between connected queue pairs; what completes with wrong bytes is there in part.
   */
  private void sweep(Observation o, Pair pair, Kind kind) {
    Transfers transfers = new Transfers(driver, pair);
    try {
      sweep(o, transfers, kind, LENGTHS);
    } catch (StepFailedException e) {
      if (transfers.isComplete() && SHOWN.containsKey(kind)) {
        o.gives(SHOWN.get(kind), "%s completes, but with wrong bytes".formatted(kind));
      }
      throw e;
    }
  }

  /** Offsets of the source; the target follows the profile. */
  private void sweep(Observation o, Transfers transfers, Kind kind, int[] lengths) {
    int alignment = driver.abilities().destinationAlignment();
    int[] from = {0, 1, 31, 100};
    int[] to = {0, 1, 5, 33};
    int next = 0;
    for (int length : lengths) {
      for (int turn = 0; turn < 2; turn++, next++) {
        int offset = to[next % to.length] * alignment;
        try {
          transfers.move(o, kind, length, from[next % from.length], TARGET + offset);
        } catch (StepFailedException e) {
          compareLonger(o, transfers, kind, lengths);
          throw e;
        }
      }
    }
    o.saw(
        "%d messages, %,d bytes, content and completions as expected"
            .formatted(transfers.messages(), transfers.bytes()));
  }

  /** A longer message shows how bytes differ, which a short one cannot. */
  private static void compareLonger(Observation o, Transfers transfers, Kind kind, int[] lengths) {
    if (o.comparisons().isEmpty() || lengths[lengths.length - 1] < LONGER) {
      return;
    }
    try {
      transfers.move(o, kind, LONGER, 0, TARGET);
    } catch (RuntimeException e) {
      o.saw("a message of %d bytes: %s".formatted(LONGER, e.getMessage()));
    }
  }

  private static void expectAll(Observation o, int[] lengths) {
    o.expect(
        ("%d lengths from %d to %,d bytes, each at two alignments; every byte in place, none around"
                + " it changed; one completion each")
            .formatted(lengths.length, lengths[0], lengths[lengths.length - 1]));
  }

  private void rc(Observation o, Kind kind) {
    expectAll(o, LENGTHS);
    if (kind.hasImmediate() && !driver.abilities().immediateDelivered()) {
      o.expect("the receiver does not get the immediate: this card never delivers it");
    }
    try (Pair pair = new Pair(driver, QpType.RC, BYTES, 0).connect()) {
      sweep(o, pair, kind);
    }
  }

  private void sendImmediate(Observation o) {
    if (driver.abilities().immediateDelivered()) {
      rc(o, SEND_IMM);
      return;
    }
    refused(
        o,
        "the card sends half the immediate, and delivers none",
        (pair, request) -> request.sendWithImmediate(1).sge(pair.left().memory(), 0, 8));
  }

  private void inline(Observation o) {
    expectAll(o, INLINE);
    try (Pair pair = new Pair(driver, QpType.RC, BYTES, INLINE[INLINE.length - 1]).connect()) {
      Transfers transfers = new Transfers(driver, pair).inline();
      sweep(o, transfers, SEND, INLINE);
      sweep(o, transfers, WRITE, INLINE);
    }
  }

  private void gather(Observation o) {
    int[] lengths = {3, 96, 1000, 5000};
    expectAll(o, lengths);
    try (Pair pair = new Pair(driver, QpType.RC, BYTES, 0).connect()) {
      Transfers transfers = new Transfers(driver, pair).gather(Pair.ELEMENTS);
      sweep(o, transfers, SEND, lengths);
      sweep(o, transfers, WRITE, lengths);
    }
  }

  private void mtus(Observation o) {
    o.expect("10,000 bytes by SEND, WRITE and READ with each MTU");
    for (Mtu mtu : Mtu.values()) {
      if (mtu.compareTo(driver.left().queryPort(Driver.PORT).activeMtu()) > 0
          || mtu.compareTo(driver.right().queryPort(Driver.PORT).activeMtu()) > 0) {
        continue;
      }
      try (Pair pair =
          new Pair(driver, QpType.RC, BYTES, 0)
              .connect(ConnectionOptions.DEFAULT.withPathMtu(mtu))) {
        Transfers transfers = new Transfers(driver, pair);
        for (Kind kind : new Kind[] {SEND, WRITE, READ}) {
          transfers.move(o, kind, 10_000, 7, TARGET);
        }
      }
      o.saw("MTU %d: %,d bytes three times".formatted(mtu.bytes(), 10_000));
    }
  }

  private void turns(Observation o) {
    o.expect(
        "%d SENDs through queues of %d, and completion queues of %d"
            .formatted(TURNS, Pair.DEPTH, Pair.COMPLETIONS));
    try (Pair pair = Pair.withShortRings(driver, BYTES).connect()) {
      Transfers transfers = new Transfers(driver, pair);
      for (int i = 0; i < TURNS; i++) {
        transfers.move(o, SEND, 32 + i, i, TARGET);
      }
      o.saw("%d messages, %,d bytes".formatted(transfers.messages(), transfers.bytes()));
    }
  }

  private void many(Observation o) {
    DeviceAttributes device = driver.left().queryDevice();
    int count = Math.min(driver.abilities().requestsInFlight(), MOST_QUEUE_PAIRS);
    count = Math.min(count, Math.min(device.maxQp(), device.maxCq()));
    o.expect(
        "%d queue pairs with a request each in flight; %d messages of each, to %,d bytes"
            .formatted(count, ManyPairs.MESSAGES, ManyPairs.LONGEST));
    boolean looped = driver.options().loop() != Loop.PEER;
    try (ManyPairs many = new ManyPairs(driver, looped ? count / 2 : count)) {
      many.run(o);
      o.saw(
          "%d messages, %,d bytes, content and completions as expected"
              .formatted(many.messages(), many.bytes()));
    }
  }

  private void zero(Observation o) {
    if (!driver.abilities().zeroLength()) {
      refused(
          o,
          "this card would lose synchronisation of its streams",
          (pair, request) -> request.send());
      return;
    }
    o.expect("a completion each for SEND and WRITE, and no byte moved");
    try (Pair pair = new Pair(driver, QpType.RC, BYTES, 0).connect()) {
      Transfers transfers = new Transfers(driver, pair);
      transfers.move(o, SEND, 0, 0, TARGET);
      transfers.move(o, WRITE, 0, 0, TARGET);
      o.saw("%d messages".formatted(transfers.messages()));
    }
  }

  private void atomics(Observation o) {
    if (!driver.abilities().atomics()) {
      refused(
          o,
          "the device has none, and an attempt would stop the send side of some",
          (pair, request) ->
              request
                  .fetchAndAdd(pair.right().memory().address(), pair.right().memory().rkey(), 1)
                  .sge(pair.left().memory(), 0, 8));
      return;
    }
    o.expect("40 + 2 = 42, then 42 becomes 7");
    try (Pair pair = new Pair(driver, QpType.RC, BYTES, 0).connect()) {
      MemoryRegion number = pair.right().memory();
      MemoryRegion result = pair.left().memory();
      number.segment().set(ValueLayout.JAVA_LONG, 0, 40);
      SendRequest request = new SendRequest(1);
      long first =
          atomic(
              o, pair, request.fetchAndAdd(number.address(), number.rkey(), 2).sge(result, 0, 8));
      long second =
          atomic(
              o,
              pair,
              request.compareAndSwap(number.address(), number.rkey(), 42, 7).sge(result, 0, 8));
      long left = number.segment().get(ValueLayout.JAVA_LONG, 0);
      o.saw("was %d, was %d, is %d".formatted(first, second, left));
      o.check(first == 40 && second == 42 && left == 7, "the numbers are wrong");
    }
  }

  private long atomic(Observation o, Pair pair, SendRequest request) {
    pair.left().pair().postSend(request);
    o.check(
        pair.await(pair.left(), driver.options().limit()),
        "%s: no completion".formatted(request.opcode()));
    o.check(
        pair.completions().isSuccess(0),
        "%s: %s".formatted(request.opcode(), pair.completions().describe(0)));
    return pair.left().memory().segment().get(ValueLayout.JAVA_LONG, 0);
  }

  private void unreliable(Observation o, Kind kind) {
    expectAll(o, LENGTHS);
    try (Pair pair = new Pair(driver, QpType.UC, BYTES, 0).connect()) {
      sweep(o, pair, kind);
    }
  }

  private void datagrams(Observation o) {
    expectAll(o, PACKETS);
    try (Pair pair = new Pair(driver, QpType.UD, BYTES, 0);
        AddressHandle way = pair.activate()) {
      sweep(o, new Transfers(driver, pair).to(way), SEND, PACKETS);
    }
  }

  /** A request that the driver must not pass to this card. */
  private interface Refused {
    SendRequest prepare(Pair pair, SendRequest request);
  }

  private void refused(Observation o, String why, Refused what) {
    o.expect("the driver refuses it with EOPNOTSUPP: %s".formatted(why));
    try (Pair pair = new Pair(driver, QpType.RC, 4096, 0).connect()) {
      SendRequest request = what.prepare(pair, new SendRequest(1));
      try {
        pair.left().pair().postSend(request);
      } catch (VerbsException e) {
        o.saw("%s".formatted(e.getMessage()));
        o.check(e.errno() == Errno.EOPNOTSUPP, "it was refused with %s".formatted(e.errno()));
        return;
      }
      throw new StepFailedException("the driver has posted it");
    }
  }
}

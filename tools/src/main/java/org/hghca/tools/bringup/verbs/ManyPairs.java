package org.hghca.tools.bringup.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import org.hghca.provider.Undo;
import org.hghca.tools.bringup.board.Driver;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.step.StepFailedException;
import org.hghca.tools.bringup.verbs.Pair.End;
import org.hghca.tools.bringup.verbs.Transfers.Kind;
import org.hghca.verbs.Completions;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QpType;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcOpcode;
import org.hghca.verbs.WcStatus;

/**
 * Reliable connections that carry messages at the same time in both directions: each queue pair one
 * after the other, of all kinds, with every byte compared.
 */
final class ManyPairs implements AutoCloseable {
  static final int LONGEST = 4000;
  static final int MESSAGES = 12;

  private static final Kind[] KINDS = {Kind.SEND, Kind.WRITE, Kind.READ};

  /** The memory of each end: for its own messages, then for those of the other end. */
  private static final int AREA = 8192;

  private static final int TARGET = 1024;
  private static final int STEPS = 32;
  private static final int GUARD = 64;
  private static final byte BLANK = 0x5c;

  private final Driver driver;
  private final SplittableRandom random = new SplittableRandom(43);
  private final SendRequest request = new SendRequest(1);
  private final ReceiveRequest receive = new ReceiveRequest(1);
  private final Completions completions = new Completions(1);
  private final List<Pair> pairs = new ArrayList<>();
  private final List<Lane> lanes = new ArrayList<>();
  private long bytes;

  /** Makes and connects them. */
  ManyPairs(Driver driver, int count) {
    this.driver = driver;
    try {
      for (int i = 0; i < count; i++) {
        Pair pair = new Pair(driver, QpType.RC, 2 * AREA, 0);
        pairs.add(pair);
        pair.connect();
        Lane there = new Lane(lanes.size(), pair.left(), pair.right());
        Lane back = new Lane(lanes.size() + 1, pair.right(), pair.left());
        there.opposite = back;
        back.opposite = there;
        lanes.add(there);
        lanes.add(back);
      }
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /** Number of messages transferred. */
  int messages() {
    return lanes.stream().mapToInt(lane -> lane.done).sum();
  }

  /** Number of bytes transferred. */
  long bytes() {
    return bytes;
  }

  /**
   * Has every queue pair send its messages.
   *
   * @throws StepFailedException when one of them stays away, or anything about it is wrong
   */
  void run(Observation o) {
    lanes.forEach(Lane::post);
    Duration limit = driver.options().limit();
    while (lanes.stream().anyMatch(Lane::isBusy)) {
      if (!driver.waits().until(() -> poll(o), limit)) {
        List<Lane> waiting = lanes.stream().filter(Lane::isBusy).toList();
        throw new StepFailedException(
            "%d of %d queue pairs wait for a completion for %s: %s"
                .formatted(
                    waiting.size(),
                    lanes.size(),
                    limit,
                    waiting.stream().map(Lane::what).collect(Collectors.joining("; "))));
      }
    }
  }

  /** Whether an end had a completion. */
  private boolean poll(Observation o) {
    boolean any = false;
    for (Lane lane : lanes) {
      while (lane.from.queue().poll(completions, 1) != 0) {
        any = true;
        boolean received = completions.status(0) == WcStatus.SUCCESS && isReceive();
        (received ? lane.opposite : lane).completed(o, received);
      }
    }
    return any;
  }

  private boolean isReceive() {
    return completions.opcode(0).isReceive();
  }

  /**
   * Waits for the requests that are in flight: a card does not forget those of a closed queue pair.
   */
  private void drain() {
    boolean _ = driver.waits().until(this::isDrained, driver.options().limit());
  }

  private boolean isDrained() {
    for (Lane lane : lanes) {
      while (lane.from.queue().poll(completions, 1) != 0) {
        lane.sent |= !isReceive();
      }
    }
    return lanes.stream().allMatch(lane -> lane.sent);
  }

  @Override
  public void close() {
    try (Undo closing = new Undo()) {
      pairs.forEach(pair -> closing.add(pair::close));
      pairs.clear();
      drain();
    }
  }

  /** One direction of a connection. */
  private final class Lane {
    private final int number;
    private final End from;
    private final End to;
    private Lane opposite;
    private Kind kind;
    private byte[] message = {};
    private int source;
    private int target;
    private boolean sent = true;
    private boolean received;
    private int done;

    Lane(int number, End from, End to) {
      this.number = number;
      this.from = from;
      this.to = to;
    }

    boolean isBusy() {
      return done < MESSAGES;
    }

    String what() {
      return "QPN 0x%06x, message %d, %s of %d bytes from +%d to +%d"
          .formatted(from.pair().number(), done, kind, message.length, source, target);
    }

    void post() {
      int alignment = driver.abilities().destinationAlignment();
      kind = KINDS[(number + done) % KINDS.length];
      message = new byte[random.nextInt(1, LONGEST + 1)];
      random.nextBytes(message);
      boolean read = kind == Kind.READ;
      source = random.nextInt(TARGET) + (read ? AREA : 0);
      target = TARGET + alignment * random.nextInt(STEPS) + (read ? 0 : AREA);
      MemoryRegion local = from.memory();
      MemoryRegion remote = to.memory();
      around().fill(BLANK);
      MemorySegment.copy(
          message,
          0,
          (read ? remote : local).segment(),
          ValueLayout.JAVA_BYTE,
          source,
          message.length);
      received = kind != Kind.SEND;
      request.wrId(done);
      switch (kind) {
        case SEND -> {
          to.pair().postReceive(receive.wrId(done).into(remote, target, message.length));
          request.send();
        }
        case WRITE -> request.rdmaWrite(remote.address() + target, remote.rkey());
        default -> request.rdmaRead(remote.address() + source, remote.rkey());
      }
      from.pair().postSend(request.sge(local, read ? target : source, message.length));
      sent = false;
    }

    /** The target and what must stay as it is beside it. */
    private MemorySegment around() {
      MemoryRegion memory = (kind == Kind.READ ? from : to).memory();
      return memory.segment().asSlice(target - GUARD, message.length + 2L * GUARD);
    }

    /** Takes a completion; after the last one of a message compares it and posts the next. */
    void completed(Observation o, boolean receiver) {
      WcOpcode opcode =
          receiver
              ? WcOpcode.RECV
              : switch (kind) {
                case SEND -> WcOpcode.SEND;
                case WRITE -> WcOpcode.RDMA_WRITE;
                default -> WcOpcode.RDMA_READ;
              };
      Completions c = completions;
      boolean first = !(receiver ? received : sent);
      sent |= !receiver;
      received |= receiver;
      o.check(
          isBusy()
              && c.status(0) == WcStatus.SUCCESS
              && c.opcode(0) == opcode
              && c.wrId(0) == done
              && c.qpNumber(0) == (receiver ? to : from).pair().number()
              && (!receiver || c.byteLength(0) == message.length)
              && first,
          "%s: the %s has %s".formatted(what(), receiver ? "receiver" : "sender", c.describe(0)));
      if (sent && received) {
        compare(o);
        bytes += message.length;
        done++;
        if (isBusy()) {
          post();
        }
      }
    }

    private void compare(Observation o) {
      byte[] expected = new byte[message.length + 2 * GUARD];
      Arrays.fill(expected, BLANK);
      System.arraycopy(message, 0, expected, GUARD, message.length);
      byte[] seen = around().toArray(ValueLayout.JAVA_BYTE);
      if (!Arrays.equals(expected, seen)) {
        o.compare(what(), expected, seen);
      }
    }
  }
}

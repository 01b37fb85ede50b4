package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.hghca.conformance.profile.OnlyOn;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.model.Cable;
import org.hghca.model.HcaCounters;
import org.hghca.model.Simulation;
import org.hghca.model.SoftwareHca;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WcStatus;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Long messages over a cable with a virtio card at one end or both, as runs of packets and as the
 * packets that a capture needs: memories, completions and all counters are the same.
 */
@OnlyOn(value = "s", why = "the other side is a software HCA of the interface document")
class VirtioRunTest {
  private static final int MESSAGES = 60;
  private static final int BYTES = 1 << 16;

  @TempDir private Path folder;

  @BeforeAll
  static void needsTheModel() {
    TestProfile.requireModel();
  }

  @ParameterizedTest
  @CsvSource({"virtio, virtio, 1", "virtio, model, 2", "model, virtio, 3", "virtio, virtio, 4"})
  void runsCountAsTheirPackets(String left, String right, int seed) {
    String capture = "&capture=" + folder.resolve("packets.pcapng");
    try (Messages packets = new Messages("vp" + seed, left, right, capture, seed);
        Messages runs = new Messages("vr" + seed, left, right, "", seed)) {
      for (int i = 0; i < MESSAGES; i++) {
        packets.post();
        runs.post();
        assertThat(runs.completions()).isEqualTo(packets.completions()).isNotEmpty();
        assertThat(mismatch(runs.pair.left, packets.pair.left)).as("near memory").isEqualTo(-1);
        assertThat(mismatch(runs.pair.right, packets.pair.right)).as("far memory").isEqualTo(-1);
        assertThat(runs.counters()).isEqualTo(packets.counters());
      }
    }
  }

  /**
   * 64 packets each, of which none passes by itself but a request for a READ and acknowledgements.
   */
  @ParameterizedTest
  @CsvSource({"virtio, virtio", "virtio, model", "model, virtio"})
  void aLongMessageIsOneRun(String left, String right) {
    String name = "vm-" + left + "-" + right;
    try (Messages messages = new Messages(name, left, right, "", 5)) {
      RcPair pair = messages.pair;
      long remote = pair.right.address(0);
      int rkey = pair.right.buffer.rkey();
      messages.passOneRun(new SendRequest(1).rdmaWrite(remote, rkey), 64 + 1);
      messages.passOneRun(new SendRequest(1).rdmaRead(remote, rkey), 1 + 64);
      pair.right.postReceive(3, 0, BYTES);
      messages.passOneRun(new SendRequest(1).send(), 64 + 1);
    }
  }

  private static long mismatch(Side one, Side other) {
    return one.memory().mismatch(other.memory());
  }

  /** Random messages over one pair, whose work is done before a post returns. */
  private static final class Messages implements AutoCloseable {
    private final Simulation simulation;
    private final String name;
    private final SplittableRandom random;
    final RcPair pair;

    Messages(String name, String left, String right, String more, int seed) {
      this.name = name;
      this.simulation = Simulation.inline(name);
      this.random = new SplittableRandom(seed);
      String common = "mode=inline&sim=%1$s&cable=%1$s".formatted(name);
      pair =
          new RcPair(
              Fabric.on(
                  "%s:%sl?%s%s".formatted(left, name, common, more),
                  "%s:%sr?%s".formatted(right, name, common)),
              new RcSetup()
                  .bufferSize(BYTES)
                  .sges(2)
                  .mtu(Mtu.MTU_1024)
                  .qpAccess(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ));
      pair.left.randomize(0, BYTES, random);
      pair.right.randomize(0, BYTES, random);
    }

    void post() {
      int length = random.nextInt(2, BYTES);
      int from = random.nextInt(BYTES - length);
      int to = random.nextInt(BYTES - length);
      int cut = random.nextInt(1, length);
      SendRequest request = new SendRequest(2);
      switch (random.nextInt(3)) {
        case 0 -> request.rdmaWrite(pair.right.address(to), pair.right.buffer.rkey());
        case 1 -> request.rdmaRead(pair.right.address(to), pair.right.buffer.rkey());
        default -> {
          pair.right.postReceive(3, to, length);
          request.sendWithImmediate(length);
        }
      }
      request.sge(pair.left.buffer, from, cut).sge(pair.left.buffer, from + cut, length - cut);
      pair.left.qp.postSend(request.wrId(from).signaled());
    }

    /** Sends the whole buffer, or reads into it, which are so many packets in both directions. */
    void passOneRun(SendRequest request, int packets) {
      Cable cable = card("l").cable().orElseThrow();
      long runs = cable.runs();
      long carried = cable.counters().carried();
      pair.left.qp.postSend(request.sge(pair.left.buffer, 0, BYTES).signaled());
      assertThat(completions()).isNotEmpty().allMatch(wc -> wc.status() == WcStatus.SUCCESS);
      assertThat(cable.runs() - runs).as("runs").isEqualTo(1);
      assertThat(cable.counters().carried() - carried).as("packets").isEqualTo(packets);
    }

    List<Wc> completions() {
      List<Wc> all = new ArrayList<>(of(pair.left, pair.left.sendQueue));
      all.addAll(of(pair.right, pair.right.receiveQueue));
      return all;
    }

    private static List<Wc> of(Side side, CompletionQueue queue) {
      List<Wc> found = Wc.drain(queue);
      assertThat(found).allMatch(wc -> wc.qpNumber() == side.qp.number());
      return found.stream().map(Wc::withoutNumbers).toList();
    }

    List<HcaCounters> counters() {
      return List.of(card("l").counters(), card("r").counters());
    }

    private SoftwareHca card(String side) {
      return simulation.hca(name + side).orElseThrow();
    }

    @Override
    public void close() {
      pair.close();
      simulation.close();
    }
  }
}

package org.hghca.tools.perf.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Rounds over scripted peers. */
class PeerRunTest {
  private final List<String> calls = new ArrayList<>();
  private final List<String> lines = new ArrayList<>();

  /** Takes a microsecond for each message, and says so without waiting. */
  private class Scripted implements Peer {
    private final String name;
    private int sent;

    Scripted(String name) {
      this.name = name;
    }

    @Override
    public Flow send(int size, int count) throws IOException, InterruptedException {
      calls.add(name + size);
      return new Flow(count, 1000L * count * ++sent, 3);
    }

    @Override
    public double pingPong(int size, int count) {
      return 2;
    }

    @Override
    public void close() {
      calls.add("close " + name);
    }
  }

  private PeerRun run(Entrant... entrants) {
    return new PeerRun(List.of(entrants), List.of(8, 16), Duration.ofNanos(1), lines::add);
  }

  @Test
  void takesMediansOfRoundsInWhichPeersTakeTurns() {
    PeerRun run =
        run(new Entrant("a", () -> new Scripted("a")), new Entrant("b", () -> new Scripted("b")));
    List<PeerRow> rows = run.run();
    assertThat(calls.subList(4, 12))
        .containsExactly("a8", "a16", "b8", "b16", "a8", "a16", "b8", "b16");
    assertThat(calls).endsWith("close b", "close a").hasSize(4 * (1 + PeerRun.ROUNDS) + 2);
    assertThat(lines)
        .startsWith("warming up: a, 8 bytes", "warming up: a, 16 bytes", "warming up: b, 8 bytes")
        .contains("round 1 of 5: a, 8 bytes")
        .endsWith("round 5 of 5: b, 16 bytes")
        .hasSize(4 * (1 + PeerRun.ROUNDS));
    // Sends 3, 5, 7, 9 and 11 are those of the first size; the median takes 7 us a message.
    PeerRow.Measured first = (PeerRow.Measured) rows.getFirst();
    assertThat(first.megabytes()).isCloseTo(8 / 7.0, within(1e-9));
    assertThat(first.micros()).isEqualTo(2);
    assertThat(first.allocated()).isEqualTo(3);
    assertThat(rows).extracting(PeerRow::peer).containsExactly("a", "b", "a", "b");
    assertThat(rows).extracting(PeerRow::size).containsExactly(8, 8, 16, 16);
  }

  @Test
  void peerThatCannotBeOpenedIsARowThatSaysWhy() {
    PeersReport report =
        new PeersReport(
            Map.of(),
            run(
                    new Entrant(
                        "lonely",
                        () -> {
                          throw new SocketException("Network is unreachable");
                        }),
                    new Entrant("b", () -> new Scripted("b")))
                .run());
    assertThat(report.isGood()).isFalse();
    assertThat(report.rows().getFirst())
        .isEqualTo(new PeerRow.Unmeasured("lonely", 8, "Network is unreachable", true));
    assertThat(report.rows().get(1)).isInstanceOf(PeerRow.Measured.class);
    assertThat(report.text())
        .containsPattern("\nlonely +8    not measured: Network is unreachable\nb +8 +");
    assertThat(report.markdown())
        .contains("| lonely | Network is unreachable | Network is unreachable |\n| b | ");
  }

  @Test
  void peerThatFailsIsMeasuredNoMore() {
    List<PeerRow> rows =
        run(new Entrant(
                "ill",
                () ->
                    new Scripted("ill") {
                      @Override
                      public Flow send(int size, int count)
                          throws IOException, InterruptedException {
                        if (size == 16) {
                          calls.add("ill16");
                          throw new IOException("broken");
                        }
                        return super.send(size, count);
                      }
                    }))
            .run();
    assertThat(rows.get(0)).isInstanceOf(PeerRow.Measured.class);
    assertThat(rows.get(1)).isEqualTo(new PeerRow.Unmeasured("ill", 16, "broken", true));
    assertThat(calls).containsOnlyOnce("ill16");
  }

  @Test
  void sizeThatAPeerDoesNotHaveIsNoFailure() {
    PeersReport report =
        new PeersReport(
            Map.of(),
            run(new Entrant(
                    "small",
                    () ->
                        new Scripted("small") {
                          @Override
                          public String refusal(int size) {
                            return size > 8 ? "too large" : "";
                          }
                        }))
                .run());
    assertThat(report.isGood()).isTrue();
    assertThat(report.rows().get(1))
        .isEqualTo(new PeerRow.Unmeasured("small", 16, "too large", false));
  }

  @Test
  void interruptedRunReportsTheRoundsSoFar() {
    PeerRun run =
        run(
            new Entrant(
                "a",
                () ->
                    new Scripted("a") {
                      @Override
                      public Flow send(int size, int count)
                          throws IOException, InterruptedException {
                        if (calls.size() == 4) {
                          throw new InterruptedException();
                        }
                        return super.send(size, count);
                      }
                    }));
    List<PeerRow> rows = run.run();
    assertThat(run.isInterrupted()).isTrue();
    assertThat(calls).endsWith("close a");
    assertThat(rows)
        .hasSize(2)
        .allSatisfy(row -> assertThat(row).isInstanceOf(PeerRow.Measured.class));
  }

  @Test
  void endThatFailsEndsTheOther() {
    List<String> closed = new ArrayList<>();
    assertThatThrownBy(
            () ->
                TwoThreads.run(
                    () -> closed.add("closed"),
                    () -> {
                      throw new IOException("server");
                    },
                    () -> {
                      while (closed.isEmpty()) {
                        Thread.onSpinWait();
                      }
                    }))
        .isInstanceOf(IOException.class)
        .hasMessage("server");
  }
}

package org.hghca.tools.bringup.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Set;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.QueuePairContext;
import org.hghca.tools.CommandLineRun;
import org.hghca.tools.Fault;
import org.hghca.tools.bringup.Bringup;
import org.hghca.tools.bringup.BringupReport;
import org.hghca.tools.bringup.board.BringupOptions;
import org.hghca.tools.bringup.step.StepResult;
import org.hghca.tools.bringup.step.Verdict;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Steps of {@code hghca bringup} that stop a card, on slow cards, and when they are interrupted.
 */
@Timeout(300)
class BringupHazardsTest {

  private static SessionOptions only(String device, String step) {
    return SessionOptions.of(device)
        .destructive()
        .measure(Duration.ofMillis(10))
        .only(Set.of(step));
  }

  private static StepResult result(BringupReport report, String step) {
    return report.results().stream()
        .filter(result -> result.step().id().equals(step))
        .findFirst()
        .orElseThrow();
  }

  private static StepResult run(String device, String step) {
    return result(new Bringup(only(device, step).done()).run(done -> {}), step);
  }

  /** With PSN 0 the first RTL answers a refused READ of one packet, and lives. */
  @Test
  void refusedReadHasAPsnThatStopsTheCard() {
    StepResult read = run("model:board?profile=r1", "stop.read");

    assertThat(read.verdict()).as(read.reason()).isEqualTo(Verdict.PASS);
    assertThat(read.commands())
        .filteredOn(command -> command.name().equals(HcrCommand.RTR2RTS.name()))
        .extracting(command -> MemorySegment.ofArray(command.inbox()))
        .extracting(
            context -> QueuePairContext.LOCAL_QPN.get(context),
            context -> QueuePairContext.NEXT_SEND_PSN.get(context))
        .contains(tuple(7, 5));
  }

  @Test
  void cardThatStopsAtThePsnWrapIsSeen() {
    StepResult wrap = run("faulty:storm?profile=r1", "stop.psn-wrap");

    assertThat(wrap.verdict()).as("%s %s", wrap.reason(), wrap.seen()).isEqualTo(Verdict.PASS);
    assertThat(wrap.seen().toString())
        .containsPattern(
            "a completion of the SEND with the last PSN,? and (.* more|more without end)")
        .contains("another queue pair is dead: this card does not survive its PSN wrap")
        .contains("after the reset the card works");
  }

  @Test
  void stopAtThePsnWrapOfAnotherCardIsAFailure() {
    StepResult wrap = run("faulty:storm", "stop.psn-wrap");

    assertThat(wrap.verdict()).isEqualTo(Verdict.FAIL);
    assertThat(wrap.reason()).isEqualTo("the card does not survive its PSN wrap");
  }

  @Test
  void psnWrapIsSurvivedByACardOfTheDocument() {
    StepResult wrap = run("model:board", "stop.psn-wrap");

    assertThat(wrap.verdict()).as("%s %s", wrap.reason(), wrap.seen()).isEqualTo(Verdict.PASS);
    assertThat(wrap.seen()).anyMatch(line -> line.endsWith("this card survives its PSN wrap"));
    assertThat(wrap.commands())
        .filteredOn(command -> command.name().equals(HcrCommand.RTR2RTS.name()))
        .extracting(
            command -> QueuePairContext.NEXT_SEND_PSN.get(MemorySegment.ofArray(command.inbox())))
        .contains(0xff_fffe);
  }

  /** A completion is waited for as long as it may take, but not one that must not come. */
  @Test
  void slowCardIsNotWaitedForWhereNothingMustCome() {
    StepResult stop = run("model:board?profile=r1&slow=100", "stop.last-element");

    assertThat(stop.verdict()).as("%s %s", stop.reason(), stop.seen()).isEqualTo(Verdict.PASS);
    assertThat(stop.millis()).isLessThan(50_000);
  }

  /** In 50 ms a card in a logic simulator moves no message. */
  @Test
  void slowCardHasTheTimeToBeMeasured() {
    StepResult speed = run("model:board?slow=500", "speed");

    assertThat(speed.verdict()).as(speed.reason()).isEqualTo(Verdict.PASS);
    // Ten measurements of 0.5 s, those that warm up included.
    assertThat(speed.millis()).isGreaterThan(4_900);
  }

  @ParameterizedTest
  @ValueSource(strings = {"loop.send", "driver.loop"})
  void interruptEndsAWaitAndSaysNothingOfTheCard(String step) {
    Fault.session = Thread.currentThread();
    BringupReport report =
        new Bringup(only("faulty:interrupting?slow=1000", step).done()).run(done -> {});

    assertThat(report.outcome()).isEqualTo(BringupReport.Outcome.INTERRUPTED);
    StepResult result = result(report, step);
    assertThat(result.verdict()).as(result.reason()).isEqualTo(Verdict.SKIP);
    assertThat(result.reason()).isEqualTo("interrupted");
    // The board was released.
    assertThat(CommandLineRun.of("info", "-d", "model:interrupting").exitCode()).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "model:board, 40",
    "model:board?profile=r1, 40",
    "model:board?profile=r2, 40",
    "virtio:board, 32"
  })
  void manyQueuePairsCarryMessagesAtOnce(String device, int count) {
    StepResult many = run(device, "rc.many");

    assertThat(many.verdict()).as("%s %s", many.reason(), many.seen()).isEqualTo(Verdict.PASS);
    assertThat(many.expected()).anyMatch(line -> line.startsWith(count + " queue pairs"));
    assertThat(many.seen()).anyMatch(line -> line.startsWith(12 * count + " messages"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "?profile=r1"})
  void wrongByteOfManyQueuePairsIsSeen(String profile) {
    StepResult many = run("faulty:flip" + profile, "rc.many");

    assertThat(many.verdict()).isEqualTo(Verdict.FAIL);
    assertThat(many.reason()).containsPattern("^QPN 0x.*, message 0, .*: [1-8] of .* bytes differ");
  }

  @Test
  void manyQueuePairsReachAPeer() {
    BringupOptions options =
        only("model:near?profile=r1&cable=many", "rc.many")
            .peer("model:far?profile=r1&cable=many")
            .done();
    StepResult many = result(new Bringup(options).run(done -> {}), "rc.many");

    assertThat(many.verdict()).as("%s %s", many.reason(), many.seen()).isEqualTo(Verdict.PASS);
    assertThat(many.seen()).anyMatch(line -> line.startsWith("960 messages"));
  }
}

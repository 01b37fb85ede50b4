package org.hghca.conformance.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.spi.ToolProvider;
import org.hghca.cm.EventChannel;

/** A command of {@code hghca} that runs in a thread of this process, on a bench's device. */
final class OurProgram {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private final CompletableFuture<Integer> status = new CompletableFuture<>();
  private final Thread thread;

  private OurProgram(String locator, String command) {
    List<String> words = new ArrayList<>(List.of(command.split(" ")));
    Collections.addAll(words, "-d", locator);
    ToolProvider hghca = ToolProvider.findFirst("hghca").orElseThrow();
    thread =
        Thread.ofPlatform()
            .name(command)
            .start(
                () -> {
                  try {
                    status.complete(
                        hghca.run(
                            new PrintWriter(out, true),
                            new PrintWriter(err, true),
                            words.toArray(String[]::new)));
                  } catch (RuntimeException | Error e) {
                    status.completeExceptionally(e);
                  }
                });
  }

  /** Starts a command, whose words are between spaces; {@link Bench#start} ends it, too. */
  static OurProgram start(String locator, String command) {
    return new OurProgram(locator, command);
  }

  /** Waits until it has ended with an exit code, and returns what it has printed. */
  String await(int expected) {
    assertThat(await()).as(output()).isEqualTo(expected);
    return output();
  }

  /** Waits until it has ended, and returns its exit code. */
  int await() {
    try {
      return status.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new AssertionError(unended(), e);
    } catch (ExecutionException | InterruptedException e) {
      throw new AssertionError(thread.getName() + " failed", e);
    }
  }

  boolean hasEnded() {
    return status.isDone();
  }

  /** Waits until it has ended in whatever way, and has closed its device. */
  void awaitEnd() {
    try {
      assertThat(thread.join(PATIENCE)).as(unended()).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(unended(), e);
    }
  }

  private String unended() {
    return "%s does not end: %s%nat %s"
        .formatted(thread.getName(), output(), Arrays.toString(thread.getStackTrace()));
  }

  /** Waits until it takes events of the connection manager, for which a server has to listen. */
  void awaitEvents() {
    Instant end = Instant.now().plus(PATIENCE);
    while (Arrays.stream(thread.getStackTrace())
        .noneMatch(frame -> frame.getClassName().equals(EventChannel.class.getName()))) {
      assertThat(hasEnded()).as(output()).isFalse();
      assertThat(Instant.now()).as(output()).isBefore(end);
      Pause.briefly();
    }
  }

  /** Interrupts it, as Ctrl-C does. */
  void interrupt() {
    thread.interrupt();
  }

  /** Waits until it has printed a text. */
  void awaitOutput(String text) {
    Instant end = Instant.now().plus(PATIENCE);
    while (!output().contains(text)) {
      assertThat(Instant.now()).as(output()).isBefore(end);
      Pause.briefly();
    }
  }

  /** Waits until it has printed a text, or has ended. */
  void awaitEndOr(String text) {
    while (!hasEnded() && !output().contains(text)) {
      Pause.briefly();
    }
  }

  /** What it has printed, errors last. */
  String output() {
    return out.toString() + err;
  }
}

package org.hghca.conformance.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/** A program that runs in the guest, and what it prints. */
final class GuestProgram {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final GuestVerbs guest;
  private final String name;

  /**
   * How a program has ended.
   *
   * @param status its exit code; negative for the number of the signal that ended it
   * @param output its standard output and error
   */
  record End(int status, String output) {
    /** Asserts that it ended with an exit code, and quotes its output otherwise. */
    End with(int expected) {
      assertThat(status).as(output).isEqualTo(expected);
      return this;
    }
  }

  private GuestProgram(GuestVerbs guest, String name) {
    this.guest = guest;
    this.name = name;
  }

  /**
   * Starts a program. One that still runs under that name is killed.
   *
   * @param name for this program, such as "server"
   * @param command words between spaces
   */
  static GuestProgram start(GuestVerbs guest, String name, String command) {
    guest.ask("start", "name", name, "command", command);
    return new GuestProgram(guest, name);
  }

  /** Starts a program that listens with the connection manager, and waits until it does. */
  static GuestProgram listening(GuestVerbs guest, String name, String command) {
    return listening(guest, name, command, command.split(" ")[0]);
  }

  /**
   * The same, of a command that another one starts.
   *
   * @param process the name of the process that listens
   */
  static GuestProgram listening(GuestVerbs guest, String name, String command, String process) {
    GuestProgram program = start(guest, name, command);
    program.awaitListening(process);
    return program;
  }

  /** The kernel's table has a line for each identifier: its state, and the program that has it. */
  private void awaitListening(String process) {
    String comm = "comm " + process + " ";
    Instant end = Instant.now().plus(PATIENCE);
    while (guest
        .ask("run", "command", "rdma resource show cm_id")
        .get("output")
        .lines()
        .noneMatch(line -> line.contains(" LISTEN ") && line.contains(comm))) {
      if (Instant.now().isAfter(end)) {
        throw new AssertionError("%s does not listen: %s".formatted(process, await(0)));
      }
    }
  }

  /** Waits until it has ended; after a minute it is killed. */
  End await() {
    return await(PATIENCE.toSeconds());
  }

  /** Waits until it has ended; after that many seconds it is killed, and its output says so. */
  End await(long seconds) {
    Map<String, String> end = guest.ask("wait", "name", name, "seconds", seconds);
    return new End(Integer.parseInt(end.get("status")), end.get("output"));
  }

  /** Sends it SIGKILL. */
  void kill() {
    guest.ask("kill", "name", name);
  }
}

package org.hghca.programs.rdmacm;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.hghca.cm.CmEvent;
import org.hghca.cm.CmId;

/** The identifiers of a run of ucmatose, udaddy or mckey, from its first line to its last. */
final class Participants {
  private final String program;
  private final PrintWriter out;
  private final List<Participant> all = new ArrayList<>();

  /** What the program does between its first line and the end of its identifiers. */
  interface Course {
    /** Returns its status, 0 for success. */
    int run() throws InterruptedException;
  }

  /**
   * None yet.
   *
   * @param program its name in messages
   */
  Participants(String program, PrintWriter out) {
    this.program = program;
    this.out = out;
  }

  /** Runs the program, closes all identifiers, and returns the status that it prints. */
  int run(Course course) throws InterruptedException {
    int status;
    try {
      status = course.run();
    } catch (FailedException e) {
      out.println(program + ": " + e.getMessage());
      status = e.status();
    } finally {
      all.forEach(Participant::close);
    }
    out.println("test complete");
    out.println("return status " + status);
    return status;
  }

  List<Participant> all() {
    return all;
  }

  List<Participant> connected() {
    return all.stream().filter(Participant::isConnected).toList();
  }

  /** Posts the sends of all that are connected. */
  void postSends() {
    connected().forEach(connected -> connected.node().postSends());
  }

  void awaitSends() throws InterruptedException {
    for (Participant connected : connected()) {
      connected.node().awaitSends();
    }
  }

  void awaitReceives() throws InterruptedException {
    for (Participant connected : connected()) {
      connected.node().awaitReceives();
    }
  }

  Participant of(CmId id) {
    return all.stream().filter(known -> known.id() == id).findFirst().orElseThrow();
  }

  Participant add(CmId id) {
    Participant added = new Participant(id);
    all.add(added);
    return added;
  }

  /**
   * Adds the identifier of a request, or refuses it.
   *
   * @param most so many are served
   */
  Optional<Participant> admit(CmId id, int most) {
    if (all.size() == most) {
      out.println(program + ": failing connection request");
      id.reject(new byte[0]);
      id.close();
      return Optional.empty();
    }
    return Optional.of(add(id));
  }

  /** Reports an event that is a failure; returns its status. */
  int failed(CmEvent event) {
    out.println(
        "%s: event: %s, error: %d".formatted(program, event.type().symbol(), event.status()));
    return event.status();
  }
}

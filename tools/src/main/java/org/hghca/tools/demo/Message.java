package org.hghca.tools.demo;

import java.util.function.Function;
import org.hghca.programs.peer.PeerException;
import org.hghca.verbs.VerbsException;

/**
 * A kind of value that one side sends to the other, as text of one line.
 *
 * @param name without '='
 * @param toText formats a value
 * @param parse parses a value; throws IllegalArgumentException or VerbsException if it is malformed
 */
record Message<T>(String name, Function<T, String> toText, Function<String, T> parse) {

  /** Sends a value to the other side. */
  void send(Rendezvous rendezvous, T value) {
    rendezvous.send(name, toText.apply(value));
  }

  /**
   * Waits for a value of the other side.
   *
   * @param role of the other side
   * @throws PeerException when it sends none, a malformed one, or something else
   */
  T receive(Rendezvous rendezvous, String role) {
    String text = rendezvous.receive(name);
    try {
      return parse.apply(text);
    } catch (IllegalArgumentException | VerbsException e) {
      throw new PeerException(
          "the %s sent %s '%s': %s".formatted(role, name, text, e.getMessage()), e);
    }
  }
}

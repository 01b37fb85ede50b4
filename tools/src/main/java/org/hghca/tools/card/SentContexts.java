package org.hghca.tools.card;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.hghca.abi.HcrCommand;
import org.hghca.tools.raw.CommandRecord;

/** What this session has sent last for each object, and the card has accepted. */
final class SentContexts {
  private final Map<Place, Sent> last = new HashMap<>();

  private record Place(CardObject object, int number) {}

  /**
   * The last command for an object.
   *
   * @param command that was accepted
   * @param inbox empty when it has none
   */
  record Sent(HcrCommand command, byte[] inbox) {}

  /** A command that the card has accepted. */
  void learn(HcrCommand command, CommandRecord given) {
    CardObject.of(command)
        .ifPresent(
            object ->
                last.put(new Place(object, given.inModifier()), new Sent(command, given.inbox())));
  }

  /** The card was reset. */
  void forget() {
    last.clear();
  }

  /** The last command for an object; empty when there was none. */
  Optional<Sent> of(CardObject object, int number) {
    return Optional.ofNullable(last.get(new Place(object, number)));
  }
}

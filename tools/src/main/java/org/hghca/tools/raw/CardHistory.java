package org.hghca.tools.raw;

import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;

/** What the accepted commands since the last reset have given to a card. Thread-safe. */
public final class CardHistory {
  private final IcmPages pages = new IcmPages();
  private final SentContexts sent = new SentContexts();
  private final MttEntries translations = new MttEntries();

  /** Of a card that was given nothing yet. */
  public CardHistory() {}

  /** A command has ended, or was given up. */
  public void learn(CommandRecord given) {
    HcrCommand command = HcrCommand.of(given.opcode()).orElse(null);
    if (command == null || !given.ended() || Hcr.status(given.answer()) != 0) {
      return;
    }
    pages.learn(command, given);
    sent.learn(command, given);
    if (command == HcrCommand.WRITE_MTT) {
      translations.learn(given);
    }
  }

  /** The card was reset. */
  public void forget() {
    pages.forget();
    sent.forget();
    translations.forget();
  }

  /** The pages of the tables. */
  public IcmPages pages() {
    return pages;
  }

  /** The contexts. */
  public SentContexts sent() {
    return sent;
  }

  /** The translation table. */
  public MttEntries translations() {
    return translations;
  }
}

package org.hghca.tools.info;

import java.util.Map;
import org.hghca.driver.HghcaContext;
import org.hghca.programs.perf.page.DeviceFacts;
import org.hghca.verbs.Context;

/** The profile of a card. */
public final class CardFacts implements DeviceFacts {
  /** Used by the service loader. */
  public CardFacts() {}

  @Override
  public Map<String, String> of(Context device) {
    return device instanceof HghcaContext card
        ? Map.of("profile", card.card().profile())
        : Map.of();
  }
}

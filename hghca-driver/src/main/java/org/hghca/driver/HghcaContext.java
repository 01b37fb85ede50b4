package org.hghca.driver;

import org.hghca.verbs.Context;

/** A context of a JingZhao (HanGu) card, with what the verbs do not report. */
public interface HghcaContext extends Context {

  /** The card's properties, and those that the driver uses. */
  CardInformation card();
}

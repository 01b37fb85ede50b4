package org.hghca.driver;

import org.hghca.verbs.Context;

/** A context of a JingZhao (HanGu) card, with what the verbs do not report. */
public interface HghcaContext extends Context {

  /** What the card says of itself, and what the driver uses of it. */
  CardInformation card();
}

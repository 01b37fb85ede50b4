package org.hghca.cm.mad;

/** A message of the connection manager: an attribute of its class of MADs. */
public sealed interface Message
    permits Req, Mra, Rej, Rep, Rtu, Dreq, Drep, SidrReq, SidrRep, Lap, Apr {

  /**
   * Writes its fields.
   *
   * @return its attribute ID, 16 bits
   */
  int write(Body body);
}

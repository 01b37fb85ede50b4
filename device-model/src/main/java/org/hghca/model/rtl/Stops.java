package org.hghca.model.rtl;

/**
 * The stopped parts of the card. Only a reset restarts them, and every queue pair is affected. Each
 * stop is recorded as the hazard that it comes from.
 */
public final class Stops {
  private final Hazards hazards;
  private boolean sender;
  private boolean receiver;

  public Stops(Hazards hazards) {
    this.hazards = hazards;
  }

  /** Nothing is sent any more; doorbells stay in their FIFO. */
  public void stopSender(String line, String why) {
    hazards.strike(line, why + ": the send side stops");
    sender = true;
  }

  /** Arriving packets are no longer processed. */
  public void stopReceiver(String line, String why) {
    hazards.strike(line, why + ": the card stops receiving");
    receiver = true;
  }

  /** Arriving packets are no longer processed, and nothing is sent. */
  public void stopAll(String line, String why) {
    hazards.strike(line, why + ": the card stops sending and receiving");
    sender = true;
    receiver = true;
  }

  /** Something stays in the parser that the next WQE begins with. */
  public void stray(String why) {
    hazards.strike("12.7", why + ": its units stay in the parser");
  }

  public boolean sender() {
    return sender;
  }

  public boolean receiver() {
    return receiver;
  }

  public void reset() {
    sender = false;
    receiver = false;
  }
}

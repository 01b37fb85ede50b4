package org.hghca.cm.carrier;

import org.hghca.verbs.VerbsException;

/** Names what happens to a connection; a subclass takes the names, and may answer. */
public abstract class NamedEvents implements HandshakeEvents {

  /** Takes the name of an event, with what belongs to it. */
  protected abstract void add(String event);

  @Override
  public void replied(ConnectReply reply) {
    add("replied");
  }

  @Override
  public void established() {
    add("established");
  }

  @Override
  public void rejected(int reason, PrivateData privateData) {
    add("rejected " + reason);
  }

  @Override
  public void unreachable(String tried) {
    add("unreachable: " + tried);
  }

  @Override
  public void disconnected(PrivateData privateData) {
    add("disconnected");
  }

  @Override
  public void timeWaitExited() {
    add("timeWaitExited");
  }

  @Override
  public void failed(VerbsException cause) {
    add("failed: " + cause.getMessage());
  }
}

package org.hghca.cm.ib;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.hghca.cm.carrier.ConnectReply;
import org.hghca.cm.carrier.Handshake;
import org.hghca.cm.carrier.HandshakeEvents;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.verbs.VerbsException;

/** One end of a connection and what happened to it. */
final class Recorder implements HandshakeEvents {
  final List<String> events = new ArrayList<>();
  ConnectReply reply;
  PrivateData privateData;
  String tried;
  private Handshake handshake;
  private Consumer<Handshake> onReply = _ -> {};
  private Consumer<Handshake> onDisconnect = _ -> {};

  /** Confirms a reply at once. */
  Recorder confirming() {
    onReply = end -> end.confirm(PrivateData.EMPTY);
    return this;
  }

  /** Answers a release at once. */
  Recorder releasing() {
    onDisconnect = end -> end.disconnect(PrivateData.EMPTY);
    return this;
  }

  Recorder of(Handshake end) {
    handshake = end;
    return this;
  }

  Handshake handshake() {
    return handshake;
  }

  /** The events since the last call. */
  List<String> take() {
    List<String> all = List.copyOf(events);
    events.clear();
    return all;
  }

  @Override
  public void replied(ConnectReply with) {
    events.add("replied");
    reply = with;
    onReply.accept(handshake);
  }

  @Override
  public void established() {
    events.add("established");
  }

  @Override
  public void rejected(int reason, PrivateData data) {
    events.add("rejected " + reason);
    privateData = data;
  }

  @Override
  public void unreachable(String what) {
    events.add("unreachable");
    tried = what;
  }

  @Override
  public void disconnected(PrivateData data) {
    events.add("disconnected");
    privateData = data;
    onDisconnect.accept(handshake);
  }

  @Override
  public void timeWaitExited() {
    events.add("timeWaitExited");
  }

  @Override
  public void failed(VerbsException cause) {
    events.add("failed: " + cause.getMessage());
  }
}

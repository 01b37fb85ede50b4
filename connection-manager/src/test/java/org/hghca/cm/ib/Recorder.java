package org.hghca.cm.ib;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.hghca.cm.carrier.ConnectReply;
import org.hghca.cm.carrier.Handshake;
import org.hghca.cm.carrier.NamedEvents;
import org.hghca.cm.carrier.PrivateData;

/** One end of a connection and what happened to it. */
final class Recorder extends NamedEvents {
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
  protected void add(String event) {
    events.add(event);
  }

  @Override
  public void replied(ConnectReply with) {
    super.replied(with);
    reply = with;
    onReply.accept(handshake);
  }

  @Override
  public void rejected(int reason, PrivateData data) {
    super.rejected(reason, data);
    privateData = data;
  }

  @Override
  public void unreachable(String what) {
    events.add("unreachable");
    tried = what;
  }

  @Override
  public void disconnected(PrivateData data) {
    super.disconnected(data);
    privateData = data;
    onDisconnect.accept(handshake);
  }
}

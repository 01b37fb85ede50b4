package org.hghca.cm.ib;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.hghca.cm.carrier.ConnectRequest;
import org.hghca.cm.carrier.Handshake;
import org.hghca.cm.carrier.HandshakeEvents;
import org.hghca.cm.carrier.Listener;
import org.hghca.cm.carrier.ServiceHandshake;
import org.hghca.cm.carrier.ServiceRequest;
import org.hghca.verbs.VerbsException;

/** A listener that keeps what peers ask for. */
final class Listening implements Listener {
  final List<Recorder> ends = new ArrayList<>();
  final List<ConnectRequest> requests = new ArrayList<>();
  final List<ServiceHandshake> inquiries = new ArrayList<>();
  final List<ServiceRequest> questions = new ArrayList<>();
  final List<String> failures = new ArrayList<>();

  /** How many requests are taken before the backlog is full. */
  int backlog = Integer.MAX_VALUE;

  /** Whether requests make it throw. */
  boolean broken;

  @Override
  public Optional<HandshakeEvents> requested(Handshake handshake, ConnectRequest request) {
    if (broken) {
      throw new IllegalStateException("the listener is broken");
    }
    if (ends.size() >= backlog) {
      return Optional.empty();
    }
    Recorder end = new Recorder().of(handshake);
    ends.add(end);
    requests.add(request);
    return Optional.of(end);
  }

  @Override
  public boolean requested(ServiceHandshake handshake, ServiceRequest request) {
    if (inquiries.size() >= backlog) {
      return false;
    }
    inquiries.add(handshake);
    questions.add(request);
    return true;
  }

  @Override
  public void failed(VerbsException cause) {
    failures.add(cause.getMessage());
  }
}

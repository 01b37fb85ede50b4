package org.hghca.cm.tcp;

import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.cm.carrier.ConnectRequest;
import org.hghca.cm.carrier.Handshake;
import org.hghca.cm.carrier.HandshakeEvents;
import org.hghca.cm.carrier.Listener;
import org.hghca.cm.carrier.NamedEvents;
import org.hghca.cm.carrier.ServiceHandshake;
import org.hghca.cm.carrier.ServiceRequest;

/** A listener, and what is reported to the handshakes that it takes. */
final class Recorder extends NamedEvents implements Listener {
  private final BlockingQueue<Handshake> handshakes = new LinkedBlockingQueue<>();
  private final BlockingQueue<String> events = new LinkedBlockingQueue<>();

  /** How often a request was offered. */
  final AtomicInteger requests = new AtomicInteger();

  /** How often a question was offered. */
  final AtomicInteger questions = new AtomicInteger();

  /** How many requests find the backlog full. */
  final AtomicInteger full = new AtomicInteger();

  /** How many requests make the listener throw. */
  final AtomicInteger broken = new AtomicInteger();

  @Override
  public Optional<HandshakeEvents> requested(Handshake handshake, ConnectRequest request) {
    requests.incrementAndGet();
    if (broken.getAndDecrement() > 0) {
      throw new IllegalStateException("the listener is broken");
    }
    if (full.getAndDecrement() > 0) {
      return Optional.empty();
    }
    handshakes.add(handshake);
    return Optional.of(this);
  }

  @Override
  public boolean requested(ServiceHandshake handshake, ServiceRequest request) {
    questions.incrementAndGet();
    if (full.getAndDecrement() > 0) {
      return false;
    }
    handshake.close();
    return true;
  }

  /** The next handshake of a peer. */
  Handshake next() throws InterruptedException {
    return Optional.ofNullable(handshakes.poll(20, TimeUnit.SECONDS)).orElseThrow();
  }

  /** The next event. */
  String event() throws InterruptedException {
    return Optional.ofNullable(events.poll(20, TimeUnit.SECONDS)).orElseThrow();
  }

  @Override
  protected void add(String event) {
    events.add(event);
  }
}

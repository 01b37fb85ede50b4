package org.hghca.cm.tcp;

import java.io.IOException;
import java.net.ConnectException;
import java.nio.channels.SocketChannel;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.carrier.Registration;
import org.hghca.cm.carrier.ServiceEvents;
import org.hghca.cm.carrier.ServiceReply;
import org.hghca.cm.carrier.ServiceRequest;
import org.hghca.verbs.VerbsException;

/** A question for a UD queue pair, over a socket that lasts until the answer. */
final class Question implements Registration {
  /** The status of SIDR for a service that does not exist, and for another version. */
  private static final int UNSUPPORTED = 1;

  private static final int OTHER_VERSION = 5;

  private final TcpCarrier carrier;
  private final ServiceRequest request;
  private final ServiceEvents events;
  private Link link;
  private boolean closed;

  Question(TcpCarrier carrier, ServiceRequest request, ServiceEvents events) {
    this.carrier = carrier;
    this.request = request;
    this.events = events;
    carrier.began(this);
  }

  /** Asks and waits for the answer; on a thread of its own. */
  void run() {
    Runnable outcome;
    try (Link opened = new Link(carrier, SocketChannel.open())) {
      use(opened);
      outcome = ask(opened);
    } catch (IOException | VerbsException e) {
      outcome = () -> events.unreachable("asked %s by TCP: %s".formatted(request.remote(), e));
    }
    if (!isClosed()) {
      outcome.run();
    }
  }

  private Runnable ask(Link over) throws IOException {
    try {
      over.deadline(carrier.limits().connect());
      over.connect(request.local().getAddress(), request.remote());
      over.deadline(carrier.limits().answer());
      over.write(Bodies.of(request));
      Message answer = over.read();
      ServiceReply reply =
          switch (answer.kind()) {
            case SERVICE_REPLY ->
                Bodies.serviceReply(answer.body(), carrier.context(), request.path());
            case REJECT ->
                refusal(
                    Bodies.reason(answer.body()) == TcpHandshake.OTHER_VERSION
                        ? OTHER_VERSION
                        : UNSUPPORTED);
            default -> throw new MalformedException(answer.kind() + " in the place of an answer");
          };
      return () -> events.answered(reply);
    } catch (ConnectException e) {
      return () ->
          events.unreachable("asked %s by TCP: %s".formatted(request.remote(), e.getMessage()));
    }
  }

  private ServiceReply refusal(int status) {
    return new ServiceReply(request.path(), status, 0, 0, PrivateData.EMPTY);
  }

  private synchronized void use(Link opened) throws IOException {
    link = opened;
    if (closed) {
      throw new IOException("closed");
    }
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      if (link != null) {
        link.close();
      }
    }
    carrier.ended(this);
  }
}

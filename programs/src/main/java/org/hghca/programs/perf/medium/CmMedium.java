package org.hghca.programs.perf.medium;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Optional;
import org.hghca.cm.CmEvent;
import org.hghca.cm.CmEventType;
import org.hghca.cm.CmId;
import org.hghca.cm.ConnectionParameters;
import org.hghca.cm.PortSpace;
import org.hghca.programs.Opened;
import org.hghca.programs.peer.PeerException;
import org.hghca.verbs.WcStatus;

/** Messages over a reliable connection of the connection manager; addresses are structures. */
public final class CmMedium implements Medium {
  private final Opened opened;
  private final CmEvents events;
  private final CmMessages messages;
  private final String peer;
  private Duration limit = Conversation.SOON;

  private CmMedium(Opened opened, CmEvents events, CmId id) {
    this.opened = opened;
    this.events = events;
    messages = opened.add(new CmMessages(id));
    peer = CmEvents.text(id.remoteAddress());
  }

  /** Connects to a server. */
  public static CmMedium connect(Device device, String host, int port) throws InterruptedException {
    InetSocketAddress server = address(host, port);
    Opened opened = new Opened();
    try {
      CmEvents events = opened.add(new CmEvents(device));
      CmId id = opened.add(events.resolve(PortSpace.TCP, server));
      CmMedium medium = new CmMedium(opened, events, id);
      id.connect(parameters(device));
      events.await(CmEventType.ESTABLISHED, medium.peer).close();
      medium.watch();
      return medium;
    } catch (RuntimeException | InterruptedException e) {
      opened.close();
      throw e;
    }
  }

  /** The first address of a host. */
  public static InetSocketAddress address(String host, int port) {
    try {
      return new InetSocketAddress(InetAddress.getByName(host), port);
    } catch (UnknownHostException e) {
      throw new PeerException("'%s' is no address, and no host has that name".formatted(host), e);
    }
  }

  /** Waits for a client, for any time. Later clients are refused. */
  public static CmMedium accept(Device device, int port) throws InterruptedException {
    Opened opened = new Opened();
    try {
      CmEvents events = opened.add(new CmEvents(device));
      CmId id;
      try (CmId _ = events.listen(PortSpace.TCP, port, 1);
          CmEvent request = events.awaitRequest()) {
        id = opened.add(request.id());
      }
      CmMedium medium = new CmMedium(opened, events, id);
      id.accept(parameters(device));
      medium.watch();
      return medium;
    } catch (RuntimeException | InterruptedException e) {
      opened.close();
      throw e;
    }
  }

  private static ConnectionParameters parameters(Device device) {
    return ConnectionParameters.DEFAULT
        .withResponderResources(0)
        .withInitiatorDepth(0)
        .withRetryCount(device.route().retryCount());
  }

  /** From here on the events tell only that the peer has gone: then the receive is flushed. */
  private void watch() {
    var _ =
        events
            .channel()
            .next()
            .thenAccept(
                event -> {
                  try (event) {
                    if (event.type() == CmEventType.DISCONNECTED) {
                      event.id().disconnect();
                    }
                  }
                  watch();
                });
  }

  @Override
  public String peer() {
    return peer;
  }

  @Override
  public void limit(Duration changed) {
    limit = changed;
  }

  @Override
  public void write(byte[] message) throws InterruptedException {
    succeeded(messages.send(message, limit), "take a message");
  }

  @Override
  public byte[] read(String what, int length) throws InterruptedException {
    succeeded(messages.receive(limit), "send " + what);
    byte[] message = messages.message();
    if (message.length != length) {
      throw new PeerException(
          "%s sent %d bytes as %s: expected %d".formatted(peer, message.length, what, length));
    }
    return message;
  }

  private void succeeded(Optional<WcStatus> status, String what) {
    WcStatus end =
        status.orElseThrow(
            () ->
                new PeerException(
                    "%s did not %s in %d seconds".formatted(peer, what, limit.toSeconds())));
    if (end != WcStatus.SUCCESS) {
      throw new PeerException(
          "%s ended the connection, or cannot be reached any more, and did not %s: %s"
              .formatted(peer, what, end.text()));
    }
  }

  @Override
  public void close() {
    opened.close();
  }
}

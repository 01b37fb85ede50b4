package org.hghca.programs.rdmacm;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.hghca.cm.CmEvent;
import org.hghca.cm.CmEventType;
import org.hghca.cm.CmId;
import org.hghca.cm.EventChannel;
import org.hghca.cm.PortSpace;
import org.hghca.programs.peer.ReadyDevice;
import org.hghca.verbs.Context;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.VerbsException;

/** The device of a program, and the event channel of its identifiers. */
public final class Endpoint implements AutoCloseable {
  /** How long the originals wait for an address, and for a route. */
  static final Duration RESOLUTION = Duration.ofSeconds(2);

  /** The longest time wait that is waited for; that of soft RoCE takes 2 s. */
  static final Duration TIME_WAIT = Duration.ofSeconds(3);

  private static final int PORT = 1;

  private final Context context;
  private EventChannel channel;

  private Endpoint(Context context) {
    this.context = context;
    this.channel = EventChannel.open(context);
  }

  /**
   * Opens a device, and waits a little for its port: a network takes its time.
   *
   * @param device its name or locator
   * @throws VerbsException when it cannot be opened
   */
  public static Endpoint open(String device) {
    Context context = ReadyDevice.open(device);
    try {
      return new Endpoint(context);
    } catch (RuntimeException e) {
      context.close();
      throw e;
    }
  }

  CmId createId(PortSpace space) {
    return channel.createId(space);
  }

  /** Begins to resolve an address, from a local one if there is one. */
  static void resolve(CmId id, Optional<InetSocketAddress> local, InetSocketAddress to) {
    if (local.isPresent()) {
      id.resolveAddress(local.get(), to, RESOLUTION);
    } else {
      id.resolveAddress(to, RESOLUTION);
    }
  }

  CmEvent await() throws InterruptedException {
    return channel.await();
  }

  /**
   * Waits for the end of the time wait of ended connections. Until then the peer may ask again for
   * what was answered, and the connection manager that answers ends with this process.
   */
  void awaitTimeWait(int connections) throws InterruptedException {
    Instant end = Instant.now().plus(TIME_WAIT);
    int left = connections;
    while (left > 0) {
      Optional<CmEvent> next = channel.await(atLeastZero(Duration.between(Instant.now(), end)));
      if (next.isEmpty()) {
        return;
      }
      try (CmEvent event = next.get()) {
        left -= event.type() == CmEventType.TIMEWAIT_EXIT ? 1 : 0;
      }
    }
  }

  private static Duration atLeastZero(Duration duration) {
    return duration.isNegative() ? Duration.ZERO : duration;
  }

  /** Replaces the channel by a new one, to which nothing has moved yet. */
  EventChannel migrate() {
    EventChannel before = channel;
    channel = EventChannel.open(context);
    return before;
  }

  EventChannel channel() {
    return channel;
  }

  /**
   * Checks that a datagram holds a message.
   *
   * @throws FailedException when it does not
   */
  void checkDatagram(Messages messages) {
    Mtu mtu = context.queryPort(PORT).activeMtu();
    if (messages.count() > 0 && messages.size() > mtu.bytes()) {
      throw new FailedException(
          -22,
          "message_size %d is larger than active mtu %d".formatted(messages.size(), mtu.bytes()));
    }
  }

  @Override
  public void close() {
    channel.close();
    context.close();
  }
}

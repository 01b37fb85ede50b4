package org.hghca.cm.ib;

import java.util.OptionalLong;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.hghca.cm.mad.Mad;
import org.hghca.cm.mad.Parsed;
import org.hghca.cm.mad.Parsed.Malformed;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.VerbsException;

/** The protocol of one device, without its queue pair: what arrives, fails and ends. */
final class Engine {
  private static final ConditionLog LOG = ConditionLog.of(Engine.class);

  private final MadAgent agent;
  private final Handshakes handshakes;
  private final Listeners listeners = new Listeners();
  private final Services services;
  private final Dispatcher dispatcher;

  /**
   * An engine without connections.
   *
   * @param nodeGuid of the device
   * @param mtu the path MTU to peers that name none
   * @param random for communication IDs
   */
  Engine(MadTransport transport, long nodeGuid, Mtu mtu, RandomGenerator random) {
    this.agent = new MadAgent(transport, nodeGuid, mtu, random);
    this.handshakes = new Handshakes(random);
    this.services = new Services(agent, listeners, random);
    this.dispatcher = new Dispatcher(agent, handshakes, listeners, services);
  }

  /** Takes a datagram; on the carrier's thread, which calls {@link #step} afterwards. */
  void received(byte[] datagram, Arrival from) {
    switch (Parsed.of(datagram)) {
      case Malformed(String reason) -> LOG.debug(About.peer(from.peer()), "dropped: {}", reason);
      case Mad mad -> agent.locked(() -> dispatcher.received(mad, from));
    }
  }

  /** No datagram can be sent to a destination: connections that are asked for there fail. */
  void unsendable(Gid destination, String why) {
    agent.lockedThenWake(
        () -> {
          handshakes.all().stream()
              .filter(handshake -> handshake.isWith(destination))
              .forEach(handshake -> handshake.unsendable(why));
          services.unsendable(destination, why);
        });
  }

  /** As {@link MadAgent#step}. */
  OptionalLong step() {
    return agent.step();
  }

  /** Ends all connections; no report begins after this call. */
  void close() {
    agent.lockedThenWake(
        () -> {
          listeners.clear();
          services.clear();
          handshakes.all().forEach(IbHandshake::end);
          handshakes.all().forEach(IbHandshake::forget);
          agent.close();
        });
  }

  /**
   * The transport has failed: everything that is open is told, by {@link #step}, and nothing is
   * sent any more. On the carrier's thread, which ends.
   */
  void fail(String why, Throwable cause) {
    agent.locked(
        () -> {
          if (!agent.isClosed()) {
            Supplier<VerbsException> error = () -> new VerbsException(Errno.EIO, why, cause);
            agent.fail(error);
            handshakes.all().forEach(handshake -> handshake.fail(error.get()));
            services.fail(error.get());
            for (Listeners.Entry entry : listeners.all()) {
              agent.deliver(
                  () -> listeners.isOpen(entry), () -> entry.listener().failed(error.get()));
            }
          }
        });
  }

  MadAgent agent() {
    return agent;
  }

  Handshakes handshakes() {
    return handshakes;
  }

  Listeners listeners() {
    return listeners;
  }

  Services services() {
    return services;
  }

  /** Entries of all tables: 0 when nothing is known of any peer. */
  int size() {
    return agent.ask(() -> handshakes.size() + services.size() + agent.size());
  }
}

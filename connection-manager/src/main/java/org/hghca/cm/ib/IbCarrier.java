package org.hghca.cm.ib;

import java.net.InetSocketAddress;
import java.security.SecureRandom;
import org.hghca.cm.carrier.Carrier;
import org.hghca.cm.carrier.ConnectRequest;
import org.hghca.cm.carrier.Handshake;
import org.hghca.cm.carrier.HandshakeEvents;
import org.hghca.cm.carrier.Listener;
import org.hghca.cm.carrier.Registration;
import org.hghca.cm.carrier.ServiceEvents;
import org.hghca.cm.carrier.ServiceRequest;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.VerbsException;

/**
 * The InfiniBand connection manager of port 1 of a device. It owns the port's queue pair 1, so
 * there is one in all processes that have the device open.
 *
 * <p>When the device fails, all handshakes, questions and listeners are told, and all calls but
 * those that close something throw EIO from then on.
 *
 * <p>{@link #close} waits for the carrier's thread, unless it is called by an event: a caller holds
 * no lock that handlers of events take.
 */
public final class IbCarrier implements Carrier {
  private final Engine engine;
  private final MadAgent agent;
  private final Runnable owner;

  IbCarrier(Engine engine, Runnable owner) {
    this.engine = engine;
    this.agent = engine.agent();
    this.owner = owner;
  }

  /**
   * Takes the queue pair of the general services, and starts the carrier's thread. Where it throws,
   * nothing stays open.
   *
   * @param context which stays open longer than the carrier
   * @throws VerbsException EBUSY when another carrier has the device, EOPNOTSUPP when the device
   *     lacks the queue pair
   */
  public static IbCarrier of(Context context) {
    Mtu mtu = context.queryPort(Arrival.PORT).activeMtu();
    long nodeGuid = context.queryDevice().nodeGuid();
    GsiTransport transport = GsiTransport.open(context);
    Engine engine = new Engine(transport, nodeGuid, mtu, new SecureRandom());
    transport.start(engine);
    return new IbCarrier(engine, transport::close);
  }

  @Override
  public Registration listen(long serviceId, InetSocketAddress local, Listener listener) {
    Listeners.Entry entry = new Listeners.Entry(serviceId, local.getAddress(), listener);
    agent.lockedThenWake(
        () -> {
          agent.checkOpen();
          if (!local.getAddress().isAnyLocalAddress()
              && agent.indexOf(Gid.of(local.getAddress())).isEmpty()) {
            throw new VerbsException(
                Errno.EADDRNOTAVAIL,
                "%s is not an address of the device"
                    .formatted(local.getAddress().getHostAddress()));
          }
          engine.listeners().add(entry);
        });
    return () -> agent.lockedThenWake(() -> engine.listeners().remove(entry));
  }

  @Override
  public Handshake connect(ConnectRequest request, HandshakeEvents events) {
    return agent.ask(
        () -> {
          agent.checkOpen();
          ActiveHandshake handshake =
              new ActiveHandshake(
                  agent, engine.handshakes(), agent.newTransaction(), request, events);
          handshake.begin();
          return handshake;
        });
  }

  @Override
  public Registration resolve(ServiceRequest request, ServiceEvents events) {
    return agent.ask(
        () -> {
          agent.checkOpen();
          return engine.services().ask(request, events);
        });
  }

  /** Entries of all tables: 0 when nothing is known of any peer. */
  int size() {
    return engine.size();
  }

  @Override
  public void close() {
    engine.close();
    owner.run();
  }
}

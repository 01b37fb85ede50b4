package org.hghca.model;

import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.hghca.model.card.Card;
import org.hghca.model.card.Faults;
import org.hghca.model.card.StepBudget;
import org.hghca.vfio.EmulatedFunction;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.link.Link;
import org.hghca.wire.link.LinkCounters;

/** The card of a software HCA at its port, as its simulation drives it. */
final class SimulatedCard implements Participant {
  private final String name;
  private final Card card;
  private final EthernetPort port;
  private final CardBus bus;
  private final Faults faults;
  private Segment segment;
  private Network network;
  private volatile boolean spins;

  /** A card whose port is not plugged in. */
  SimulatedCard(String name, Card card, EthernetPort port, CardBus bus, Faults faults) {
    this.name = name;
    this.card = card;
    this.port = port;
    this.bus = bus;
    this.faults = faults;
  }

  void plug(Segment into, Disturbance disturbance) {
    into.plug(port, disturbance);
    segment = into;
  }

  void plug(Link into, Disturbance disturbance, Clock clock, CallerRuns callerRuns) {
    network = new Network(into, disturbance, this, port, clock, callerRuns);
  }

  /** Begins to receive from the network that it is plugged into, if any. Under no lock. */
  void begin() {
    if (network != null) {
      network.begin();
    }
  }

  /** Ends the link to the network. Under no lock, after it has left the simulation. */
  void close() {
    if (network != null) {
      network.close();
    }
  }

  /** Reads what has come by the network, unless the calling thread does steps. */
  void idle() {
    if (network != null) {
      network.idle();
    }
  }

  /** As {@code PciFunction.beforeSleep}. */
  void beforeSleep(BooleanSupplier happened) {
    if (network != null) {
      network.beforeSleep(happened);
    }
  }

  /** As {@code PciFunction.happened}. */
  void happened() {
    if (network != null) {
      network.happened();
    }
  }

  /** As {@code PciFunction.beginPolling}. */
  void beginPolling() {
    if (network != null) {
      network.beginPolling();
    }
  }

  /** As {@code PciFunction.endPolling}. */
  void endPolling() {
    if (network != null) {
      network.endPolling();
    }
  }

  /** How many polls that find nothing pass between two calls of {@link #idle}. */
  int idleEvery() {
    return network == null ? EmulatedFunction.IDLE_EVERY : network.idleEvery();
  }

  Optional<LinkCounters> linkCounters() {
    return Optional.ofNullable(network).map(Network::counters);
  }

  /** From now on the simulation's thread does not sleep until this card leaves. */
  void spin() {
    spins = true;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Segment segment() {
    return segment;
  }

  @Override
  public boolean step(long now, StepBudget budget) {
    boolean worked = network != null && network.step(now);
    return card.step(now, budget) || worked;
  }

  @Override
  public boolean flush() {
    if (network == null) {
      return false;
    }
    boolean hadRoom = port.hasRoom();
    network.flush();
    return !hadRoom && port.hasRoom();
  }

  @Override
  public long nextDeadline() {
    long next = card.nextDeadline();
    return network == null ? next : Math.min(next, network.nextDeadline());
  }

  @Override
  public boolean hasArrived() {
    return port.hasArrived();
  }

  @Override
  public long bytesSent() {
    return port.bytesSent();
  }

  @Override
  public boolean hasRegisterWrites() {
    return card.hasWrites();
  }

  @Override
  public boolean mayWait() {
    return bus.mayWait();
  }

  @Override
  public boolean takesMonitors() {
    return card.takesMonitors() || network != null && network.takesMonitors();
  }

  @Override
  public boolean spins() {
    return spins;
  }

  @Override
  public void watchPort() {
    card.watchPort();
  }

  @Override
  public void failed(Throwable cause) {
    faults.record("internal failure: " + cause);
    card.failed();
  }

  @Override
  public void leave() {
    if (segment != null) {
      segment.unplug(port);
      segment = null;
    }
    if (network != null) {
      port.plug(null);
    }
    port.drain();
  }

  @Override
  public void deliverInterrupts(boolean here) {
    bus.deliver(here);
  }
}

package org.hghca.model.rtl.r1;

import static org.hghca.wire.PacketOpcode.*;

import java.util.Set;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.QpcServiceType;
import org.hghca.model.card.Faults;
import org.hghca.model.rtl.CardParts;
import org.hghca.model.rtl.ConnectionState;
import org.hghca.model.rtl.ConnectionStates;
import org.hghca.model.rtl.Contexts;
import org.hghca.model.rtl.DataPath;
import org.hghca.model.rtl.Hazards;
import org.hghca.model.rtl.OnChipQp;
import org.hghca.model.rtl.OutgoingMessage;
import org.hghca.model.rtl.Replies;
import org.hghca.model.rtl.RtlCard;
import org.hghca.model.rtl.Stops;
import org.hghca.model.rtl.Translation;
import org.hghca.model.transport.TransportCounters;
import org.hghca.wire.DropCause;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.Packet;

/**
 * The data path of the first RTL: doorbells, work requests, packets and completions. It has no
 * timers and no retries. Used by the thread that does the steps.
 */
public final class R1Engine implements DataPath {
  /** Bytes of READs for which there is room in any case. */
  private static final int ANSWERED_BESIDE_PAYLOAD = 1024;

  /** Packets that arrive for each one that a peer sends by itself: it also answers. */
  private static final int ANSWERED = 2;

  private final boolean deadlocks;
  private final Hazards hazards;
  private final EthernetPort port;
  private final Stops stops;
  private final ConnectionStates connections;
  private final WriteChannel channel;
  private final Requester requester;
  private final Replies replies;
  private final Receiver receiver;
  private final SendSide sender;
  private final Gridlock gridlock = new Gridlock();
  private final TransportCounters counters = new TransportCounters();

  public R1Engine(CardParts card, Set<Defect> defects) {
    Contexts contexts = card.contexts();
    Translation translation = card.translation();
    this.deadlocks = defects.contains(Defect.READ_DEADLOCK);
    this.hazards = card.hazards();
    this.port = card.port();
    this.stops = new Stops(hazards);
    this.connections = new ConnectionStates(contexts);
    this.channel = new WriteChannel(translation, hazards);
    CqeWriter cqes = new CqeWriter(contexts, channel);
    this.requester =
        new Requester(
            defects.contains(Defect.ENQUEUE_RACE),
            contexts,
            hazards,
            channel,
            cqes,
            stops,
            port,
            counters);
    this.replies = new Replies(translation, port, counters);
    this.receiver = new Receiver(translation, hazards, stops, channel, cqes, replies, counters);
    this.sender =
        new SendSide(
            connections,
            translation,
            card.doorbells(),
            port,
            stops,
            hazards,
            requester,
            cqes,
            counters);
  }

  /**
   * A card of the first RTL.
   *
   * @param defects those to model
   */
  public static RtlCard card(EthernetPort port, Faults faults, Set<Defect> defects) {
    return new RtlCard(HardwareProfile.R1, port, faults, parts -> new R1Engine(parts, defects));
  }

  @Override
  public boolean step(long now, int most) {
    boolean worked = false;
    requester.step();
    gridlock.begin(requester.inFlight());
    for (int left = ANSWERED * most; left > 0 && port.hasArrived(); left--) {
      Packet packet = port.fetch();
      if (stops.receiver()) {
        counters.drops.count(DropCause.STOPPED);
      } else {
        worked = true;
        receive(packet);
      }
      port.pool().giveBack(packet);
    }
    if (!stops.receiver()) {
      worked |= reply(most);
    }
    worked |= sender.run(most);
    if (!stops.receiver() && gridlock.isReached(requester.inFlight())) {
      stops.stopAll("12.16", "requests of this card and of its peer wait for each other");
    }
    requester.rage(now, most);
    return worked;
  }

  /**
   * Whether payload in flight is interleaved with READ data: payload of several data units, or any
   * on a card that talks to itself.
   */
  private boolean isClogged(Packet request, OnChipQp qp) {
    boolean loop = request.destinationMac == qp.destinationMac;
    return requester.gathered() > 0 || loop && requester.payloads() > 0;
  }

  private boolean reply(int most) {
    if (replies.isAtData() && sender.holdsPayload()) {
      hazards.strike("12.15", "READs are not answered while the payload of a fenced SEND waits");
      return false;
    }
    return replies.run(most);
  }

  private void receive(Packet packet) {
    counters.packetsReceived++;
    ConnectionState connection = connections.of(packet.destinationQpn);
    OnChipQp qp = connection.qp;
    if (packet.destinationQpn == 0 && packet.opcode == 0 && packet.length == 0) {
      counters.drops.count(DropCause.NO_QUEUE_PAIR);
      stops.stopAll("12.6", "packets of zeros come in");
    } else if (!qp.programmed) {
      counters.drops.count(DropCause.NO_QUEUE_PAIR);
    } else if ((packet.opcode & SERVICE_MASK) != OutgoingMessage.service(qp)) {
      counters.drops.count(DropCause.SERVICE);
    } else if (!isResponse(packet.opcode & OPERATION_MASK)) {
      if (qp.service == QpcServiceType.RC && packet.psn == qp.expectedPsn) {
        gridlock.arrives(qp, packet);
      }
      receiver.receive(connection, packet);
      if (deadlocks && replies.owed() > ANSWERED_BESIDE_PAYLOAD && isClogged(packet, qp)) {
        stops.stopAll(
            "12.16",
            "QP 0x%x must answer a READ while its own payload is in flight".formatted(qp.qpn));
      }
    } else if (qp.service != QpcServiceType.RC) {
      counters.drops.count(DropCause.SERVICE);
    } else if (requester.receive(connection, packet)) {
      sender.refused(connection);
    }
  }

  /** Lets so many packets of requests leave and then none; -1 lets all go. */
  @Override
  public void stallAfter(int packets) {
    sender.stallAfter(packets);
  }

  @Override
  public void reset() {
    port.drain();
    stops.reset();
    connections.reset();
    channel.reset();
    receiver.reset();
    requester.reset();
    replies.reset();
    sender.reset();
  }

  @Override
  public TransportCounters counters() {
    return counters;
  }

  @Override
  public long completions() {
    return channel.entries();
  }
}

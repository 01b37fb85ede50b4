package org.hghca.model.rtl.r2;

import static org.hghca.wire.PacketOpcode.*;

import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.WqeOpcode;
import org.hghca.model.card.Faults;
import org.hghca.model.rtl.CardParts;
import org.hghca.model.rtl.ConnectionState;
import org.hghca.model.rtl.ConnectionStates;
import org.hghca.model.rtl.DataPath;
import org.hghca.model.rtl.Message;
import org.hghca.model.rtl.Replies;
import org.hghca.model.rtl.RtlCard;
import org.hghca.model.rtl.SendWqe;
import org.hghca.model.rtl.SgeList;
import org.hghca.model.rtl.Stops;
import org.hghca.model.rtl.Translation;
import org.hghca.model.transport.TransportCounters;
import org.hghca.wire.DropCause;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.Packet;

/**
 * The data path of the second RTL as far as it is known: sends, writes and reads over a lossless
 * network, without checks and errors. Unknown behaviour depends on the seed and varies from one
 * time to the next.
 */
public final class R2Engine implements DataPath {
  private static final int NUMBERS = 1 << 8;

  private final EthernetPort port;
  private final Translation translation;
  private final RandomGenerator random;
  private final Unknowns unknowns;
  private final Stops stops;
  private final ConnectionStates connections;
  private final CqeWriter cqes;
  private final Replies replies;
  private final Receiver receiver;
  private final SendSide sender;
  private final TransportCounters counters = new TransportCounters();
  private QueuePositions[] queues = new QueuePositions[NUMBERS];

  public R2Engine(CardParts card, long seed) {
    this.port = card.port();
    this.translation = card.translation();
    this.random = new SplittableRandom(seed);
    this.unknowns = new Unknowns(seed);
    this.stops = new Stops(card.hazards());
    this.connections = new ConnectionStates(card.contexts());
    this.cqes = new CqeWriter(card.contexts(), translation, unknowns);
    this.replies = new Replies(translation, port, counters);
    this.receiver = new Receiver(translation, cqes, replies, card.hazards(), counters);
    this.sender =
        new SendSide(this, translation, card.doorbells(), port, stops, cqes, counters, random);
  }

  /**
   * A card of the second RTL.
   *
   * @param seed selects its unknown behaviour
   */
  public static RtlCard card(EthernetPort port, Faults faults, long seed) {
    return new RtlCard(HardwareProfile.R2, port, faults, parts -> new R2Engine(parts, seed));
  }

  QueuePositions queues(int qpn) {
    ConnectionState connection = connections.of(qpn);
    int number = connection.qp.qpn % NUMBERS;
    if (queues[number] == null) {
      queues[number] = new QueuePositions(connection);
    }
    queues[number].lookForReset(unknowns);
    return queues[number];
  }

  @Override
  public boolean step(long now, int most) {
    boolean worked = false;
    for (int left = most; left > 0 && port.hasArrived(); left--) {
      Packet packet = port.fetch();
      receive(packet);
      port.pool().giveBack(packet);
      worked = true;
    }
    worked |= replies.run(most);
    worked |= sender.run(1 + random.nextInt(most));
    return worked;
  }

  private void receive(Packet packet) {
    counters.packetsReceived++;
    QueuePositions to = queues(packet.destinationQpn);
    if (!to.connection.qp.programmed) {
      counters.drops.count(DropCause.NO_QUEUE_PAIR);
    } else if (!isResponse(packet.opcode & OPERATION_MASK)) {
      receiver.receive(to, packet);
    } else {
      respond(to.connection, packet);
    }
  }

  /** A reliable connection begins to send a message. */
  void begin(ConnectionState connection, SendWqe wqe) {
    Message message = new Message();
    message.opcode = wqe.opcode;
    message.wqeOffset = wqe.offset;
    message.length = wqe.length;
    if (wqe.opcode == WqeOpcode.RDMA_READ) {
      message.results.copy(wqe.data);
    }
    connection.outstanding.add(message);
  }

  /** Answers come in the order of the messages. */
  private void respond(ConnectionState connection, Packet packet) {
    Message oldest = connection.outstanding.peek();
    int operation = packet.opcode & OPERATION_MASK;
    if (oldest == null) {
      counters.drops.count(DropCause.UNWANTED);
      return;
    }
    for (int done = 0; done < packet.length; ) {
      SgeList results = oldest.results;
      int i = results.index();
      if (i == results.count()) {
        break;
      }
      int piece = Math.min(packet.length - done, results.room());
      translation.write(results.key(i), results.position(), packet.payload(), done, piece);
      results.use(piece);
      done += piece;
    }
    if (operation != READ_RESPONSE_FIRST && operation != READ_RESPONSE_MIDDLE) {
      connection.outstanding.remove();
      cqes.sent(connection.qp, oldest.opcode, oldest.wqeOffset, oldest.length);
    }
  }

  @Override
  public void stallAfter(int packets) {
    throw new UnsupportedOperationException("no stalls on a card of the second RTL");
  }

  @Override
  public void reset() {
    port.drain();
    stops.reset();
    connections.reset();
    replies.reset();
    sender.reset();
    queues = new QueuePositions[NUMBERS];
  }

  @Override
  public TransportCounters counters() {
    return counters;
  }

  @Override
  public long completions() {
    return cqes.entries();
  }
}

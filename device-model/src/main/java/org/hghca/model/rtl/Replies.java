package org.hghca.model.rtl;

import static org.hghca.wire.PacketOpcode.*;

import java.util.ArrayDeque;
import java.util.Deque;
import org.hghca.model.transport.TransportCounters;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.Packet;

/** The pending replies of responders: acknowledgements and RDMA READ responses, in one order. */
public final class Replies {
  /** The bits of a syndrome that say what an acknowledgement is. */
  public static final int KIND_MASK = 0x60;

  public static final int ACK = 0x00;

  /** Its low 5 bits are the retry count of the responder's context, where a timer belongs. */
  public static final int RNR = 0x20;

  /** NAK: PSN sequence error, with the PSN that is expected. */
  public static final int OUT_OF_ORDER = 0x60;

  /** NAK: remote access error. */
  public static final int REFUSED = 0x62;

  /** NAK: remote operational error, for a READ to a queue pair that is in ERR already. */
  public static final int REFUSED_IN_ERR = 0x63;

  /** The unsent part of an RDMA READ response. The object is reused after it is sent. */
  private static final class Response {
    private ConnectionState connection;
    private int key;
    private long length;
    private long address;
    private long sent;
    private int psn;

    void answer(ConnectionState to, Packet request) {
      connection = to;
      key = request.remoteKey;
      length = Integer.toUnsignedLong(request.dmaLength);
      address = request.remoteAddress;
      sent = 0;
      psn = request.psn;
    }
  }

  private final Translation translation;
  private final EthernetPort port;
  private final TransportCounters counters;

  /** Each a {@link Packet} or a {@link Response}. */
  private final Deque<Object> waiting = new ArrayDeque<>();

  private long owed;
  private final Deque<Response> free = new ArrayDeque<>();

  public Replies(Translation translation, EthernetPort port, TransportCounters counters) {
    this.translation = translation;
    this.port = port;
    this.counters = counters;
  }

  /**
   * Answers a packet.
   *
   * @param completes whether it ends a message; messages are not counted, their number is 1
   */
  public void acknowledge(ConnectionState connection, int psn, int syndrome, boolean completes) {
    Packet packet = connection.address(port.pool().take());
    packet.opcode = ACKNOWLEDGE;
    packet.solicited = true;
    packet.psn = psn;
    packet.syndrome = syndrome;
    packet.msn = completes ? 1 : 0;
    if (waiting.isEmpty()) {
      transmit(packet);
    } else {
      waiting.add(packet);
    }
  }

  /** Answers an RDMA READ whose source was checked. */
  public void respond(ConnectionState connection, Packet request) {
    Response response = free.isEmpty() ? new Response() : free.remove();
    response.answer(connection, request);
    owed += response.length;
    waiting.add(response);
  }

  /**
   * Sends replies.
   *
   * @param budget maximum number of replies
   * @return whether there was one
   */
  public boolean run(int budget) {
    int left = budget;
    for (; left > 0 && !waiting.isEmpty(); left--) {
      if (waiting.peek() instanceof Response response) {
        transmit(packet(response));
        if (response.sent == response.length) {
          waiting.remove();
          free.add(response);
        }
      } else {
        transmit((Packet) waiting.remove());
      }
    }
    return left < budget;
  }

  /** Bytes of READs that are not answered. */
  public long owed() {
    return owed;
  }

  /** Whether the reply that is next is data. */
  public boolean isAtData() {
    return waiting.peek() instanceof Response;
  }

  private Packet packet(Response response) {
    ConnectionState connection = response.connection;
    Packet packet = connection.address(port.pool().take());
    int length = (int) Math.min(response.length - response.sent, connection.qp.packetSize());
    boolean first = response.sent == 0;
    boolean last = response.sent + length == response.length;
    packet.solicited = true;
    packet.psn = response.psn;
    packet.syndrome = ACK;
    packet.length = length;
    if (first) {
      packet.opcode = last ? READ_RESPONSE_ONLY : READ_RESPONSE_FIRST;
    } else {
      packet.opcode = last ? READ_RESPONSE_LAST : READ_RESPONSE_MIDDLE;
    }
    packet.msn = 1;
    if (length > 0) {
      translation.read(response.key, response.address, packet.payload(), 0, length);
    }
    owed -= length;
    response.address += length;
    response.sent += length;
    response.psn = response.psn + 1 & OnChipQp.PSN_MASK;
    return packet;
  }

  private void transmit(Packet packet) {
    counters.packetsSent++;
    port.transmit(packet);
  }

  public void reset() {
    waiting.clear();
    owed = 0;
  }
}

package org.hghca.benchmarks;

import java.util.List;
import org.hghca.benchmarks.Pair.Connection;
import org.hghca.verbs.Context;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.WrOpcode;

/** Two software devices of one kind, joined by a cable, and what is measured between them. */
final class OneKind implements AutoCloseable {
  static final int LONG = 64 * 1024;
  static final int LONG_OUTSTANDING = 16;

  private static final int SHORT = 8;

  /** Lists of short messages that are outstanding. */
  private static final int LISTS = 8;

  /** Connections that share a completion queue, on a device that has room for them. */
  private static final int MOST = 256;

  /** Queue pairs that are left for the other connections: more than they need. */
  private static final int OTHERS = 6;

  private final String name;
  private final Context client;
  private final Context server;
  private final Pair pair;
  private final Pair shared;
  private final List<Connection> single;
  private final List<Connection> many;
  private final Stream write;
  private final Stream read;
  private final Stream send;
  private final Stream writeLong;
  private final Stream readLong;
  private final Stream sendLong;
  private final Stream overMany;
  private final WriteRoundTrips roundTrips;

  /**
   * Opens two devices.
   *
   * @param kind scheme of their locators, and parameters that begin with an ampersand
   */
  OneKind(String kind) {
    name = kind;
    client = open(kind, "a");
    server = open(kind, "b");
    pair = Pair.of(client, server, 3, LISTS * Stream.LIST);
    int connections = connections(client.queryDevice());
    shared = Pair.of(client, server, connections, Stream.LIST);
    single = pair.connect(3);
    many = shared.connect(connections);
    write = shorts(single.get(0), WrOpcode.RDMA_WRITE);
    read = shorts(single.get(0), WrOpcode.RDMA_READ);
    send = shorts(single.get(1), WrOpcode.SEND);
    writeLong = longs(single.get(0), WrOpcode.RDMA_WRITE);
    readLong = longs(single.get(0), WrOpcode.RDMA_READ);
    sendLong = longs(single.get(2), WrOpcode.SEND);
    overMany = new Stream(shared, many, WrOpcode.RDMA_WRITE, SHORT, Stream.LIST, connections);
    roundTrips = new WriteRoundTrips(pair, single.get(0));
  }

  /** As many as the device has queue pairs for, and entries of a completion queue. */
  private static int connections(DeviceAttributes device) {
    int byEntries = device.maxCqe() / Pair.completions(1, Stream.LIST);
    return Math.min(MOST, Math.min(device.maxQp() - OTHERS, byEntries));
  }

  /** Opens one of two devices, which the other one's cable joins. */
  static Context open(String kind, String device) {
    String[] parts = kind.split("&", 2);
    String name = kind.replaceAll("[^a-z0-9]+", "-");
    String parameters = parts.length > 1 ? "&" + parts[1] : "";
    return RdmaDevices.open(
        "%s:%s-%s?cable=%s%s".formatted(parts[0], name, device, name, parameters));
  }

  private Stream shorts(Connection connection, WrOpcode opcode) {
    return new Stream(pair, List.of(connection), opcode, SHORT, Stream.LIST, LISTS);
  }

  private Stream longs(Connection connection, WrOpcode opcode) {
    return new Stream(pair, List.of(connection), opcode, LONG, 1, LONG_OUTSTANDING);
  }

  String name() {
    return name;
  }

  Stream write() {
    return write;
  }

  Stream read() {
    return read;
  }

  Stream send() {
    return send;
  }

  Stream writeLong() {
    return writeLong;
  }

  Stream readLong() {
    return readLong;
  }

  Stream sendLong() {
    return sendLong;
  }

  /** Short WRITEs over {@link #connections} that share a completion queue. */
  Stream overMany() {
    return overMany;
  }

  int connections() {
    return many.size();
  }

  WriteRoundTrips roundTrips() {
    return roundTrips;
  }

  @Override
  public void close() {
    roundTrips.close();
    List.of(write, read, send, writeLong, readLong, sendLong, overMany).forEach(Stream::close);
    many.forEach(Connection::close);
    single.forEach(Connection::close);
    shared.close();
    pair.close();
    server.close();
    client.close();
  }
}

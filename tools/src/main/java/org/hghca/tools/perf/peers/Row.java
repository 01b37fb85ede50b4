package org.hghca.tools.perf.peers;

import java.util.List;
import java.util.stream.Stream;

/**
 * What a row of a comparison measures.
 *
 * @param name as it is printed; no two rows have the same
 * @param waiting of both ends
 * @param oneProcessor whether both ends share one processor
 */
record Row(String name, Carrier carrier, Work work, Waiting waiting, boolean oneProcessor) {
  /** Those of messages, in the order of the table. */
  static final List<Row> MESSAGES =
      List.of(
          row("hghca, in process", Carrier.CABLE, Waiting.SPINNING),
          row("hghca, shared memory, polling", Carrier.SHARED_MEMORY, Waiting.SPINNING),
          row("hghca, shared memory, events", Carrier.SHARED_MEMORY, Waiting.SLEEPING),
          row("hghca, shared memory, virtual threads", Carrier.SHARED_MEMORY, Waiting.VIRTUAL),
          row("hghca, RoCE v2 over UDP, polling", Carrier.ROCE, Waiting.SPINNING),
          row("hghca, RoCE v2 over UDP, events", Carrier.ROCE, Waiting.SLEEPING),
          row("hghca, RoCE v2 over UDP, virtual threads", Carrier.ROCE, Waiting.VIRTUAL),
          row("TCP sockets, blocking", Carrier.TCP, Waiting.SLEEPING),
          row("TCP sockets, spinning", Carrier.TCP, Waiting.SPINNING),
          row("TCP sockets, virtual threads", Carrier.TCP, Waiting.VIRTUAL),
          row("UDP sockets, blocking", Carrier.DATAGRAMS, Waiting.SLEEPING),
          row("UDP sockets, spinning", Carrier.DATAGRAMS, Waiting.SPINNING),
          alone("hghca, shared memory, events", Carrier.SHARED_MEMORY),
          alone("hghca, RoCE v2 over UDP, events", Carrier.ROCE),
          alone("TCP sockets, blocking", Carrier.TCP),
          row("memory copy", Carrier.COPY, Waiting.SPINNING));

  /** Those of sockets, in the order of the table. */
  static final List<Row> SOCKETS =
      Stream.of(
              sockets("over shared memory", Carrier.SOCKETS_SHARED_MEMORY),
              sockets("over RoCE v2 over UDP", Carrier.SOCKETS_ROCE),
              sockets("over TCP", Carrier.TCP))
          .flatMap(List::stream)
          .toList();

  private static Row row(String name, Carrier carrier, Waiting waiting) {
    return new Row(name, carrier, Work.MESSAGES, waiting, false);
  }

  private static Row alone(String name, Carrier carrier) {
    return new Row(name + ", one processor", carrier, Work.MESSAGES, Waiting.SLEEPING, true);
  }

  private static List<Row> sockets(String over, Carrier carrier) {
    return List.of(
        new Row(over + ", blocking", carrier, Work.STREAM, Waiting.SLEEPING, false),
        new Row(over + ", spinning", carrier, Work.STREAM, Waiting.SPINNING, false),
        new Row(over + ", virtual threads", carrier, Work.STREAM, Waiting.VIRTUAL, false),
        new Row(over + ", selector", carrier, Work.STREAM, Waiting.SELECTING, false),
        new Row(over + ", 64 connections", carrier, Work.CROWD, Waiting.SELECTING, false),
        new Row(over + ", connect", carrier, Work.CONNECTS, Waiting.SLEEPING, false));
  }
}

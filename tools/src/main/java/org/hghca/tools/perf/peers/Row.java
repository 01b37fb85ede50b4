package org.hghca.tools.perf.peers;

import java.util.List;

/**
 * What a row of the comparison measures.
 *
 * @param name as it is printed
 * @param waiting of both ends
 * @param oneProcessor whether both ends share one processor
 */
record Row(String name, Carrier carrier, Waiting waiting, boolean oneProcessor) {
  /** All of them, in the order of the table. */
  static final List<Row> ALL =
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

  private static Row row(String name, Carrier carrier, Waiting waiting) {
    return new Row(name, carrier, waiting, false);
  }

  private static Row alone(String name, Carrier carrier) {
    return new Row(name + ", one processor", carrier, Waiting.SLEEPING, true);
  }
}

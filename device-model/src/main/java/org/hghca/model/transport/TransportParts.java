package org.hghca.model.transport;

import org.hghca.wire.EthernetPort;

/** What the halves of all queue pairs of a device use. */
final class TransportParts {
  final EthernetPort port;
  final WorkQueues queues;
  final KeyedMemory memory;
  final CompletionSink completions;
  final TransportCounters counters = new TransportCounters();
  final PeerLoads loads = new PeerLoads();
  final Schedule schedule = new Schedule();
  final PacketOutput output;
  final Runs runs;
  final WorkRequests requests;
  final ErrorStates errors;
  final PathMigrator migrator;

  TransportParts(
      EthernetPort port,
      WorkQueues queues,
      KeyedMemory memory,
      CompletionSink completions,
      EventSink events) {
    this.port = port;
    this.queues = queues;
    this.memory = memory;
    this.completions = completions;
    this.output = new PacketOutput(port, counters);
    this.runs = new Runs(schedule, memory);
    this.requests = new WorkRequests(queues, completions);
    this.errors = new ErrorStates(schedule, events);
    this.migrator = new PathMigrator(events);
  }
}

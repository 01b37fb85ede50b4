package org.hghca.provider.object;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.hghca.provider.counters.ContextCounters.Counted;
import org.hghca.provider.counters.Tally;
import org.hghca.provider.snapshot.Kind;
import org.hghca.provider.snapshot.Snapshot.Subject;
import org.hghca.provider.snapshot.SnapshotEncoder;
import org.hghca.verbs.Counter;

/**
 * The rows of a device's snapshots: its contexts, queue pairs and completion queues, as many of
 * each as do most, and the sum of the rest; its port and its link. Not thread-safe.
 */
final class DeviceRows {
  /** Rows of a kind. */
  static final int MOST = 1000;

  private final AbstractDevice device;
  private final SnapshotEncoder encoder;
  private final Tally tally = new Tally();

  /** What those had done until the last snapshot of which there were more than {@link #MOST}. */
  private Map<Counted, Long> before = Map.of();

  DeviceRows(AbstractDevice device, SnapshotEncoder encoder) {
    this.device = device;
    this.encoder = encoder;
  }

  /** A thing with counts, and its context. */
  private record Item(AbstractContext context, Counted counts) {}

  /** The snapshot of this moment, valid until the next one. */
  ByteBuffer encode() {
    List<AbstractContext> contexts = new ArrayList<>(device.contexts());
    contexts.removeIf(context -> !context.isOpen());
    contexts.sort(Comparator.comparingLong(AbstractContext::openingNumber));
    List<Item> opened = new ArrayList<>();
    List<Item> queuePairs = new ArrayList<>();
    List<Item> completionQueues = new ArrayList<>();
    for (AbstractContext context : contexts) {
      opened.add(new Item(context, context));
      for (Counted object : context.counted()) {
        if (object instanceof AbstractQueuePair<?>) {
          queuePairs.add(new Item(context, object));
        } else if (object instanceof AbstractCompletionQueue) {
          completionQueues.add(new Item(context, object));
        }
      }
    }
    Map<Counted, Long> done = new HashMap<>();
    encoder.begin();
    rows(Kind.CONTEXT, opened, done, this::context);
    rows(Kind.QUEUE_PAIR, queuePairs, done, DeviceRows::queuePair);
    rows(Kind.COMPLETION_QUEUE, completionQueues, done, DeviceRows::completionQueue);
    encoder.ports(device.function().portCounters());
    before = done;
    return encoder.end(System.currentTimeMillis());
  }

  private Subject context(Item item) {
    String state = device.health().isDead() ? "failed" : "";
    return Subject.of(Kind.CONTEXT, item.context.openingNumber(), 0, state);
  }

  private static Subject queuePair(Item item) {
    AbstractQueuePair<?> qp = (AbstractQueuePair<?>) item.counts;
    return new Subject(
        Kind.QUEUE_PAIR,
        item.context.openingNumber(),
        qp.number(),
        0,
        qp.type().name(),
        qp.state().name(),
        qp.peer().map(peer -> peer.gid().address().getHostAddress()).orElse(""),
        qp.peer().map(AbstractQueuePair.Peer::number).orElse(0));
  }

  private static Subject completionQueue(Item item) {
    AbstractCompletionQueue queue = (AbstractCompletionQueue) item.counts;
    return Subject.of(Kind.COMPLETION_QUEUE, item.context.openingNumber(), queue.number(), "");
  }

  /** Rows for the things that have done most since the last snapshot, and one for the others. */
  private void rows(
      Kind kind, List<Item> items, Map<Counted, Long> done, Function<Item, Subject> subject) {
    List<Item> all = items;
    if (items.size() > MOST) {
      all = byActivity(items, done);
    }
    for (Item item : all.subList(0, Math.min(MOST, all.size()))) {
      tally.clear();
      addTo(tally, item);
      encoder.row(subject.apply(item), tally);
    }
    if (all.size() > MOST) {
      tally.clear();
      all.subList(MOST, all.size()).forEach(item -> addTo(tally, item));
      encoder.row(Subject.others(kind, all.size() - MOST), tally);
    }
  }

  private static void addTo(Tally sum, Item item) {
    item.counts.addTo(sum);
    if (item.counts instanceof AbstractQueuePair<?> qp) {
      sum.add(Counter.FAILURES, qp.failures());
    }
  }

  private List<Item> byActivity(Collection<Item> items, Map<Counted, Long> done) {
    Map<Item, Long> since = new HashMap<>();
    for (Item item : items) {
      tally.clear();
      item.counts.addTo(tally);
      long work =
          tally.get(Counter.SENDS_POSTED)
              + tally.get(Counter.RECEIVES_POSTED)
              + tally.get(Counter.COMPLETIONS);
      done.put(item.counts, work);
      since.put(item, work - before.getOrDefault(item.counts, 0L));
    }
    List<Item> sorted = new ArrayList<>(items);
    sorted.sort(Comparator.comparing(since::get, Comparator.reverseOrder()));
    return sorted;
  }
}

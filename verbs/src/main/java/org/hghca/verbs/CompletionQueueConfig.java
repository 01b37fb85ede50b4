package org.hghca.verbs;

import java.util.Objects;
import java.util.Optional;

/**
 * How to make a completion queue.
 *
 * @param entries how many completions it must hold, at least 1
 * @param ringEntries how many requests all attached queues together may have outstanding, a power
 *     of two; 0 takes the device's largest ring. Less saves memory (32 bytes an entry, twice that
 *     on a card that flushes nothing by itself) and admits fewer queue pairs
 * @param channel where it tells of completions; empty for a queue that is only polled
 * @param vector which of the device's completion vectors serves it, from 0
 */
public record CompletionQueueConfig(
    int entries, int ringEntries, Optional<CompletionChannel> channel, int vector) {

  public CompletionQueueConfig {
    Objects.requireNonNull(channel);
  }

  public static CompletionQueueConfig of(int entries) {
    return new CompletionQueueConfig(entries, 0, Optional.empty(), 0);
  }

  public CompletionQueueConfig withRingEntries(int ringEntries) {
    return new CompletionQueueConfig(entries, ringEntries, channel, vector);
  }

  public CompletionQueueConfig withChannel(CompletionChannel channel) {
    return new CompletionQueueConfig(entries, ringEntries, Optional.of(channel), vector);
  }

  public CompletionQueueConfig withVector(int vector) {
    return new CompletionQueueConfig(entries, ringEntries, channel, vector);
  }
}

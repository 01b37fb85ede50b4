package org.hghca.verbs;

import java.util.Objects;
import java.util.Optional;

/** The configuration of a completion queue. Immutable: each {@code with} returns a changed copy. */
public final class CompletionQueueConfig {
  private final int entries;
  private final int ringEntries;
  private final CompletionChannel channel;
  private final int vector;

  /** The channel is null for a queue that is only polled. */
  private CompletionQueueConfig(
      int entries, int ringEntries, CompletionChannel channel, int vector) {
    this.entries = entries;
    this.ringEntries = ringEntries;
    this.channel = channel;
    this.vector = vector;
  }

  /**
   * A queue that is only polled.
   *
   * @param entries how many completions it must hold, at least 1
   */
  public static CompletionQueueConfig of(int entries) {
    return new CompletionQueueConfig(entries, 0, null, 0);
  }

  /**
   * How many requests of all attached queues together may be outstanding.
   *
   * @param ringEntries a power of two; 0 takes 8192 or as many as the device has, and more only
   *     where the entries need them. A smaller ring saves memory (32 bytes per entry, twice that on
   *     a card that does not flush in hardware) and allows fewer queue pairs
   */
  public CompletionQueueConfig withRingEntries(int ringEntries) {
    return new CompletionQueueConfig(entries, ringEntries, channel, vector);
  }

  /** The channel to which it reports completions. */
  public CompletionQueueConfig withChannel(CompletionChannel channel) {
    return new CompletionQueueConfig(entries, ringEntries, Objects.requireNonNull(channel), vector);
  }

  /** Which of the device's completion vectors serves it, from 0. */
  public CompletionQueueConfig withVector(int vector) {
    return new CompletionQueueConfig(entries, ringEntries, channel, vector);
  }

  public int entries() {
    return entries;
  }

  public int ringEntries() {
    return ringEntries;
  }

  public Optional<CompletionChannel> channel() {
    return Optional.ofNullable(channel);
  }

  public int vector() {
    return vector;
  }

  @Override
  public String toString() {
    return "%d entries, %s, %s, vector %d"
        .formatted(
            entries,
            ringEntries == 0 ? "usual ring" : "ring of %d".formatted(ringEntries),
            channel == null ? "no channel" : channel,
            vector);
  }
}

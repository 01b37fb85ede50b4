package org.hghca.verbs;

/**
 * How to make a completion queue.
 *
 * @param entries how many completions it must hold, at least 1
 * @param ringEntries the most that its memory may hold for all attached queues together, a power of
 *     two; 0 takes the device's largest. Less saves memory (32 bytes an entry) and admits fewer
 *     queue pairs
 */
public record CompletionQueueAttributes(int entries, int ringEntries) {

  public static CompletionQueueAttributes of(int entries) {
    return new CompletionQueueAttributes(entries, 0);
  }

  public CompletionQueueAttributes withRingEntries(int ringEntries) {
    return new CompletionQueueAttributes(entries, ringEntries);
  }
}

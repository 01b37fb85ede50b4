package org.hghca.tools.demo;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.hghca.verbs.Completions;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.SendRequest;

/**
 * RDMA WRITEs from client to server, one after another. They are posted in lists, of which only the
 * last request is signaled; each request has its own place in both memories, and starts with its
 * number.
 */
final class WriteStream {
  private final String check;
  private final Connection connection;
  private final int messageBytes;
  private final int listLength;
  private final int lists;
  private final SendRequest[] requests;
  private int outstanding;
  private int nextPosted;
  private int nextCompleted;
  private long number;

  /**
   * A stream that has not started.
   *
   * @param check what it is called
   * @param messageBytes bytes of a message, at least 8
   * @param listLength requests in a list
   * @param lists number of lists outstanding at a time
   */
  WriteStream(String check, Connection connection, int messageBytes, int listLength, int lists) {
    this.check = check;
    this.connection = connection;
    this.messageBytes = messageBytes;
    this.listLength = listLength;
    this.lists = lists;
    this.requests = new SendRequest[listLength * lists];
    boolean inline = connection.canInline(messageBytes);
    for (int i = 0; i < requests.length; i++) {
      long offset = (long) i * messageBytes;
      requests[i] =
          new SendRequest(1)
              .wrId(i / listLength)
              .rdmaWrite(
                  connection.serverMemory().address() + offset, connection.serverMemory().rkey())
              .sge(connection.clientMemory(), offset, messageBytes);
      if (inline) {
        requests[i].inline();
      }
      if (i % listLength == listLength - 1) {
        requests[i].signaled();
      }
    }
  }

  /**
   * Streams for some time, then compares the two memories.
   *
   * @return messages a second
   * @throws CheckFailedException when a message failed, or the server's memory is not the client's
   */
  double run(long nanos) {
    MemorySegment source = memory(connection.clientMemory().segment());
    fill(source, number);
    QueuePair qp = connection.clientQp();
    Side client = connection.client();
    long start = System.nanoTime();
    long end = start;
    long completedLists = 0;
    boolean posting = true;
    while (posting || outstanding > 0) {
      while (posting && outstanding < lists) {
        postList(qp, source);
      }
      int count = client.await(check);
      takeCompletions(client.completions(), count);
      completedLists += count;
      end = System.nanoTime();
      // Every place is written at least once, even in a short run.
      posting = end - start < nanos || completedLists + outstanding < lists;
    }
    long mismatch = memory(connection.serverMemory().segment()).mismatch(source);
    if (mismatch >= 0) {
      throw new CheckFailedException(
          check, "the server's memory differs from what the client wrote, from byte " + mismatch);
    }
    return completedLists * listLength * 1e9 / (end - start);
  }

  private MemorySegment memory(MemorySegment whole) {
    return whole.asSlice(0, (long) requests.length * messageBytes);
  }

  private static void fill(MemorySegment memory, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    byte[] bytes = new byte[(int) memory.byteSize()];
    random.nextBytes(bytes);
    MemorySegment.copy(MemorySegment.ofArray(bytes), 0, memory, 0, bytes.length);
  }

  private void postList(QueuePair qp, MemorySegment source) {
    int first = nextPosted * listLength;
    for (int i = first; i < first + listLength; i++) {
      source.set(JAVA_LONG_UNALIGNED, (long) i * messageBytes, number++);
    }
    int posted = qp.tryPostSend(requests, first, listLength);
    if (posted != listLength) {
      throw new CheckFailedException(
          check, "the send queue took %d of %d requests".formatted(posted, listLength));
    }
    nextPosted = (nextPosted + 1) % lists;
    outstanding++;
  }

  private void takeCompletions(Completions completions, int count) {
    for (int i = 0; i < count; i++) {
      if (completions.wrId(i) != nextCompleted) {
        throw new CheckFailedException(
            check,
            "expected the completion of list %d, not %s"
                .formatted(nextCompleted, completions.describe(i)));
      }
      nextCompleted = (nextCompleted + 1) % lists;
    }
    outstanding -= count;
  }
}

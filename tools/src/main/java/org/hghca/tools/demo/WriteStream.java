package org.hghca.tools.demo;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.hghca.tools.demo.Connection.End;
import org.hghca.verbs.Completions;
import org.hghca.verbs.SendRequest;

/**
 * RDMA WRITEs from client to server, one after another. They are posted in lists, of which only the
 * last request is signaled; each request has its own place in both memories, and starts with its
 * number. The server computes the expected memory from the first number and the count.
 */
final class WriteStream {
  private final String check;
  private final int messageBytes;
  private final int listLength;
  private final int lists;

  /** Messages outstanding at a time. */
  private final int places;

  private final Sides sides;
  private final Part<End> server;
  private final Part<Writer> client;

  /**
   * A stream that has not started.
   *
   * @param check what it is called
   * @param messageBytes bytes of a message, at least 8
   * @param listLength requests in a list
   * @param lists number of lists outstanding at a time
   */
  WriteStream(
      String check,
      Sides sides,
      Connection connection,
      int messageBytes,
      int listLength,
      int lists) {
    this.check = check;
    this.sides = sides;
    this.messageBytes = messageBytes;
    this.listLength = listLength;
    this.lists = lists;
    this.places = listLength * lists;
    server = connection.server();
    client = connection.client().map(end -> new Writer(end, connection.serverAddress()));
  }

  /**
   * Streams for some time, then verifies the server's memory.
   *
   * @return messages a second
   * @throws CheckFailedException when a message failed, or the server's memory differs from the
   *     expected content
   */
  double run(long nanos) {
    client.run(writer -> writer.run(nanos));
    Written written = client.share(Written.MESSAGE, writer -> writer.written);
    server.run(end -> verify(memory(end), written));
    sides.barrier("verified");
    return written.count() * 1e9 / written.nanos();
  }

  /**
   * The messages of a run.
   *
   * @param first number of a message
   * @param count of messages
   * @param nanos duration
   */
  private record Written(long first, long count, long nanos) {
    static final Message<Written> MESSAGE =
        new Message<>("written", Written::toText, Written::parse);

    Written {
      if (first < 0 || count < 0 || nanos < 0 || first > Long.MAX_VALUE - count) {
        throw new IllegalArgumentException("first number, count and time must not be negative");
      }
    }

    private String toText() {
      return "%d %d %d".formatted(first, count, nanos);
    }

    private static Written parse(String text) {
      String[] parts = text.split(" ", -1);
      if (parts.length != 3) {
        throw new IllegalArgumentException("expected two numbers and a time");
      }
      return new Written(
          Long.parseLong(parts[0]), Long.parseLong(parts[1]), Long.parseLong(parts[2]));
    }
  }

  private MemorySegment memory(End end) {
    return end.memory().segment().asSlice(0, (long) places * messageBytes);
  }

  private void fill(MemorySegment memory, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    byte[] bytes = new byte[(int) memory.byteSize()];
    random.nextBytes(bytes);
    MemorySegment.copy(MemorySegment.ofArray(bytes), 0, memory, 0, bytes.length);
  }

  /** Writes the number at the start of a message. */
  private void number(MemorySegment memory, long number) {
    memory.set(JAVA_LONG_UNALIGNED, number % places * messageBytes, number);
  }

  private void verify(MemorySegment memory, Written written) {
    MemorySegment expected = MemorySegment.ofArray(new byte[(int) memory.byteSize()]);
    fill(expected, written.first());
    long end = written.first() + written.count();
    for (long number = Math.max(written.first(), end - places); number < end; number++) {
      number(expected, number);
    }
    long mismatch = memory.mismatch(expected);
    if (mismatch >= 0) {
      throw new CheckFailedException(
          check, "the server's memory differs from what the client wrote, from byte " + mismatch);
    }
  }

  /** The client's end. */
  private final class Writer {
    private final End end;
    private final MemorySegment source;
    private final SendRequest[] requests = new SendRequest[places];
    private int outstanding;
    private int nextPosted;
    private int nextCompleted;
    private long number;
    private Written written = new Written(0, 0, 0);

    Writer(End end, Address target) {
      this.end = end;
      source = memory(end);
      boolean inline = end.canInline(messageBytes);
      for (int i = 0; i < requests.length; i++) {
        long offset = (long) i * messageBytes;
        requests[i] =
            new SendRequest(1)
                .wrId(i / listLength)
                .rdmaWrite(target.memory() + offset, target.rkey())
                .sge(end.memory(), offset, messageBytes);
        if (inline) {
          requests[i].inline();
        }
        if (i % listLength == listLength - 1) {
          requests[i].signaled();
        }
      }
    }

    void run(long nanos) {
      long first = number;
      fill(source, first);
      Side client = end.side();
      long start = System.nanoTime();
      long now = start;
      long completedLists = 0;
      boolean posting = true;
      while (posting || outstanding > 0) {
        while (posting && outstanding < lists) {
          postList();
        }
        int count = client.await(check);
        takeCompletions(client.completions(), count);
        completedLists += count;
        now = System.nanoTime();
        // Every place is written at least once, even in a short run.
        posting = now - start < nanos || completedLists + outstanding < lists;
      }
      written = new Written(first, completedLists * listLength, now - start);
    }

    private void postList() {
      int first = nextPosted * listLength;
      for (int i = 0; i < listLength; i++) {
        number(source, number++);
      }
      int posted = end.qp().tryPostSend(requests, first, listLength);
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
}

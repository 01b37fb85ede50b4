package org.hghca.virtio;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Optional;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.trace.DeviceTrace;
import org.hghca.virtio.VirtioException.Reason;
import org.hghca.virtio.abi.net.NetControl;

/**
 * Commands to a network device over its control queue, one at a time. The device reads class and
 * command, then the data of the command; it writes the result, then the answer, each a buffer of
 * its own. Thread-safe.
 *
 * <p>After a time-out the queue stays failed, since the device may still write into its memory: the
 * device must be closed.
 */
public final class ControlQueue {
  /** Where the parts of a command are in its page; longer data has memory of its own. */
  private static final int HEADER = 0;

  private static final int RESULT = 64;
  private static final int ANSWER = 128;
  private static final int DATA = 1024;

  private static final int SIZE = DmaMapping.PAGE_SIZE;
  private static final int MOST_ANSWER = DATA - ANSWER;
  private static final int MOST_DATA = SIZE - DATA;
  private static final long LARGEST_PIECE = 1 << 30;

  /** What the result byte holds until the device writes it. */
  private static final byte UNWRITTEN = (byte) 0xff;

  /** How often a waiting thread looks at the status of the device. */
  private static final Duration CHECK = Duration.ofMillis(100);

  private final VirtioDevice device;
  private final Virtqueue queue;
  private final Duration limit;
  private final DmaMapping memory;
  private final Optional<DeviceTrace> trace;
  private VirtioException failure;

  /**
   * Makes commands over a queue.
   *
   * @param queue of the device, used by nothing else
   * @param limit how long a command may take, in the device's own time
   */
  public ControlQueue(VirtioDevice device, Virtqueue queue, Duration limit) {
    this.device = device;
    this.queue = queue;
    this.limit = limit;
    this.memory = device.allocate(SIZE);
    this.trace = device.function().trace();
  }

  /**
   * Has the device execute a command.
   *
   * @param controlClass 0 to 255
   * @param command 0 to 255
   * @param data of the command; may be empty
   * @param answer receives what the device writes behind the result, if that is {@link
   *     NetControl#OK}; may be empty, at most 896 bytes
   * @return whether the device did it; otherwise it refused, and does not tell why
   * @throws VirtioException {@code TIMED_OUT} after the limit; {@code FAILED} when the device needs
   *     a reset or is gone; {@code MALFORMED} when it answers too little, or something undefined
   * @throws IllegalArgumentException when the answer is too long, or the data for the queue
   */
  public synchronized boolean execute(
      int controlClass, int command, MemorySegment data, MemorySegment answer) {
    if (failure != null) {
      throw new VirtioException(failure.reason(), failure.getMessage());
    }
    if (answer.byteSize() > MOST_ANSWER) {
      throw new IllegalArgumentException(
          "an answer has at most %d bytes, not %d".formatted(MOST_ANSWER, answer.byteSize()));
    }
    if (data.byteSize() <= MOST_DATA) {
      return execute(controlClass, command, data, memory, DATA, answer);
    }
    DmaMapping large = device.function().allocate(data.byteSize());
    boolean done = false;
    try {
      boolean result = execute(controlClass, command, data, large, 0, answer);
      done = true;
      return result;
    } finally {
      if (done) {
        large.close();
      } else {
        device.keep(large);
      }
    }
  }

  private boolean execute(
      int controlClass,
      int command,
      MemorySegment data,
      DmaMapping dataMemory,
      long dataAt,
      MemorySegment answer) {
    MemorySegment bytes = memory.segment();
    NetControl.CLASS.set(bytes, HEADER, controlClass);
    NetControl.COMMAND.set(bytes, HEADER, command);
    bytes.set(JAVA_BYTE, RESULT, UNWRITTEN);
    MemorySegment.copy(data, 0, dataMemory.segment(), dataAt, data.byteSize());
    String name = "command %d of class %d".formatted(command, controlClass);
    int seen = ControlSpan.UNANSWERED;
    long begin = System.nanoTime();
    try {
      submit(dataMemory, dataAt, data.byteSize(), answer.byteSize());
      await(name);
      seen = bytes.get(JAVA_BYTE, RESULT) & 0xff;
    } finally {
      int status = seen;
      trace.ifPresent(t -> ControlSpan.record(t, begin, controlClass, command, status));
    }
    int result = seen;
    long written = Integer.toUnsignedLong(queue.length());
    if (written < NetControl.ACK_SIZE || result > NetControl.ERROR) {
      throw failed(
          Reason.MALFORMED,
          "answered %s with %d bytes and result %d".formatted(name, written, result));
    }
    if (result == NetControl.ERROR) {
      return false;
    }
    if (written < NetControl.ACK_SIZE + answer.byteSize()) {
      throw failed(
          Reason.MALFORMED,
          "answered %s with %d bytes of %d"
              .formatted(name, written, NetControl.ACK_SIZE + answer.byteSize()));
    }
    MemorySegment.copy(bytes, ANSWER, answer, 0, answer.byteSize());
    return true;
  }

  private void submit(DmaMapping dataMemory, long dataAt, long dataBytes, long answerBytes) {
    int buffers = 2 + pieces(dataMemory, dataAt, dataBytes, false) + (answerBytes > 0 ? 1 : 0);
    if (buffers > queue.free()) {
      throw new IllegalArgumentException(
          "%s: a command of %d bytes in %d buffers is more than a queue of %d takes"
              .formatted(device, dataBytes, buffers, queue.size()));
    }
    queue.put(memory.iova(HEADER), NetControl.HEADER_SIZE, false);
    int _ = pieces(dataMemory, dataAt, dataBytes, true);
    queue.put(memory.iova(RESULT), NetControl.ACK_SIZE, true);
    if (answerBytes > 0) {
      queue.put(memory.iova(ANSWER), (int) answerBytes, true);
    }
    int _ = queue.submit();
    boolean _ = queue.kick();
  }

  /** The contiguous pieces of the data, put into the queue if they are wanted there. */
  private int pieces(DmaMapping mapping, long from, long bytes, boolean put) {
    int pieces = 0;
    long at = from;
    long end = from + bytes;
    while (at < end) {
      long address = mapping.iova(at);
      long length = toEndOfPage(at, end);
      while (at + length < end
          && length < LARGEST_PIECE
          && mapping.iova(at + length) == address + length) {
        length += toEndOfPage(at + length, end);
      }
      if (put) {
        queue.put(address, (int) length, false);
      }
      pieces++;
      at += length;
    }
    return pieces;
  }

  private static long toEndOfPage(long at, long end) {
    return Math.min(end - at, DmaMapping.PAGE_SIZE - at % DmaMapping.PAGE_SIZE);
  }

  private void await(String name) {
    for (Duration left = limit; ; left = left.minus(CHECK)) {
      Duration step = left.compareTo(CHECK) < 0 ? left : CHECK;
      if (device.patience().until(step, () -> queue.poll() != Virtqueue.NONE)) {
        return;
      }
      try {
        device.check();
      } catch (VirtioException e) {
        failure = e;
        throw e;
      }
      if (left.compareTo(CHECK) <= 0) {
        throw failed(Reason.TIMED_OUT, "did not answer %s within %s".formatted(name, limit));
      }
    }
  }

  private VirtioException failed(Reason reason, String what) {
    failure =
        new VirtioException(
            reason, "%s %s: close the device and attach it again".formatted(device, what));
    return failure;
  }
}

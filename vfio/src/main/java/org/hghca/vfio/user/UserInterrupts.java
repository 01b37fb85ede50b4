package org.hghca.vfio.user;

import java.util.List;
import java.util.function.Consumer;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.Interrupts;
import org.hghca.vfio.linux.EventInterrupts;
import org.hghca.vfio.user.UserStructures.IrqInfo;
import org.hghca.vfio.user.UserStructures.IrqSet;

/**
 * The interrupts of a function behind a socket: the server signals eventfds that it receives. The
 * best kind that the function supports is used: MSI-X, then MSI, then its interrupt pin.
 */
final class UserInterrupts implements Interrupts, AutoCloseable {
  private static final int MOST_VECTORS = 64;

  /** Kinds of interrupts, as numbered in {@code linux/vfio.h} and in configuration space. */
  private enum Kind {
    MSI_X(IrqInfo.MSIX, 0x11, 1 << 15),
    MSI(IrqInfo.MSI, 0x05, 1),
    PIN(IrqInfo.INTX, 0, 0),
    NONE(-1, 0, 0);

    final int index;
    final int capability;
    final int enable;

    Kind(int index, int capability, int enable) {
      this.index = index;
      this.capability = capability;
      this.enable = enable;
    }
  }

  private record Lines(int flags, int count) {}

  private final UserConnection connection;
  private final UserConfiguration configuration;
  private final Kind kind;
  private final boolean automasked;

  /** Number of vectors in one message to the server. */
  private final int chunk;

  private final EventInterrupts events;

  private UserInterrupts(
      SystemCalls system,
      UserConnection connection,
      UserConfiguration configuration,
      ServerLimits limits,
      Kind kind,
      Lines info) {
    this.connection = connection;
    this.configuration = configuration;
    this.kind = kind;
    this.automasked = (info.flags & IrqInfo.FLAG_AUTOMASKED) != 0;
    this.chunk = Math.max(1, limits.descriptors());
    int vectors = Math.min(MOST_VECTORS, info.count);
    // Such vectors can only be set up together: those beyond the first message stay unused.
    boolean atOnce = (info.flags & IrqInfo.FLAG_NORESIZE) != 0;
    this.events =
        new EventInterrupts(system, atOnce ? Math.min(chunk, vectors) : vectors, cause -> {});
  }

  /**
   * Queries the interrupts of the function, and connects them to the server.
   *
   * @param kinds how many kinds the server knows
   */
  static UserInterrupts open(
      SystemCalls system,
      UserConnection connection,
      UserConfiguration configuration,
      ServerLimits limits,
      int kinds) {
    Kind kind = Kind.NONE;
    Lines info = new Lines(0, 0);
    for (Kind candidate : List.of(Kind.MSI_X, Kind.MSI, Kind.PIN)) {
      if (kind == Kind.NONE && candidate.index < kinds) {
        Lines found = info(connection, candidate.index);
        if (found.count > 0 && (found.flags & IrqInfo.FLAG_EVENTFD) != 0) {
          kind = candidate;
          info = found;
        }
      }
    }
    UserInterrupts interrupts =
        new UserInterrupts(system, connection, configuration, limits, kind, info);
    try {
      connection.whenEnded(interrupts::lost);
      interrupts.arm();
      return interrupts;
    } catch (RuntimeException e) {
      interrupts.close();
      throw e;
    }
  }

  private static Lines info(UserConnection connection, int index) {
    return connection.call(
        UserCommand.DEVICE_GET_IRQ_INFO,
        IrqInfo.BYTES,
        message -> {
          message.putInt(IrqInfo.ARGSZ, IrqInfo.BYTES);
          message.putInt(IrqInfo.FLAGS, 0);
          message.putInt(IrqInfo.INDEX, index);
          message.putInt(IrqInfo.COUNT, 0);
        },
        reply -> {
          UserConnection.checkReply(reply, IrqInfo.BYTES);
          int count = reply.getInt(IrqInfo.COUNT);
          if (reply.getInt(IrqInfo.INDEX) != index || count < 0) {
            throw UserConnection.malformed(
                "interrupt index %d was requested, and it describes %d with %d vectors"
                    .formatted(index, reply.getInt(IrqInfo.INDEX), count));
          }
          return new Lines(reply.getInt(IrqInfo.FLAGS), count);
        });
  }

  private void lost() {
    events.lost(connection.whyEnded());
  }

  /** Gives the server the eventfds: at first, and after a reset. */
  void arm() {
    int[] descriptors = events.descriptors();
    for (int start = 0; start < descriptors.length; start += chunk) {
      int first = start;
      int count = Math.min(chunk, descriptors.length - start);
      set(
          IrqSet.DATA_EVENTFD | IrqSet.ACTION_TRIGGER,
          first,
          count,
          message -> {
            for (int i = 0; i < count; i++) {
              message.attach(descriptors[first + i]);
            }
          });
    }
    if (kind.capability != 0) {
      configuration.enable(kind.capability, kind.enable);
    }
  }

  private void set(int flags, int start, int count, Consumer<UserMessage> descriptors) {
    connection.call(
        UserCommand.DEVICE_SET_IRQS,
        IrqSet.DATA,
        message -> {
          message.putInt(IrqSet.ARGSZ, IrqSet.DATA);
          message.putInt(IrqSet.FLAGS, flags);
          message.putInt(IrqSet.INDEX, kind.index);
          message.putInt(IrqSet.START, start);
          message.putInt(IrqSet.COUNT, count);
          descriptors.accept(message);
        },
        reply -> true);
  }

  @Override
  public int vectors() {
    return events.vectors();
  }

  @Override
  public long await(long timeoutNanos) {
    long fired = events.await(timeoutNanos);
    if (fired != 0 && automasked) {
      // The pin is masked with each interrupt, so that it does not fire endlessly.
      set(IrqSet.DATA_NONE | IrqSet.ACTION_UNMASK, 0, 1, message -> {});
    }
    return fired;
  }

  @Override
  public long count(int vector) {
    return events.count(vector);
  }

  @Override
  public void wake() {
    events.wake();
  }

  @Override
  public void close() {
    events.close();
  }
}

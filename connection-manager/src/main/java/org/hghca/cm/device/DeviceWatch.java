package org.hghca.cm.device;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import org.hghca.verbs.CompletionChannel;
import org.hghca.verbs.Context;
import org.hghca.verbs.VerbsException;

/**
 * Waits for the failure of a device: by a completion channel on which no queue reports, as a
 * context's asynchronous events are for the program.
 */
public final class DeviceWatch implements AutoCloseable {
  private final CompletionChannel channel;
  private final CompletableFuture<?> failure;
  private volatile boolean closed;

  /**
   * Begins to wait.
   *
   * @param failed is called once, on a thread of its own, when the device fails
   * @throws VerbsException EIO when it has failed already
   */
  public DeviceWatch(Context context, Consumer<VerbsException> failed) {
    channel = context.createCompletionChannel();
    failure = channel.next();
    var _ =
        failure.whenCompleteAsync(
            (_, thrown) -> {
              if (!closed && cause(thrown) instanceof VerbsException cause) {
                failed.accept(cause);
              }
            },
            task -> Thread.ofVirtual().name("hghca-cm-device").start(task));
  }

  private static Throwable cause(Throwable thrown) {
    return thrown instanceof CompletionException ? thrown.getCause() : thrown;
  }

  /** Ends the wait. Idempotent. */
  @Override
  public void close() {
    closed = true;
    failure.cancel(false);
    channel.close();
  }
}

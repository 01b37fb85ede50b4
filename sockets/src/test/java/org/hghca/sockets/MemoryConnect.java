package org.hghca.sockets;

import java.io.IOException;
import java.net.SocketException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.hghca.sockets.stream.ByteStream;
import org.hghca.sockets.stream.PendingConnect;

/** A connect that is answered when a test says so. */
final class MemoryConnect implements PendingConnect {
  private final Callable<ByteStream> connecting;
  private final CompletableFuture<ByteStream> result = new CompletableFuture<>();
  volatile boolean cancelled;

  MemoryConnect(Callable<ByteStream> connecting) {
    this.connecting = connecting;
  }

  void answer() {
    try {
      result.complete(connecting.call());
    } catch (Exception e) {
      result.completeExceptionally(e);
    }
  }

  @Override
  public boolean done() {
    return result.isDone();
  }

  @Override
  public ByteStream finish() throws IOException {
    try {
      return result.get();
    } catch (ExecutionException e) {
      throw (IOException) e.getCause();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public boolean await(long deadline) {
    try {
      long nanos = deadline == Long.MAX_VALUE ? deadline : deadline - System.nanoTime();
      result.get(nanos, TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException _) {
      return false;
    } catch (ExecutionException | InterruptedException _) {
      return true;
    }
  }

  @Override
  public void watch(Runnable onChange) {
    if (onChange != null) {
      var _ = result.whenComplete((_, _) -> onChange.run());
    }
  }

  @Override
  public void cancel() {
    cancelled = true;
    result.completeExceptionally(new SocketException("cancelled"));
  }
}

package org.hghca.sockets;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.sockets.policy.SocketSettings;
import org.hghca.sockets.stream.ByteStream;
import org.hghca.sockets.stream.PendingConnect;

/**
 * A connect over RDMA, and over TCP beside it once RDMA has failed or has not answered for a while.
 * The first that connects is taken, the other one closed.
 */
final class FallbackAttempt implements Attempt {
  private static final ConditionLog LOG = ConditionLog.of(FallbackAttempt.class);
  private static final AtomicBoolean SAID = new AtomicBoolean();

  private final PendingConnect rdma;
  private final SocketChannel tcp;
  private final InetSocketAddress remote;
  private final long tcpBegins;
  private final CompletableFuture<Connected> result = new CompletableFuture<>();
  private final CompletableFuture<IOException> rdmaFailure = new CompletableFuture<>();
  private final AtomicReference<Runnable> watcher = new AtomicReference<>();

  /**
   * Begins.
   *
   * @param tcp a channel of the platform, blocking and not connected
   */
  FallbackAttempt(
      PendingConnect rdma, SocketChannel tcp, InetSocketAddress remote, Duration after) {
    this.rdma = rdma;
    this.tcp = tcp;
    this.remote = remote;
    this.tcpBegins = System.nanoTime() + after.toNanos();
    var _ = result.whenComplete((connected, failure) -> tell());
  }

  void begin() {
    Thread.ofVirtual().name("hghca-connect-rdma").start(this::connectRdma);
    Thread.ofVirtual().name("hghca-connect-tcp").start(this::connectTcp);
  }

  private void tell() {
    Runnable told = watcher.get();
    if (told != null) {
      told.run();
    }
  }

  private void connectRdma() {
    rdma.await(Long.MAX_VALUE);
    try {
      ByteStream stream = rdma.finish();
      if (result.complete(new Connected(stream, null))) {
        close(tcp);
      } else {
        stream.close();
      }
    } catch (IOException e) {
      rdmaFailure.complete(e);
    }
  }

  private void connectTcp() {
    try {
      awaitTurn();
      if (result.isDone()) {
        return;
      }
      tcp.connect(remote);
      if (result.complete(new Connected(null, tcp))) {
        say();
        rdma.cancel();
      } else {
        close(tcp);
      }
    } catch (IOException e) {
      close(tcp);
      fail(e);
    }
  }

  /** Until RDMA has failed, has connected, or has had its time. */
  private void awaitTurn() {
    CompletableFuture<Object> turn = CompletableFuture.anyOf(result, rdmaFailure);
    try {
      turn.get(Math.max(0, tcpBegins - System.nanoTime()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException | ExecutionException _) {
      // either way it is TCP's turn, unless there is a result
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  /** TCP has failed: RDMA may still answer. */
  private void fail(IOException overTcp) {
    var _ =
        rdmaFailure.thenAccept(
            overRdma -> {
              overTcp.addSuppressed(overRdma);
              result.completeExceptionally(overTcp);
            });
  }

  private void say() {
    if (SAID.compareAndSet(false, true)) {
      LOG.warn(
          About.peer(remote),
          "answered by TCP and not over RDMA, as -D{} allows; further ones are not logged",
          SocketSettings.FALLBACK);
    }
  }

  private static void close(SocketChannel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      LOG.debug(About.NOTHING, "closing a channel that is not used", e);
    }
  }

  @Override
  public boolean done() {
    return result.isDone();
  }

  @Override
  public boolean await(long deadline) {
    try {
      if (deadline == Long.MAX_VALUE) {
        result.get();
      } else {
        result.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
      }
      return true;
    } catch (TimeoutException _) {
      return false;
    } catch (ExecutionException _) {
      return true;
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return true;
    }
  }

  @Override
  public Connected finish() throws IOException {
    try {
      return result.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException cause ? cause : new IOException(e.getCause());
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      throw new ConnectException("interrupted");
    }
  }

  @Override
  public void watch(Runnable onChange) {
    watcher.set(onChange);
    if (result.isDone()) {
      tell();
    }
  }

  @Override
  public void cancel() {
    result.completeExceptionally(new ConnectException("the connect was given up"));
    rdma.cancel();
    close(tcp);
  }
}

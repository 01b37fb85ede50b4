package org.hghca.examples;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.hghca.cm.RdmaConnection;
import org.hghca.cm.RdmaServer;
import org.hghca.verbs.QueuePair;

/**
 * Requests and responses: inline SENDs both ways, a virtual thread for each call and each request.
 * A client has as many requests under way as it has credits, and the server has a receive for each
 * of them: no message ever meets an empty queue, so that this runs on cards, too, on which that
 * ends the connection.
 */
final class Rpc implements Example {
  private static final int CALLERS = 50;
  private static final int CALLS = 20;

  @Override
  public String shows() {
    return "requests and responses: inline messages, credits, virtual threads that wait for events";
  }

  @Override
  public void server(End end) throws Exception {
    AtomicLong served = new AtomicLong();
    RpcPort.Handler answer =
        (port, qp, call, text) -> {
          port.send(qp, call, text.toUpperCase(Locale.ROOT));
          served.incrementAndGet();
        };
    try (RpcPort my = new RpcPort(end, answer);
        RdmaServer server = Connections.listen(end)) {
      for (int i = 0; i < RpcPort.CONNECTIONS; i++) {
        my.add(options -> Connections.accept(server, options));
      }
      for (RdmaConnection client : my.connections()) { // each leaves when it has its answers
        client.closed().get(End.PATIENCE.toSeconds(), TimeUnit.SECONDS);
      }
      end.say("%d requests served, %s".formatted(served.get(), my.receives()));
    }
  }

  @Override
  public void client(End end) throws Exception {
    Map<Long, CompletableFuture<String>> waiting = new ConcurrentHashMap<>();
    AtomicLong last = new AtomicLong();
    RpcPort.Handler wake = // an answer to no call is a peer's error, and wakes nobody
        (port, qp, call, text) ->
            Optional.ofNullable(waiting.remove(call)).ifPresent(one -> one.complete(text));
    try (RpcPort my = new RpcPort(end, wake);
        ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> done = new ArrayList<>();
      for (int i = 0; i < RpcPort.CONNECTIONS; i++) {
        QueuePair qp = my.add(options -> Connections.connect(end, options));
        Semaphore credits = new Semaphore(RpcPort.CREDITS);
        for (int caller = 0; caller < CALLERS; caller++) {
          String text = "call of " + caller;
          done.add(
              callers.submit(
                  () -> {
                    for (int k = 0; k < CALLS; k++) {
                      credits.acquire();
                      long call = last.incrementAndGet();
                      var answer = new CompletableFuture<String>();
                      waiting.put(call, answer);
                      my.send(qp, call, text);
                      String got = answer.get(20, TimeUnit.SECONDS);
                      credits.release(); // our receive was posted again before the answer was ours
                      End.check(got.equals(text.toUpperCase(Locale.ROOT)), "an answer: " + got);
                    }
                    return null;
                  }));
        }
      }
      for (Future<?> one : done) {
        one.get();
      }
      end.say("%d answers to %d threads".formatted(last.get(), done.size()));
    }
  }
}

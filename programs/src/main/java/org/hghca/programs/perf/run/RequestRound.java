package org.hghca.programs.perf.run;

import java.util.function.BooleanSupplier;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.SendRequest;

/** READs or atomics, which the peer's device answers. */
final class RequestRound implements Round {
  private final QueuePair pair;
  private final SendRequest request;
  private final Completed answered;

  RequestRound(Resources resources, long size) {
    pair = resources.pairs().getFirst();
    request = new SendRequests(resources, 0, size).at(0).signaled();
    answered = new Completed(resources, resources.sends(), "a request");
  }

  @Override
  public boolean begins() {
    return true;
  }

  @Override
  public boolean receive(long number, BooleanSupplier over) {
    return true;
  }

  @Override
  public boolean send(long number) {
    pair.postSend(request);
    return answered.await();
  }
}

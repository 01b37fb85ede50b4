package org.hghca.programs.perf.run;

import java.util.function.BooleanSupplier;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.SendRequest;

/** SENDs back and forth. */
final class SendRound implements Round {
  private final boolean client;
  private final QueuePair pair;
  private final SendRequest quiet;
  private final SendRequest signaled;
  private final Receiver receiver;
  private final Completed sent;
  private final Completed received;
  private final int moderation;
  private final long limit;

  /** Posts the receives. */
  SendRound(Resources resources, boolean client, long size, long limit) {
    this.client = client;
    this.limit = limit;
    pair = resources.pairs().getFirst();
    SendRequests requests = new SendRequests(resources, 0, size);
    quiet = requests.at(0);
    signaled = requests.at(0).signaled();
    receiver = new Receiver(resources, 0, size, limit);
    sent = new Completed(resources, resources.sends(), "a SEND");
    received = new Completed(resources, resources.receives(), "a receive request");
    moderation = resources.parameters().queues().moderation();
  }

  @Override
  public boolean begins() {
    return client;
  }

  @Override
  public boolean receive(long number, BooleanSupplier over) {
    if (!received.await(over)) {
      return false;
    }
    receiver.taken();
    return true;
  }

  @Override
  public boolean send(long number) {
    boolean signal = number % moderation == 0 || number == limit;
    pair.postSend(signal ? signaled : quiet);
    return !signal || sent.await();
  }
}

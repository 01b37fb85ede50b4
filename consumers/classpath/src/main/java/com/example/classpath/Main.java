package com.example.classpath;

import static org.hghca.verbs.AccessFlag.LOCAL_WRITE;

import java.util.concurrent.atomic.AtomicReference;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.ReceiveRequest;
import org.hghca.verbs.SendRequest;

/** Sends a message from one software HCA to another; everything is on the class path. */
public final class Main {
  private static final String TEXT = "A message over the class path";

  private Main() {}

  private static void waitFor(CompletionQueue cq) {
    Completions completions = new Completions(1);
    while (cq.poll(completions) == 0) {
      Thread.onSpinWait();
    }
    System.out.println(completions.describe(0));
    if (!completions.isSuccess(0)) {
      throw new IllegalStateException("the message was not sent");
    }
  }

  private static void connect(QueuePair left, QueuePair right) {
    left.connect(
        leftEnd -> {
          AtomicReference<QpEndpoint> answer = new AtomicReference<>();
          right.connect(
              rightEnd -> {
                answer.set(rightEnd);
                return leftEnd;
              });
          return answer.get();
        });
  }

  public static void main(String[] arguments) {
    try (var left = RdmaDevices.open("model:left?cable=c0");
        var right = RdmaDevices.open("model:right?cable=c0");
        var leftPd = left.allocateProtectionDomain();
        var rightPd = right.allocateProtectionDomain();
        var source = leftPd.allocate(4096, LOCAL_WRITE);
        var target = rightPd.allocate(4096, LOCAL_WRITE);
        var leftCq = left.createCompletionQueue(16);
        var rightCq = right.createCompletionQueue(16);
        var sender = leftPd.createQueuePair(QueuePairConfig.rc(leftCq, leftCq));
        var receiver = rightPd.createQueuePair(QueuePairConfig.rc(rightCq, rightCq))) {
      System.out.println("the driver is in " + left.getClass().getModule());
      connect(sender, receiver);
      source.segment().setString(0, TEXT);
      receiver.postReceive(new ReceiveRequest().wrId(1).into(target));
      sender.postSend(new SendRequest().wrId(2).send().sge(source, 0, 64).signaled());
      waitFor(leftCq);
      waitFor(rightCq);
      String arrived = target.segment().getString(0);
      if (!arrived.equals(TEXT)) {
        throw new IllegalStateException("arrived: " + arrived);
      }
      System.out.println("arrived: " + arrived);
    }
  }
}

package com.example.modulepath;

import static org.hghca.verbs.AccessFlag.LOCAL_WRITE;
import static org.hghca.verbs.AccessFlag.REMOTE_WRITE;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;
import org.hghca.model.ModelProvider;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Context;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.SendRequest;
import org.hghca.vfio.Locator;
import org.hghca.vfio.user.UserServer;

/**
 * Writes into the memory of another software HCA, which is reached over vfio-user as one of another
 * process would be: this takes the system calls that a card takes. Everything is a named module.
 */
public final class Main {
  private static final int BYTES = 1 << 20;

  private Main() {}

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

  private static void fill(MemorySegment memory) {
    for (long i = 0; i < memory.byteSize(); i++) {
      memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31));
    }
  }

  private static void write(Context left, Context right) {
    try (var leftPd = left.allocateProtectionDomain();
        var rightPd = right.allocateProtectionDomain();
        var source = leftPd.allocate(BYTES, LOCAL_WRITE);
        var target = rightPd.allocate(BYTES, LOCAL_WRITE, REMOTE_WRITE);
        var leftCq = left.createCompletionQueue(16);
        var rightCq = right.createCompletionQueue(16);
        var writer = leftPd.createQueuePair(QueuePairConfig.rc(leftCq, leftCq));
        var written = rightPd.createQueuePair(QueuePairConfig.rc(rightCq, rightCq))) {
      connect(writer, written);
      fill(source.segment());
      writer.postSend(
          new SendRequest().rdmaWrite(target.address(), target.rkey()).sge(source).signaled());
      Completions completions = new Completions(1);
      while (leftCq.poll(completions) == 0) {
        Thread.onSpinWait();
      }
      System.out.println(completions.describe(0));
      if (!completions.isSuccess(0) || source.segment().mismatch(target.segment()) != -1) {
        throw new IllegalStateException("the memory was not written");
      }
      System.out.println("written: " + BYTES + " bytes");
    }
  }

  public static void main(String[] arguments) throws IOException {
    Path directory = Files.createTempDirectory("hghca");
    String socket = directory.resolve("right.sock").toString();
    try (var server =
            UserServer.start(socket, ModelProvider.plugIn(Locator.parse("model:right?cable=c0")));
        var left = RdmaDevices.open("model:left?cable=c0");
        var right = RdmaDevices.open("vfio-user:" + server.path())) {
      System.out.println("the driver is in " + left.getClass().getModule());
      write(left, right);
    }
    Files.delete(directory);
  }
}

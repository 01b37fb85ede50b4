package org.hghca.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.hghca.cm.CarrierKind;
import org.hghca.cm.RdmaServer;
import org.hghca.verbs.Context;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.SendRequest;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The port of {@code rpc} with a peer that writes anything into its messages. */
class RpcPortTest {

  private static End end(Context context) {
    return new End(
        "end",
        context,
        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
        new CompletableFuture<>(),
        CarrierKind.TCP,
        List.of(),
        new PrintStream(OutputStream.nullOutputStream()));
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, Long.MIN_VALUE, Long.MAX_VALUE, 113})
  void lengthOfAnotherMessageIsNotBelieved(long length) throws Exception {
    BlockingQueue<String> texts = new LinkedBlockingQueue<>();
    try (Context context = RdmaDevices.open("model:rpc");
        RpcPort asked = new RpcPort(end(context), (port, qp, call, text) -> texts.add(text));
        RpcPort asking = new RpcPort(end(context), (port, qp, call, text) -> {});
        RdmaServer server = Connections.listen(end(context))) {
      Thread accepting =
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      asked.add(options -> Connections.accept(server, options));
                    } catch (Exception e) {
                      throw new AssertionError(e);
                    }
                  });
      End client = end(context);
      client.listening().complete(server.localAddress());
      QueuePair qp = asking.add(options -> Connections.connect(client, options));
      accepting.join();
      MemorySegment message = MemorySegment.ofArray(new byte[16]);
      message.set(ValueLayout.JAVA_LONG_UNALIGNED, 8, length);
      qp.postSend(new SendRequest().send().inline(message));
      assertThat(texts.poll(20, TimeUnit.SECONDS)).isNotNull().hasSizeLessThanOrEqualTo(112);
      asking.send(qp, 1, "a message");
      assertThat(texts.poll(20, TimeUnit.SECONDS)).isEqualTo("a message");
    }
  }
}

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A service of gRPC that returns messages reversed, one by one or as a stream, and a client that
 * verifies them. Messages are bytes, so that nothing has to be generated.
 */
final class GrpcCalls {
  private static final int CALLS = 500;
  private static final MethodDescriptor<byte[], byte[]> ONE = method("One", MethodType.UNARY);
  private static final MethodDescriptor<byte[], byte[]> MANY =
      method("Many", MethodType.BIDI_STREAMING);

  private GrpcCalls() {}

  /** {@code server ADDRESS} or {@code client ADDRESS PORT}. */
  public static void main(String[] args) throws Exception {
    if (args[0].equals("server")) {
      serve(args[1]);
    } else {
      call(args[1], Integer.parseInt(args[2]));
    }
  }

  private static MethodDescriptor<byte[], byte[]> method(String name, MethodType type) {
    return MethodDescriptor.newBuilder(new Bytes(), new Bytes())
        .setType(type)
        .setFullMethodName(MethodDescriptor.generateFullMethodName("Reversal", name))
        .build();
  }

  private static final class Bytes implements Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try (stream) {
        return stream.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static byte[] reversed(byte[] bytes) {
    byte[] result = new byte[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      result[i] = bytes[bytes.length - 1 - i];
    }
    return result;
  }

  private static byte[] message(int number) {
    byte[] bytes = new byte[1 + number * 131 % 60_000];
    new Random(number).nextBytes(bytes);
    return bytes;
  }

  private static void serve(String address) throws IOException, InterruptedException {
    Server server =
        NettyServerBuilder.forAddress(new InetSocketAddress(address, 8083))
            .addService(
                ServerServiceDefinition.builder("Reversal")
                    .addMethod(ONE, ServerCalls.asyncUnaryCall(GrpcCalls::one))
                    .addMethod(MANY, ServerCalls.asyncBidiStreamingCall(Each::new))
                    .build())
            .build()
            .start();
    System.out.println("listening on 8083");
    server.awaitTermination();
  }

  private static void one(byte[] request, StreamObserver<byte[]> answers) {
    answers.onNext(reversed(request));
    answers.onCompleted();
  }

  /** Answers each message of a stream. */
  private record Each(StreamObserver<byte[]> answers) implements StreamObserver<byte[]> {
    @Override
    public void onNext(byte[] message) {
      answers.onNext(reversed(message));
    }

    @Override
    public void onError(Throwable cause) {
      answers.onError(cause);
    }

    @Override
    public void onCompleted() {
      answers.onCompleted();
    }
  }

  /** Verifies the answers of a stream, in their order. */
  private static final class Verifier implements StreamObserver<byte[]> {
    private final CompletableFuture<Integer> verified = new CompletableFuture<>();
    private int number;

    @Override
    public void onNext(byte[] answer) {
      if (!Arrays.equals(answer, reversed(message(number)))) {
        onError(new IOException("message %d has another answer".formatted(number)));
      }
      number++;
    }

    @Override
    public void onError(Throwable cause) {
      verified.completeExceptionally(cause);
    }

    @Override
    public void onCompleted() {
      verified.complete(number);
    }
  }

  private static void call(String address, int port) throws Exception {
    ManagedChannel channel =
        NettyChannelBuilder.forAddress(new InetSocketAddress(address, port)).usePlaintext().build();
    for (int i = 0; i < CALLS; i++) {
      byte[] answer = ClientCalls.blockingUnaryCall(channel, ONE, CallOptions.DEFAULT, message(i));
      if (!Arrays.equals(answer, reversed(message(i)))) {
        throw new IOException("call %d has another answer".formatted(i));
      }
    }
    Verifier verifier = new Verifier();
    StreamObserver<byte[]> stream =
        ClientCalls.asyncBidiStreamingCall(channel.newCall(MANY, CallOptions.DEFAULT), verifier);
    for (int i = 0; i < CALLS; i++) {
      stream.onNext(message(i));
    }
    stream.onCompleted();
    int answers = verifier.verified.get(60, TimeUnit.SECONDS);
    if (answers != CALLS) {
      throw new IOException("%d of %d messages have an answer".formatted(answers, CALLS));
    }
    System.out.println("%d calls and a stream of %d messages verified".formatted(CALLS, answers));
    channel.shutdown().awaitTermination(10, TimeUnit.SECONDS);
  }
}

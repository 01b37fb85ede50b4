import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** An echo server of Netty, and connections that verify what comes back. */
final class NettyEcho {
  private static final int CONNECTIONS = 8;
  private static final int BYTES = 1_000_000;
  private static final int PIECE = 9_973;

  private NettyEcho() {}

  /** {@code server ADDRESS} or {@code client ADDRESS PORT}. */
  public static void main(String[] args) throws Exception {
    if (args[0].equals("server")) {
      serve(args[1]);
    } else {
      verify(args[1], Integer.parseInt(args[2]));
    }
  }

  private static EventLoopGroup group(int threads) {
    return new MultiThreadIoEventLoopGroup(threads, NioIoHandler.newFactory());
  }

  /** Returns what it gets. */
  private static final class Echo extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      context.write(message);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
      context.flush();
    }
  }

  private static void serve(String address) throws InterruptedException {
    new ServerBootstrap()
        .group(group(1), group(2))
        .channel(NioServerSocketChannel.class)
        .childHandler(
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new Echo());
              }
            })
        .bind(address, 8082)
        .sync();
    System.out.println("listening on 8082");
  }

  /** Compares what comes back with what was sent. */
  private static final class Verifier extends SimpleChannelInboundHandler<ByteBuf> {
    private final byte[] sent;
    private final CompletableFuture<Integer> verified = new CompletableFuture<>();
    private int got;

    Verifier(byte[] sent) {
      this.sent = sent;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
      for (int at = 0; at < sent.length; at += PIECE) {
        context.write(Unpooled.wrappedBuffer(sent, at, Math.min(PIECE, sent.length - at)));
      }
      context.flush();
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf message) {
      while (message.isReadable()) {
        if (got == sent.length || message.readByte() != sent[got]) {
          exceptionCaught(context, new IOException("byte %d is another".formatted(got)));
          return;
        }
        got++;
      }
      if (got == sent.length) {
        verified.complete(got);
      }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      verified.completeExceptionally(new IOException("the end after %d bytes".formatted(got)));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      verified.completeExceptionally(cause);
      context.close();
    }
  }

  private static void verify(String address, int port) throws Exception {
    EventLoopGroup group = group(2);
    List<Verifier> verifiers = new ArrayList<>();
    for (int i = 0; i < CONNECTIONS; i++) {
      byte[] bytes = new byte[BYTES];
      new Random(i).nextBytes(bytes);
      Verifier verifier = new Verifier(bytes);
      verifiers.add(verifier);
      new Bootstrap()
          .group(group)
          .channel(NioSocketChannel.class)
          .handler(verifier)
          .connect(address, port)
          .sync();
    }
    long verified = 0;
    for (Verifier verifier : verifiers) {
      verified += verifier.verified.get(60, TimeUnit.SECONDS);
    }
    System.out.println("%d bytes verified".formatted(verified));
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
  }
}

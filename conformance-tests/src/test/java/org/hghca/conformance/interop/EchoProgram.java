package org.hghca.conformance.interop;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * An echo server, or a client that verifies what comes back: the counterpart of {@code
 * lab/programs/preload/echo.c}, which knows as little of RDMA.
 */
final class EchoProgram {
  private static final int SIZE = 50_000;

  private EchoProgram() {}

  /** {@code PORT} returns to one connection what it sends; {@code PORT BYTES HOST} is a client. */
  public static void main(String[] args) throws IOException, InterruptedException {
    int port = Integer.parseInt(args[0]);
    if (args.length == 1) {
      serve(port);
    } else {
      ask(new InetSocketAddress(args[2], port), Long.parseLong(args[1]));
    }
  }

  private static void serve(int port) throws IOException {
    try (ServerSocketChannel server = ServerSocketChannel.open()) {
      server.bind(new InetSocketAddress(port));
      System.out.println("listening");
      try (SocketChannel channel = server.accept();
          Selector selector = Selector.open()) {
        channel.configureBlocking(false);
        System.out.println(
            echo(channel, channel.register(selector, SelectionKey.OP_READ)) + " bytes returned");
      }
    }
  }

  private static long echo(SocketChannel channel, SelectionKey key) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocateDirect(SIZE);
    long total = 0;
    while (true) {
      key.selector().select();
      key.selector().selectedKeys().clear();
      int taken = channel.read(buffer);
      if (taken < 0 && buffer.position() == 0) {
        return total;
      }
      total += channel.write(buffer.flip());
      buffer.compact();
      boolean holds = buffer.position() > 0;
      key.interestOps(
          (holds ? SelectionKey.OP_WRITE : 0)
              | (buffer.hasRemaining() && taken >= 0 ? SelectionKey.OP_READ : 0));
    }
  }

  private static byte at(long position) {
    return (byte) (position * 0x9E37_79B1L >>> 24);
  }

  private static void ask(InetSocketAddress server, long bytes)
      throws IOException, InterruptedException {
    try (SocketChannel channel = SocketChannel.open(server)) {
      Thread writer = Thread.startVirtualThread(() -> write(channel, bytes));
      ByteBuffer buffer = ByteBuffer.allocate(SIZE);
      for (long got = 0; got < bytes; got += buffer.position()) {
        if (channel.read(buffer.clear()) < 0) {
          throw new IOException("the end after %d bytes".formatted(got));
        }
        for (int i = 0; i < buffer.position(); i++) {
          if (buffer.get(i) != at(got + i)) {
            throw new IOException("another byte %d came back".formatted(got + i));
          }
        }
      }
      writer.join();
    }
    System.out.println(bytes + " bytes verified");
  }

  private static void write(SocketChannel channel, long bytes) {
    ByteBuffer buffer = ByteBuffer.allocate(SIZE);
    try {
      for (long sent = 0; sent < bytes; sent += buffer.position()) {
        buffer.clear().limit((int) Math.min(SIZE, bytes - sent));
        for (int i = 0; i < buffer.limit(); i++) {
          buffer.put(i, at(sent + i));
        }
        while (buffer.hasRemaining()) {
          channel.write(buffer);
        }
      }
    } catch (IOException e) {
      System.out.println("the writer fails: " + e); // and the reader finds the end
    }
  }
}

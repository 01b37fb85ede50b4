package org.hghca.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Two software HCAs in two processes over {@code net=udp:}, and in the same minutes the kernel's
 * own sockets between two Java processes: TCP with buffers of 64 KiB, and a ping-pong of UDP, both
 * blocking. {@code benchmarks/network} runs it from its source, so it uses the JDK alone.
 */
public final class TwoProcesses {
  private static final int BUFFER = 64 * 1024;

  /** As {@code hghca demo} measures them, one after another, then the kernel's. */
  private static final List<String> FIGURES =
      List.of(
          "RDMA WRITEs of 8 bytes a second",
          "RDMA WRITEs of 64 KiB, MB/s",
          "SEND ping-pong, median, us",
          "RDMA WRITE ping-pong, median, us",
          "TCP, 64 KiB, MB/s",
          "UDP ping-pong, median, us");

  private TwoProcesses() {}

  /**
   * Prints each round, and the medians.
   *
   * @param arguments this file, the command line of hghca, seconds of each measurement, rounds, the
   *     addresses of server and client; or {@code serve}, for the other process of the sockets
   */
  public static void main(String... arguments) throws IOException, InterruptedException {
    if (arguments[0].equals("serve")) {
      serve();
      return;
    }
    double seconds = Double.parseDouble(arguments[2]);
    int rounds = Integer.parseInt(arguments[3]);
    double[][] found = new double[FIGURES.size()][rounds];
    for (int round = 0; round < rounds; round++) {
      List<Double> figures =
          new ArrayList<>(demo(arguments[1], seconds, arguments[4], arguments[5]));
      figures.addAll(sockets(arguments[0], seconds));
      for (int i = 0; i < found.length; i++) {
        found[i][round] = figures.get(i);
      }
    }
    for (int i = 0; i < found.length; i++) {
      StringBuilder line = new StringBuilder("%-34s".formatted(FIGURES.get(i)));
      for (double figure : found[i]) {
        line.append("%,12.1f".formatted(figure));
      }
      Arrays.sort(found[i]);
      System.out.println(line.append("   median %,.1f".formatted(found[i][rounds / 2])));
    }
  }

  private static List<Double> demo(String hghca, double seconds, String server, String client)
      throws IOException, InterruptedException {
    Process serving =
        new ProcessBuilder(
                hghca, "demo", "server", "--once", "-p", "0", "-d", "model:s?net=udp:" + server)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try {
      String port = read(serving, Pattern.compile(" on \\S+:(\\d+),"));
      Process measuring =
          new ProcessBuilder(
                  hghca,
                  "demo",
                  "client",
                  "localhost",
                  "-p",
                  port,
                  "-d",
                  "model:c?net=udp:" + client,
                  "--json",
                  "--seconds",
                  Double.toString(4 * seconds))
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      String json = new String(measuring.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (measuring.waitFor() != 0) {
        throw new IOException("the demo failed: " + json);
      }
      List<Double> figures = new ArrayList<>();
      Matcher matcher =
          Pattern.compile("\"(?:\\w+_per_second|p50_us)\"\\s*:\\s*([0-9.eE+]+)").matcher(json);
      while (matcher.find()) {
        figures.add(Double.valueOf(matcher.group(1)));
      }
      if (figures.size() != 4) {
        throw new IOException("four figures expected: " + json);
      }
      return figures;
    } finally {
      serving.destroy();
      serving.waitFor();
    }
  }

  /** The group of the first line that has the pattern; the process must go on to write. */
  private static String read(Process from, Pattern pattern) throws IOException {
    var lines = from.inputReader();
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      Matcher matcher = pattern.matcher(line);
      if (matcher.find()) {
        Thread.ofPlatform().daemon().start(() -> lines.lines().forEach(rest -> {}));
        return matcher.group(1);
      }
    }
    throw new IOException("the server ended");
  }

  private static List<Double> sockets(String source, double seconds)
      throws IOException, InterruptedException {
    String java = ProcessHandle.current().info().command().orElseThrow();
    Process serving = new ProcessBuilder(java, source, "serve").start();
    try {
      InetSocketAddress server =
          new InetSocketAddress(
              InetAddress.getLoopbackAddress(),
              Integer.parseInt(read(serving, Pattern.compile("^(\\d+)$"))));
      long nanos = (long) (seconds * TimeUnit.SECONDS.toNanos(1));
      return List.of(stream(server, nanos), pingPong(server, nanos));
    } finally {
      serving.destroy();
      serving.waitFor();
    }
  }

  /** Takes one stream, and answers datagrams on the port of the same number, until it is ended. */
  private static void serve() throws IOException {
    InetAddress own = InetAddress.getLoopbackAddress();
    try (ServerSocketChannel listening = ServerSocketChannel.open();
        DatagramChannel datagrams = DatagramChannel.open()) {
      listening.bind(new InetSocketAddress(own, 0));
      datagrams.bind(listening.getLocalAddress());
      System.out.println(listening.socket().getLocalPort());
      Thread.ofPlatform().daemon().start(() -> answer(datagrams));
      try (SocketChannel stream = listening.accept()) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER);
        while (stream.read(buffer.clear()) >= 0) {
          // until it ends
        }
        stream.write(buffer.clear().limit(1));
      }
      System.in.read();
    }
  }

  private static void answer(DatagramChannel datagrams) {
    ByteBuffer buffer = ByteBuffer.allocateDirect(Long.BYTES);
    try {
      while (true) {
        var from = datagrams.receive(buffer.clear());
        datagrams.send(buffer.flip(), from);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Megabytes a second, until the other process has read them all. */
  private static double stream(InetSocketAddress server, long nanos) throws IOException {
    try (SocketChannel stream = SocketChannel.open(server)) {
      ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER);
      long bytes = 0;
      long start = System.nanoTime();
      while (System.nanoTime() - start < nanos) {
        bytes += stream.write(buffer.hasRemaining() ? buffer : buffer.clear());
      }
      stream.shutdownOutput();
      stream.read(buffer.clear());
      return bytes * 1e3 / (System.nanoTime() - start);
    }
  }

  /** The median round trip in microseconds. */
  private static double pingPong(InetSocketAddress server, long nanos) throws IOException {
    try (DatagramChannel datagrams = DatagramChannel.open().connect(server)) {
      ByteBuffer buffer = ByteBuffer.allocateDirect(Long.BYTES);
      long[] times = new long[1 << 20];
      int count = 0;
      long start = System.nanoTime();
      long before = start;
      while (before - start < nanos) {
        datagrams.write(buffer.clear());
        datagrams.read(buffer.clear());
        long now = System.nanoTime();
        times[count++ % times.length] = now - before;
        before = now;
      }
      int kept = Math.min(count, times.length);
      Arrays.sort(times, 0, kept);
      return times[kept / 2] / 1e3;
    }
  }
}

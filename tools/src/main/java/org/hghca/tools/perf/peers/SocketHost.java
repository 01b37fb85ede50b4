package org.hghca.tools.perf.peers;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import org.hghca.programs.perf.medium.Medium;
import org.hghca.sockets.RdmaSockets;
import org.hghca.sockets.policy.SocketSettings;

/**
 * Where the sockets of a row come from: the server's address, and a provider.
 *
 * @param server the address at which the server listens
 */
record SocketHost(SelectorProvider provider, InetAddress server) {
  private static final String SERVER = "10.0.0.2";
  private static final String CLIENT = "10.0.0.1";

  /** What the platform has, on the loopback interface. */
  static SocketHost platform() {
    return new SocketHost(SelectorProvider.provider(), InetAddress.getLoopbackAddress());
  }

  /** Over a software HCA that shares memory with that of the other process. */
  static SocketHost sharedMemory(boolean client) throws UnknownHostException {
    return rdma(
        "model:%s?net=shm:peers&ip=%s".formatted(client ? "near" : "far", client ? CLIENT : SERVER),
        SERVER);
  }

  /**
   * Over a software HCA that sends datagrams.
   *
   * @param own address of this end
   * @param server address of the server
   */
  static SocketHost datagrams(String own, String server) throws UnknownHostException {
    return rdma("model:sockets?net=udp:" + own, server);
  }

  private static SocketHost rdma(String locator, String server) throws UnknownHostException {
    System.setProperty(SocketSettings.DEVICES, locator);
    return new SocketHost(RdmaSockets.provider(), InetAddress.getByName(server));
  }

  /** A server's channel, of whose port the other side is told. */
  ServerSocketChannel listen(Medium medium) throws IOException, InterruptedException {
    ServerSocketChannel listening = provider.openServerSocketChannel();
    listening.bind(anyPort());
    tellPort(medium, listening.socket().getLocalPort());
    return listening;
  }

  /** The server's address, with a port that is free. */
  InetSocketAddress anyPort() {
    return new InetSocketAddress(server, 0);
  }

  /** Tells the other side of a port: it has the {@link #address}. */
  static void tellPort(Medium medium, int port) throws InterruptedException {
    medium.write(ByteBuffer.allocate(Integer.BYTES).putInt(port).array());
  }

  /** The server's address, with the port of which the other side tells. */
  InetSocketAddress address(Medium medium) throws InterruptedException {
    int port = ByteBuffer.wrap(medium.read("the port of its socket", Integer.BYTES)).getInt();
    return new InetSocketAddress(server, port);
  }

  /** A connection to the server. */
  SocketChannel connect(InetSocketAddress address) throws IOException {
    SocketChannel channel = provider.openSocketChannel();
    try {
      channel.connect(address);
      return channel;
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  /** A selector for the channels. */
  Selector selector() throws IOException {
    return provider.openSelector();
  }
}

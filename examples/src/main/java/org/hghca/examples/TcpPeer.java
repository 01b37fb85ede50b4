package org.hghca.examples;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.RemoteMemory;

/** The other end, over TCP: what two ends tell each other before they can use RDMA. */
final class TcpPeer implements AutoCloseable {
  private final Socket socket;
  private final DataInputStream in;
  private final DataOutputStream out;

  private TcpPeer(Socket socket) throws IOException {
    this.socket = socket;
    in = new DataInputStream(socket.getInputStream());
    out = new DataOutputStream(socket.getOutputStream());
  }

  /** Waits for the client. */
  static TcpPeer accept(End server) throws IOException {
    try (ServerSocket listener = new ServerSocket()) {
      listener.bind(server.bind());
      server.listening((InetSocketAddress) listener.getLocalSocketAddress());
      return new TcpPeer(listener.accept());
    }
  }

  /** Connects to the server. */
  static TcpPeer connect(InetSocketAddress server) throws IOException {
    return new TcpPeer(new Socket(server.getAddress(), server.getPort()));
  }

  /** Sends our line, and returns the peer's. */
  String exchange(String ours) throws IOException {
    out.writeUTF(ours);
    return in.readUTF();
  }

  /** Sends our endpoint, and returns the peer's. */
  QpEndpoint exchange(QpEndpoint ours) throws IOException {
    return QpEndpoint.parse(exchange(ours.toText()));
  }

  /** Sends the description of our memory, and returns that of the peer's. */
  RemoteMemory exchange(RemoteMemory ours) throws IOException {
    out.write(ours.toBytes());
    return RemoteMemory.of(in.readNBytes(RemoteMemory.BYTES));
  }

  /** Returns when both ends are here. */
  void synchronize() throws IOException {
    out.writeByte(0);
    in.readByte();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}

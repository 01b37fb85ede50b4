package org.hghca.sockets;

import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.hghca.sockets.policy.SocketPolicy;
import org.hghca.sockets.policy.SocketSettings;
import org.hghca.sockets.stream.StreamDevice;

/** What tests of sockets have in common. */
final class Sockets {
  private Sockets() {}

  /** Of a device 10.0.0.1, through which 10.0.0.0/8 goes. */
  static RdmaSelectorProvider provider(StreamDevice device, String... properties)
      throws SocketException {
    return provider(policy(List.of(device), properties));
  }

  static RdmaSelectorProvider provider(SocketPolicy policy) {
    return new RdmaSelectorProvider(new SocketContext(policy));
  }

  /** A policy of these devices, with names and values of properties. */
  static SocketPolicy policy(List<? extends StreamDevice> devices, String... properties)
      throws SocketException {
    Map<String, String> values = new HashMap<>();
    values.put(SocketSettings.NETWORKS, "10.0.0.0/8");
    for (int i = 0; i < properties.length; i += 2) {
      values.put(properties[i], properties[i + 1]);
    }
    StringBuilder names = new StringBuilder();
    for (int i = 0; i < devices.size(); i++) {
      names.append(i).append(';');
    }
    values.put(SocketSettings.DEVICES, names.toString());
    return new SocketPolicy(
        SocketSettings.read(values::get), name -> devices.get(Integer.parseInt(name)));
  }

  static byte[] random(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return bytes;
  }

  static ByteBuffer bytes(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
  }

  static byte[] read(ReadableByteChannel channel, int length) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(length);
    while (buffer.hasRemaining()) {
      if (channel.read(buffer) < 0) {
        throw new IOException("ends after " + buffer.position());
      }
    }
    return buffer.array();
  }

  static String text(ReadableByteChannel channel, int length) throws IOException {
    return new String(read(channel, length), StandardCharsets.UTF_8);
  }

  static void write(WritableByteChannel channel, byte[] bytes) throws IOException {
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
  }
}

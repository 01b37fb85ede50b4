package org.hghca.sockets;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.MembershipKey;
import java.nio.channels.spi.SelectorProvider;
import java.util.Set;

/** A datagram channel of the platform, for selectors of ours. */
final class PlatformDatagramChannel extends DatagramChannel implements Registered {
  private final DatagramChannel channel;
  private final PlatformSide side;

  PlatformDatagramChannel(SelectorProvider provider, DatagramChannel channel) {
    super(provider);
    this.channel = channel;
    this.side = PlatformSide.of(this, channel);
  }

  @Override
  public Registrations registrations() {
    return side.registrations();
  }

  @Override
  public int readyOps() {
    return 0;
  }

  @Override
  public void watch(Runnable onChange) {
    // the platform's selector does
  }

  @Override
  public DatagramChannel bind(SocketAddress local) throws IOException {
    channel.bind(local);
    return this;
  }

  @Override
  public <T> DatagramChannel setOption(SocketOption<T> option, T value) throws IOException {
    channel.setOption(option, value);
    return this;
  }

  @Override
  public <T> T getOption(SocketOption<T> option) throws IOException {
    return channel.getOption(option);
  }

  @Override
  public Set<SocketOption<?>> supportedOptions() {
    return channel.supportedOptions();
  }

  /** The platform's, with its channel: it cannot be made for another one. */
  @Override
  public DatagramSocket socket() {
    return channel.socket();
  }

  @Override
  public boolean isConnected() {
    return channel.isConnected();
  }

  @Override
  public DatagramChannel connect(SocketAddress remote) throws IOException {
    channel.connect(remote);
    return this;
  }

  @Override
  public DatagramChannel disconnect() throws IOException {
    channel.disconnect();
    return this;
  }

  @Override
  public SocketAddress getRemoteAddress() throws IOException {
    return channel.getRemoteAddress();
  }

  @Override
  public SocketAddress getLocalAddress() throws IOException {
    return channel.getLocalAddress();
  }

  @Override
  public SocketAddress receive(ByteBuffer dst) throws IOException {
    try {
      return channel.receive(dst);
    } finally {
      closeWithPlatform();
    }
  }

  @Override
  public int send(ByteBuffer src, SocketAddress target) throws IOException {
    try {
      return channel.send(src, target);
    } finally {
      closeWithPlatform();
    }
  }

  @Override
  public int read(ByteBuffer dst) throws IOException {
    try {
      return channel.read(dst);
    } finally {
      closeWithPlatform();
    }
  }

  @Override
  public long read(ByteBuffer[] dsts, int offset, int length) throws IOException {
    try {
      return channel.read(dsts, offset, length);
    } finally {
      closeWithPlatform();
    }
  }

  @Override
  public int write(ByteBuffer src) throws IOException {
    try {
      return channel.write(src);
    } finally {
      closeWithPlatform();
    }
  }

  @Override
  public long write(ByteBuffer[] srcs, int offset, int length) throws IOException {
    try {
      return channel.write(srcs, offset, length);
    } finally {
      closeWithPlatform();
    }
  }

  /** An interrupt has closed it. */
  private void closeWithPlatform() throws IOException {
    if (!channel.isOpen()) {
      close();
    }
  }

  @Override
  public MembershipKey join(InetAddress group, NetworkInterface at) throws IOException {
    return channel.join(group, at);
  }

  @Override
  public MembershipKey join(InetAddress group, NetworkInterface at, InetAddress source)
      throws IOException {
    return channel.join(group, at, source);
  }

  @Override
  protected void implCloseSelectableChannel() throws IOException {
    channel.close();
  }

  @Override
  protected void implConfigureBlocking(boolean block) throws IOException {
    side.configureBlocking(block);
  }

  @Override
  public String toString() {
    return channel.toString();
  }
}

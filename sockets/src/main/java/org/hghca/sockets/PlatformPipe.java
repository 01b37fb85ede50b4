package org.hghca.sockets;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.spi.SelectorProvider;

/** A pipe of the platform, for selectors of ours. */
final class PlatformPipe extends Pipe {
  private final Source source;
  private final Sink sink;

  PlatformPipe(SelectorProvider provider, Pipe pipe) {
    this.source = new Source(provider, pipe.source());
    this.sink = new Sink(provider, pipe.sink());
  }

  @Override
  public SourceChannel source() {
    return source;
  }

  @Override
  public SinkChannel sink() {
    return sink;
  }

  private static final class Source extends SourceChannel implements Registered {
    private final SourceChannel channel;
    private final PlatformSide side;

    Source(SelectorProvider provider, SourceChannel channel) {
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
    public int read(ByteBuffer dst) throws IOException {
      try {
        return channel.read(dst);
      } finally {
        closeWithPlatform();
      }
    }

    @Override
    public long read(ByteBuffer[] dsts) throws IOException {
      return read(dsts, 0, dsts.length);
    }

    @Override
    public long read(ByteBuffer[] dsts, int offset, int length) throws IOException {
      try {
        return channel.read(dsts, offset, length);
      } finally {
        closeWithPlatform();
      }
    }

    private void closeWithPlatform() throws IOException {
      if (!channel.isOpen()) {
        close();
      }
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
      channel.close();
    }

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
      side.configureBlocking(block);
    }
  }

  private static final class Sink extends SinkChannel implements Registered {
    private final SinkChannel channel;
    private final PlatformSide side;

    Sink(SelectorProvider provider, SinkChannel channel) {
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
    public int write(ByteBuffer src) throws IOException {
      try {
        return channel.write(src);
      } finally {
        closeWithPlatform();
      }
    }

    @Override
    public long write(ByteBuffer[] srcs) throws IOException {
      return write(srcs, 0, srcs.length);
    }

    @Override
    public long write(ByteBuffer[] srcs, int offset, int length) throws IOException {
      try {
        return channel.write(srcs, offset, length);
      } finally {
        closeWithPlatform();
      }
    }

    private void closeWithPlatform() throws IOException {
      if (!channel.isOpen()) {
        close();
      }
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
      channel.close();
    }

    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
      side.configureBlocking(block);
    }
  }
}

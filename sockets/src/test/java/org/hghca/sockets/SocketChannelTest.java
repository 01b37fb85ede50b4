package org.hghca.sockets;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.FileChannel;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Function;
import org.hghca.sockets.MemoryDevice.Network;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class SocketChannelTest {
  private final MemoryDevice device = new Network().device("10.0.0.1");
  private RdmaSelectorProvider provider;
  private ServerSocketChannel server;
  private SocketChannel client;
  private SocketChannel accepted;

  @BeforeEach
  void connect() throws IOException {
    provider = Sockets.provider(device);
    server = provider.openServerSocketChannel();
    server.bind(new InetSocketAddress("10.0.0.1", 0));
    client = provider.openSocketChannel();
    client.connect(server.getLocalAddress());
    accepted = server.accept();
  }

  @AfterEach
  void close() throws IOException {
    client.close();
    accepted.close();
    server.close();
    assertThat(device.open).as("streams that are open").hasValue(0);
  }

  @Test
  void movesManyTimesWhatAStreamHoldsBothWays() throws Exception {
    byte[] there = Sockets.random(100_000);
    byte[] back = Sockets.random(77_777);
    CompletableFuture<byte[]> echo =
        started(
            () -> {
              byte[] arrived = Sockets.read(accepted, there.length);
              Sockets.write(accepted, back);
              return arrived;
            });

    assertThat(client.write(ByteBuffer.wrap(there))).isEqualTo(there.length);
    assertThat(Sockets.read(client, back.length)).isEqualTo(back);
    assertThat(echo.get()).isEqualTo(there);
    assertThat(provider.counters())
        .isEqualTo(new SocketCounters(1, 1, 2, there.length + back.length, 0, 0));
  }

  @Test
  void gathersAndScatters() throws IOException {
    ByteBuffer[] sources = {Sockets.bytes("ab"), Sockets.bytes(""), Sockets.bytes("cdef")};
    ByteBuffer[] targets = {ByteBuffer.allocate(3), ByteBuffer.allocate(10)};

    assertThat(client.write(sources)).isEqualTo(6);
    assertThat(accepted.read(targets)).isEqualTo(6);

    assertThat(new String(targets[0].array(), 0, 3, UTF_8)).isEqualTo("abc");
    assertThat(new String(targets[1].array(), 0, 3, UTF_8)).isEqualTo("def");
    assertThat(targets[1].position()).isEqualTo(3);
  }

  @Test
  void aReadTakesWhatIsThereAndDoesNotWaitForMore() throws IOException {
    client.write(Sockets.bytes("abc"));
    ByteBuffer buffer = ByteBuffer.allocate(10);

    assertThat(accepted.read(buffer)).isEqualTo(3);
    assertThat(accepted.read(ByteBuffer.allocate(0))).isZero();
  }

  @Test
  void endsOneDirectionAndThenTheOther() throws IOException {
    client.write(Sockets.bytes("last"));
    client.shutdownOutput();

    assertThat(Sockets.text(accepted, 4)).isEqualTo("last");
    assertThat(accepted.read(ByteBuffer.allocate(1))).isEqualTo(-1);
    assertThatThrownBy(() -> client.write(Sockets.bytes("more")))
        .isInstanceOf(ClosedChannelException.class);
    accepted.write(Sockets.bytes("answer"));
    assertThat(Sockets.text(client, 6)).isEqualTo("answer");
    client.shutdownInput();
    assertThat(client.read(ByteBuffer.allocate(1))).isEqualTo(-1);
    assertThat(client.read(new ByteBuffer[] {ByteBuffer.allocate(1)})).isEqualTo(-1);
  }

  @Test
  void aBrokenConnectionIsAReset() throws IOException {
    ((MemoryStream) ((RdmaSocketChannel) accepted).stream).breakPeer();

    assertThatThrownBy(() -> client.read(ByteBuffer.allocate(1)))
        .isInstanceOf(SocketException.class)
        .hasMessage("Connection reset");
    assertThatThrownBy(() -> client.write(Sockets.bytes("x"))).hasMessage("Broken pipe");
  }

  @Test
  void closeThatDoesNotLingerIsAResetForThePeer() throws IOException {
    client.setOption(StandardSocketOptions.SO_LINGER, 0);

    client.close();

    assertThatThrownBy(() -> accepted.read(ByteBuffer.allocate(1)))
        .isInstanceOf(SocketException.class)
        .hasMessage("Connection reset");
  }

  @Test
  void closeByAnotherThreadEndsARead() throws Exception {
    FutureTask<Integer> reader = blocked(channel -> unchecked(() -> channel.read(one())), client);

    client.close();

    assertThatThrownBy(reader::get).rootCause().isInstanceOf(AsynchronousCloseException.class);
  }

  @Test
  void closeByAnotherThreadEndsAWriteWithWhatWasWritten() throws Exception {
    ByteBuffer more = ByteBuffer.allocate(MemoryStream.ROOM + 1);
    FutureTask<Integer> writer = blocked(channel -> unchecked(() -> channel.write(more)), client);

    client.close();

    assertThat(writer.get()).isEqualTo(MemoryStream.ROOM);
  }

  @Test
  void anInterruptClosesTheChannelOfAThreadThatReads() throws Exception {
    FutureTask<Integer> reader = new FutureTask<>(() -> client.read(one()));
    Thread thread = new Thread(reader);
    thread.start();
    awaitBlocked(thread);

    thread.interrupt();

    assertThatThrownBy(reader::get).rootCause().isInstanceOf(ClosedByInterruptException.class);
    assertThat(client.isOpen()).isFalse();
  }

  @Test
  void withoutBlockingNothingWaits() throws IOException {
    client.configureBlocking(false);
    accepted.configureBlocking(false);

    assertThat(client.read(one())).isZero();
    assertThat(client.write(ByteBuffer.allocate(5000))).isEqualTo(MemoryStream.ROOM);
    assertThat(client.write(one())).isZero();
    assertThat(accepted.read(ByteBuffer.allocate(5000))).isEqualTo(MemoryStream.ROOM);
    assertThat(server.configureBlocking(false)).isSameAs(server);
    assertThat(server.accept()).isNull();
  }

  @Test
  void statesThatForbidACallAreTheJdks() throws IOException {
    try (SocketChannel fresh = provider.openSocketChannel()) {
      assertThatThrownBy(() -> fresh.read(one())).isInstanceOf(NotYetConnectedException.class);
      assertThatThrownBy(() -> fresh.write(one())).isInstanceOf(NotYetConnectedException.class);
      assertThatThrownBy(fresh::shutdownInput).isInstanceOf(NotYetConnectedException.class);
      assertThatThrownBy(fresh::finishConnect).isInstanceOf(NoConnectionPendingException.class);
      assertThat(fresh.getLocalAddress()).isNull();
      assertThat(fresh.getRemoteAddress()).isNull();
      fresh.bind(new InetSocketAddress("10.0.0.1", 0));
      assertThatThrownBy(() -> fresh.bind(null)).isInstanceOf(AlreadyBoundException.class);
      assertThatThrownBy(() -> fresh.connect(InetSocketAddress.createUnresolved("x.test", 1)))
          .isInstanceOf(UnresolvedAddressException.class);
    }
    assertThatThrownBy(() -> client.connect(server.getLocalAddress()))
        .isInstanceOf(AlreadyConnectedException.class);
    client.close();
    assertThatThrownBy(() -> client.read(one())).isInstanceOf(ClosedChannelException.class);
    assertThatThrownBy(client::getLocalAddress).isInstanceOf(ClosedChannelException.class);
  }

  @Test
  void aRefusedConnectClosesTheChannel() throws IOException {
    SocketChannel refused = provider.openSocketChannel();

    assertThatThrownBy(() -> refused.connect(new InetSocketAddress("10.0.0.1", 9)))
        .isInstanceOf(ConnectException.class)
        .hasMessage("Connection refused");
    assertThat(refused.isOpen()).isFalse();
  }

  @Test
  void aConnectWithoutBlockingIsPendingUntilItIsFinished() throws IOException {
    device.slow = true;
    try (SocketChannel pending = provider.openSocketChannel()) {
      pending.configureBlocking(false);

      assertThat(pending.connect(server.getLocalAddress())).isFalse();
      assertThat(pending.isConnectionPending()).isTrue();
      assertThat(pending.finishConnect()).isFalse();
      assertThatThrownBy(() -> pending.connect(server.getLocalAddress()))
          .isInstanceOf(ConnectionPendingException.class);
      device.lastConnect.answer();
      assertThat(pending.isConnected()).isFalse();
      assertThat(pending.finishConnect()).isTrue();
      assertThat(pending.isConnected()).isTrue();
      assertThat(pending.getRemoteAddress()).isEqualTo(server.getLocalAddress());
      server.accept().close();
    }
  }

  @Test
  void closeByAnotherThreadGivesAConnectUp() throws Exception {
    device.slow = true;
    SocketChannel pending = provider.openSocketChannel();
    FutureTask<Integer> connecting =
        blocked(
            channel -> unchecked(() -> channel.connect(server.getLocalAddress()) ? 1 : 0), pending);

    pending.close();

    assertThatThrownBy(connecting::get).rootCause().isInstanceOf(AsynchronousCloseException.class);
    assertThat(device.lastConnect.cancelled).isTrue();
  }

  @Test
  @SuppressWarnings("AddressSelection") // the very address that the program names
  void addressesAreThoseThatTheProgramNames() throws IOException {
    RdmaSelectorProvider everywhere =
        Sockets.provider(device, "org.hghca.sockets.networks", "10.0.0.0/8,127.0.0.0/8");
    try (ServerSocketChannel listening =
            everywhere.openServerSocketChannel().bind(new InetSocketAddress("127.0.0.1", 0));
        SocketChannel outgoing = everywhere.openSocketChannel()) {
      outgoing.bind(new InetSocketAddress("127.0.0.1", 0));
      outgoing.connect(listening.getLocalAddress());
      listening.accept().close();

      assertThat(((InetSocketAddress) listening.getLocalAddress()).getHostString())
          .isEqualTo("127.0.0.1");
      assertThat(outgoing.getRemoteAddress()).isEqualTo(listening.getLocalAddress());
      InetSocketAddress local = (InetSocketAddress) outgoing.getLocalAddress();
      assertThat(local.getHostString()).isEqualTo("127.0.0.1");
      assertThat(local.getPort()).isPositive();
    }
  }

  @Test
  void optionsAreRememberedAndReachTheStream() throws IOException {
    try (SocketChannel channel = provider.openSocketChannel()) {
      channel.setOption(StandardSocketOptions.SO_RCVBUF, 40_000);
      channel.setOption(StandardSocketOptions.SO_SNDBUF, 20_000);
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.setOption(StandardSocketOptions.SO_LINGER, 100_000);
      channel.connect(server.getLocalAddress());
      server.accept().close();
      channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);

      assertThat(device.lastOptions.receiveBuffer()).isEqualTo(40_000);
      assertThat(device.lastOptions.sendBuffer()).isEqualTo(20_000);
      assertThat(channel.getOption(StandardSocketOptions.TCP_NODELAY)).isTrue();
      assertThat(channel.getOption(StandardSocketOptions.SO_LINGER)).isEqualTo(65535);
      assertThat(((MemoryStream) ((RdmaSocketChannel) channel).stream).keepAlive).isTrue();
      assertThat(channel.supportedOptions())
          .isEqualTo(provider.platform().openSocketChannel().supportedOptions());
      assertThatThrownBy(() -> channel.setOption(StandardSocketOptions.IP_MULTICAST_TTL, 1))
          .isInstanceOf(UnsupportedOperationException.class);
      assertThatThrownBy(() -> channel.setOption(StandardSocketOptions.SO_RCVBUF, -1))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> channel.setOption(StandardSocketOptions.IP_TOS, 256))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void aListenersBuffersAreThoseOfItsConnections() throws IOException {
    try (ServerSocketChannel large = provider.openServerSocketChannel()) {
      large.setOption(StandardSocketOptions.SO_RCVBUF, 50_000);
      large.bind(new InetSocketAddress(0));

      assertThat(device.lastOptions.receiveBuffer()).isEqualTo(50_000);
      assertThatThrownBy(() -> provider.openServerSocketChannel().bind(large.getLocalAddress()))
          .isInstanceOf(BindException.class)
          .hasMessage("Address already in use");
    }
  }

  @Test
  void filesAreTransferredBothWays(@TempDir Path folder) throws Exception {
    byte[] content = Sockets.random(50_000);
    Path source = Files.write(folder.resolve("source"), content);
    Path target = folder.resolve("target");
    CompletableFuture<Long> receiving =
        started(
            () -> {
              try (FileChannel file =
                  FileChannel.open(target, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                long taken = 0;
                while (taken < content.length) {
                  taken += file.transferFrom(accepted, taken, content.length - taken);
                }
                return taken;
              }
            });

    try (FileChannel file = FileChannel.open(source)) {
      long sent = 0;
      while (sent < content.length) {
        sent += file.transferTo(sent, content.length - sent, client);
      }
    }

    assertThat(receiving.get()).isEqualTo(content.length);
    assertThat(target).hasBinaryContent(content);
  }

  private interface Call<T> {
    T run() throws IOException;
  }

  private static <T> T unchecked(Call<T> call) {
    try {
      return call.run();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static <T> CompletableFuture<T> started(Call<T> call) {
    return CompletableFuture.supplyAsync(() -> unchecked(call));
  }

  private static FutureTask<Integer> blocked(
      Function<SocketChannel, Integer> call, SocketChannel channel)
      throws InterruptedException, ExecutionException {
    FutureTask<Integer> task = new FutureTask<>(() -> call.apply(channel));
    Thread thread = new Thread(task);
    thread.start();
    awaitBlocked(thread);
    return task;
  }

  private static void awaitBlocked(Thread thread) {
    while (thread.getState() != Thread.State.WAITING
        && thread.getState() != Thread.State.TIMED_WAITING) {
      assertThat(thread.isAlive()).as("the thread waits").isTrue();
    }
  }

  private static ByteBuffer one() {
    return ByteBuffer.allocate(1);
  }
}

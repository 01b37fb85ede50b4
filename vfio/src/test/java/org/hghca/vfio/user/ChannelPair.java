package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.time.Duration;
import org.hghca.linux.Linux;
import org.hghca.linux.SystemCalls;

/** Two ends of one connection, for tests. */
record ChannelPair(UserChannel left, UserChannel right) implements AutoCloseable {
  static final Duration PATIENCE = Duration.ofSeconds(30);

  /** Connects by a socket at an unused path. */
  static ChannelPair connect(Path socket) {
    SystemCalls linux = Linux.system();
    String path = socket.toString();
    int listening = UserSocket.create(linux);
    try (Arena arena = Arena.ofConfined()) {
      assertThat(linux.bind(listening, UserSocket.address(arena, path))).isZero();
      assertThat(linux.listen(listening, 1)).isZero();
      UserChannel left = UserChannel.connect(linux, path, PATIENCE);
      int accepted = linux.accept(listening, UserSocket.SOCK_CLOEXEC);
      assertThat(accepted).isNotNegative();
      return new ChannelPair(left, new UserChannel(linux, accepted, PATIENCE));
    } finally {
      linux.close(listening);
    }
  }

  @Override
  public void close() {
    left.close();
    right.close();
  }
}

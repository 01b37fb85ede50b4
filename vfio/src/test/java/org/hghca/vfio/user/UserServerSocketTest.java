package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.hghca.linux.Linux;
import org.hghca.linux.LinuxErrno;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.linux.TamperedCalls;
import org.hghca.vfio.user.UserStructures.IrqSet;
import org.junit.jupiter.api.Test;

/** The socket of a server: who may connect, and what an ended one leaves. */
final class UserServerSocketTest extends WithServer {
  private static final int TRIGGER = IrqSet.ACTION_TRIGGER;

  @Test
  void clientFindsNothingOfTheOneBefore() {
    for (int i = 0; i < 5; i++) {
      int event = client.event();
      int file = client.memory(8192);
      assertThat(client.setInterrupts(2, IrqSet.DATA_EVENTFD | TRIGGER, 0, 1, event)).isZero();
      assertThat(client.map(0x10000, 8192, file, 0)).isZero();
      assertThat(client.map(0x20000, 4096, -1, 0)).isZero();
      assertThat(client.write(7, 4, 2, 6)).isZero();
      assertThat(served.device.write(0x10000, 1)).isTrue();
      served.device.calls.clear();
      // The next one waits until this one has left.
      RawClient next = RawClient.connect(served.path);
      client.close();
      assertThat(next.greet("{}")).isZero();
      assertThat(served.device.calls).containsExactly("write configuration 0x4 2 0x0", "reset");
      assertThat(served.server.mappings()).isZero();
      assertThat(served.device.write(0x10000, 2)).isFalse();
      assertThat(served.device.read(0x20000)).isNull();
      served.device.bus().raise(0);
      assertThat(client.count(event)).isZero();
      client.linux.close(event);
      client.linux.close(file);
      client = next;
    }
    assertThat(served.server.clients()).isEqualTo(6);
  }

  @Test
  void socketIsServedByOneServerOnly() throws IOException {
    assertReason(Reason.BUSY, () -> UserServer.start(served.path, new ServedDevice()))
        .hasMessageContaining(served.path);
    assertThat(client.read(7, 0, 4)).as("the client there is not disturbed").isZero();

    Path file = Files.writeString(directory.resolve("file"), "precious");
    assertReason(Reason.INVALID, () -> UserServer.start(file.toString(), new ServedDevice()));
    assertThat(file).hasContent("precious");
    assertReason(
        Reason.NOT_FOUND, () -> UserServer.start(directory + "/no/where", new ServedDevice()));
  }

  /** A client that sees the file of the socket can connect: the server does nothing in between. */
  @Test
  void socketListensAtOnceAndIsTheOwnersAlone() {
    Path path = directory.resolve("private");
    List<String> modes = new ArrayList<>();
    TamperedCalls tampered = new TamperedCalls();
    tampered.answer(
        "listen",
        arguments -> {
          modes.add(tampered.names.get(tampered.names.size() - 2));
          modes.add(mode(path));
          return null;
        });
    UserServer.start(
            tampered.calls,
            path.toString(),
            Optional.empty(),
            new ServedDevice(),
            UserTimeouts.CLIENT)
        .close();
    assertThat(modes).containsExactly("bind", "rw-------");
  }

  @Test
  void socketThatCannotListenLeavesNoFile() {
    Path path = directory.resolve("deaf");
    TamperedCalls tampered = new TamperedCalls().fail("listen", LinuxErrno.ENOMEM);
    assertThatThrownBy(
            () ->
                UserServer.start(
                    tampered.calls,
                    path.toString(),
                    Optional.empty(),
                    new ServedDevice(),
                    UserTimeouts.CLIENT))
        .isInstanceOf(VfioException.class)
        .hasMessageContaining(path.toString());
    assertThat(path).doesNotExist();
  }

  @Test
  void socketIsTheGroupsToo() throws IOException {
    Path path = directory.resolve("shared");
    GroupPrincipal group = Files.readAttributes(directory, PosixFileAttributes.class).group();
    try (UserServer _ = UserServer.start(path.toString(), Optional.of(group), new ServedDevice())) {
      assertThat(mode(path)).isEqualTo("rw-rw----");
      assertThat(Files.readAttributes(path, PosixFileAttributes.class).group()).isEqualTo(group);
    }
  }

  private static String mode(Path path) {
    try {
      return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void socketThatCannotBeRestrictedIsRemoved() throws IOException {
    Path path = directory.resolve("open");
    GroupPrincipal group = Files.readAttributes(directory, PosixFileAttributes.class).group();
    for (String call : List.of("fchmod", "open")) {
      TamperedCalls tampered = new TamperedCalls();
      tampered.fail(call, LinuxErrno.EACCES);
      assertReason(
              Reason.NO_PERMISSION,
              () ->
                  UserServer.start(
                      tampered.calls,
                      path.toString(),
                      Optional.of(group),
                      new ServedDevice(),
                      UserTimeouts.CLIENT))
          .hasMessageContainingAll("cannot set who may connect to '" + path, "EACCES");
      assertThat(path).doesNotExist();
    }
  }

  @Test
  void socketOfAnEndedServerIsReplaced() {
    String path = directory.resolve("dead").toString();
    int socket = UserSocket.create(Linux.system());
    try (Arena arena = Arena.ofConfined()) {
      assertThat(Linux.system().bind(socket, UserSocket.address(arena, path))).isZero();
    }
    Linux.system().close(socket);
    assertThat(Path.of(path)).exists();
    try (UserServer second = UserServer.start(path, new ServedDevice());
        RawClient other = RawClient.greeted(path)) {
      assertThat(second.path()).isEqualTo(path);
      assertThat(other.read(7, 0, 4)).isZero();
    }
    assertThat(Path.of(path)).doesNotExist();
  }

  @Test
  void closingTheServerHangsUp() {
    served.server.close();
    assertThat(client.channel.receive(client.in)).isFalse();
    served.server.close();
  }
}

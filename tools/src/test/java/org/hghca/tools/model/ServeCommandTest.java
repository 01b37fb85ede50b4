package org.hghca.tools.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PipedReader;
import java.io.PipedWriter;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.hghca.model.CaptureSocket;
import org.hghca.tools.CommandLineRun;
import org.hghca.tools.Main;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.kernel.Machine;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The served software HCA is available when the command reports it, and gone when it ends. */
@Tag("long")
final class ServeCommandTest {
  @TempDir Path directory;

  /** The command, while it runs. */
  private static final class Serving {
    private final PipedReader lines = new PipedReader();
    private final BufferedReader reader = new BufferedReader(lines);
    private final Thread thread;

    Serving(String... options) throws IOException {
      PrintWriter out = new PrintWriter(new PipedWriter(lines), true);
      PrintWriter err = new PrintWriter(new StringWriter());
      String[] arguments =
          Stream.concat(Stream.of("model", "serve"), Stream.of(options)).toArray(String[]::new);
      thread = Thread.ofPlatform().start(() -> Main.run(Machine.local(), out, err, arguments));
    }

    /** The next line of its output. */
    String line() throws IOException {
      return reader.readLine();
    }

    void end() throws InterruptedException {
      thread.interrupt();
      thread.join();
    }
  }

  @Test
  void twoAreServedUntilTheCommandEnds() throws Exception {
    Path left = directory.resolve("left");
    Path right = directory.resolve("right");
    Serving command =
        new Serving(
            "--socket=" + left,
            "--peer=" + right,
            "-o",
            "mac=02:00:00:00:00:11",
            "-o",
            "capture=" + directory.resolve("left.pcapng"),
            "--peer-option",
            "mac=02:00:00:00:00:12");
    assertThat(command.line())
        .startsWith("serving")
        .contains("profile s", "mac 02:00:00:00:00:11")
        .endsWith(" on " + left);
    assertThat(command.line()).contains("mac 02:00:00:00:00:12").endsWith(" on " + right);
    assertThat(version(left)).contains("\"max_msg_fds\":");
    assertThat(version(right)).contains("\"max_msg_fds\":");

    // A driver on each, joined by a cable.
    CommandLineRun demo =
        CommandLineRun.of(
            "demo", "--seconds=0.1", "--ib-dev=vfio-user:" + left, "--ib-dev=vfio-user:" + right);
    assertThat(demo.err()).isEmpty();
    assertThat(demo.out()).contains("All 10 checks held");
    assertThat(demo.exitCode()).isZero();

    CommandLineRun second = CommandLineRun.of("model", "serve", "--socket=" + right).assertExit(1);
    assertThat(second.err()).contains(right + "'");

    command.end();
    assertThat(left).doesNotExist();
    assertThat(right).doesNotExist();
    CommandLineRun decoded =
        CommandLineRun.of("decode", directory.resolve("left.pcapng").toString());
    assertThat(decoded.err()).isEmpty();
    assertThat(decoded.out())
        .contains(" out ", " in ", "RC_WRITE_ONLY", "UD_SEND_ONLY", "ICRC good");
    assertThat(decoded.exitCode()).isZero();
  }

  @Test
  void twoCardsAtOnePathAreRefused() {
    Path path = directory.resolve("one");
    CommandLineRun run =
        CommandLineRun.of("model", "serve", "--socket=" + path, "--peer=" + path).assertExit(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err()).contains("--socket and --peer are the same path");
    assertThat(path).doesNotExist();
  }

  /** By vfio-user: what QEMU and the driver of a guest find. */
  @Test
  void twoVirtioCardsAreServedOnACable() throws Exception {
    Path left = directory.resolve("left");
    Path right = directory.resolve("right");
    Serving command =
        new Serving(
            "--kind=virtio", "--socket=" + left, "--peer=" + right, "-o", "mac=02:00:00:00:00:11");
    assertThat(command.line())
        .isEqualTo("serving a virtio network card, mac 02:00:00:00:00:11, on " + left);
    assertThat(command.line()).startsWith("serving a virtio network card").endsWith(" on " + right);

    try (PciFunction card = PciFunctions.open(Locator.parse("vfio-user:" + left))) {
      assertThat(card.configuration().read(0, 4)).isEqualTo(0x1041_1af4);
      assertThat(card.region(0).readByte(20)).isZero();
      card.region(0).writeByte(20, 1);
      assertThat(card.region(0).readByte(20)).isEqualTo(1);
      assertThat(card.region(0).readInt(0x2000)).isEqualTo(0x0000_0002); // the MAC
      assertThat(card.region(0).readShort(0x2006)).isEqualTo(1); // the link is up
    }

    command.end();
    CommandLineRun profile =
        CommandLineRun.of("model", "serve", "--kind=virtio", "--profile=s", "--socket=" + left);
    assertThat(profile.err()).contains("--profile needs --kind=hca");
  }

  @Test
  void twoVirtioCardsAreServedOnAHub() throws Exception {
    Path left = directory.resolve("left");
    Path right = directory.resolve("right");
    Serving command =
        new Serving(
            "--kind=virtio",
            "--socket=" + left,
            "-o=hub=" + left,
            "-o=roce=rfc-v2",
            "--peer=" + right,
            "--peer-option=hub=" + left,
            "--peer-option=roce=rfc-v2");
    assertThat(command.line()).endsWith(" on " + left);
    assertThat(command.line()).endsWith(" on " + right);

    CommandLineRun demo =
        CommandLineRun.of(
            "demo", "--seconds=0.1", "--ib-dev=vfio-user:" + left, "--ib-dev=vfio-user:" + right);
    assertThat(demo.err()).isEmpty();
    assertThat(demo.exitCode()).isZero();
    command.end();
  }

  /** The server's reply to the version that QEMU offers. */
  private static String version(Path socket) throws IOException {
    try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      channel.connect(UnixDomainSocketAddress.of(socket));
      ByteBuffer request = ByteBuffer.allocate(20).order(ByteOrder.LITTLE_ENDIAN);
      request.putShort((short) 1).putShort((short) 1).putInt(20).putLong(0).putInt(0).flip();
      channel.write(request);
      ByteBuffer reply = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);
      while (reply.position() < 16 || reply.position() < reply.getInt(4)) {
        assertThat(channel.read(reply)).isPositive();
      }
      assertThat(reply.getInt(16)).isZero(); // 0.0
      return new String(reply.array(), 20, reply.position() - 20, StandardCharsets.UTF_8);
    }
  }

  @Test
  void socketMayHaveAQuestionMarkInItsName() throws Exception {
    Path socket = directory.resolve("a?b.sock");
    Serving command = new Serving("--socket=" + socket);
    assertThat(command.line()).endsWith(" on " + socket);

    String locator = "vfio-user:" + directory + "/a%3Fb.sock";
    CommandLineRun info = CommandLineRun.of("info", "-d", locator).assertExit(0);
    assertThat(info.out()).startsWith("hca_id:\t" + locator + "\n");
    assertThat(CommandLineRun.of("info", "-d", "vfio-user:" + socket).err())
        .contains("a ? in the name is written %3F");

    command.end();
  }

  /** Also the sockets of captures, and both of a peer. */
  @Test
  void socketsAreTheGroupsToo() throws Exception {
    // The superuser may give a file to any group, others to their own.
    boolean isRoot = "root".equals(System.getProperty("user.name"));
    Object group = isRoot ? 4242 : Files.getAttribute(directory, "unix:gid");
    Path left = directory.resolve("left");
    Path right = directory.resolve("right");
    Serving command = new Serving("--socket=" + left, "--peer=" + right, "--socket-group=" + group);
    assertThat(command.line()).endsWith(" on " + left);
    assertThat(command.line()).endsWith(" on " + right);
    for (Path socket : List.of(left, right)) {
      for (Path file : List.of(socket, CaptureSocket.beside(socket.toString()))) {
        assertThat(Files.getAttribute(file, "unix:gid")).as("%s", file).isEqualTo(group);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
            .isEqualTo("rw-rw----");
      }
    }
    command.end();
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void groupThatDoesNotExistIsNamed() {
    Path socket = directory.resolve("socket");
    for (String group : List.of("no-such-group", "-1", "4294967295")) {
      assertUsage(
          "Invalid value for option '--socket-group': there is no group '" + group + "'",
          "model",
          "serve",
          "--socket=" + socket,
          "--socket-group=" + group);
    }
    assertThat(socket).doesNotExist();
  }

  @Test
  void wrongUsageIsExplained() throws IOException {
    Path file = Files.writeString(directory.resolve("file"), "precious");
    assertUsage("no socket", "model", "serve", "--socket=" + file);
    assertThat(file).hasContent("precious");
    Path socket = directory.resolve("socket");
    assertUsage("--socket", "model", "serve");
    assertUsage("Missing command", "model");
    assertUsage("--peer", "model", "serve", "--socket=" + socket, "--peer-option", "seed=1");
    assertUsage("profile=x", "model", "serve", "--socket=" + socket, "--profile=x");
    assertUsage("cable", "model", "serve", "--socket=" + socket, "-o", "drop=0.1");
    assertUsage("108", "model", "serve", "--socket=/" + "x".repeat(107));
    assertThat(socket).doesNotExist();
  }

  private static void assertUsage(String message, String... args) {
    CommandLineRun run = CommandLineRun.of(args).assertExit(2);
    assertThat(run.err()).contains(message);
  }

  @Test
  void missingFolderIsAFailure() {
    CommandLineRun run =
        CommandLineRun.of("model", "serve", "--socket=" + directory.resolve("no/where"))
            .assertExit(1);
    assertThat(run.err()).contains("folder must exist");
  }
}

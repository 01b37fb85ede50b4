package org.hghca.tools.capture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.FutureTask;
import org.hghca.model.CaptureSocket;
import org.hghca.model.ModelProvider;
import org.hghca.model.SoftwareHca;
import org.hghca.tools.CommandLineRun;
import org.hghca.vfio.Locator;
import org.hghca.vfio.user.UserServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CaptureCommandTest {
  @TempDir Path folder;

  private SoftwareHca hca(String name, String... parameters) {
    TreeMap<String, String> all = new TreeMap<>(Map.of("cable", folder.toString()));
    for (String parameter : parameters) {
      String[] pair = parameter.split("=");
      all.put(pair[0], pair[1]);
    }
    return ModelProvider.plugIn(new Locator("model", folder.resolve(name).toString(), all));
  }

  private CommandLineRun demo() {
    return CommandLineRun.of(
        "demo",
        "--seconds=0.1",
        "-d",
        "vfio-user:" + folder.resolve("left"),
        "-d",
        "vfio-user:" + folder.resolve("right"));
  }

  @Test
  void packetsOfAServedHcaAreCapturedWhileItRuns() throws Exception {
    Path left = folder.resolve("left");
    Path right = folder.resolve("right");
    Path one = folder.resolve("one.pcapng");
    Path two = folder.resolve("two.pcapng");
    SoftwareHca leftHca = hca("left");
    SoftwareHca rightHca = hca("right");
    try (UserServer _ = UserServer.start(left.toString(), leftHca);
        UserServer _ = UserServer.start(right.toString(), rightHca)) {
      CaptureSocket captures = CaptureSocket.open(CaptureSocket.beside(left.toString()), leftHca);
      Capturing first = new Capturing(left, one);
      Capturing second = new Capturing(left, two);
      first.awaitHead();
      second.awaitHead();
      demo().assertExit(0);
      captures.close();
      assertThat(first.end()).isZero();
      assertThat(second.end()).isZero();
      assertThat(CaptureSocket.beside(left.toString())).doesNotExist();
    }
    CommandLineRun decoded = CommandLineRun.of("decode", one.toString()).assertExit(0);
    assertThat(decoded.out())
        .contains(" out ", " in ", "RC_WRITE_ONLY", "UD_SEND_ONLY", "ICRC good");
    assertThat(packets(CommandLineRun.of("decode", two.toString())))
        .hasSizeGreaterThan(10)
        .isEqualTo(packets(decoded));
  }

  /**
   * The lines of the first checks, without their times, as each capture reads the clock itself. A
   * capture may drop packets of the measurements that follow, on queue pairs from the fourth on.
   */
  private static List<String> packets(CommandLineRun decoded) {
    Map<String, Set<String>> numbers = new HashMap<>(); // of both sides, by direction
    return decoded
        .out()
        .lines()
        .takeWhile(
            line -> {
              String[] words = line.split(" +");
              Set<String> seen = numbers.computeIfAbsent(words[1], _ -> new HashSet<>());
              seen.add(words[List.of(words).indexOf("qpn") + 1]);
              return seen.size() <= 3;
            })
        .map(line -> line.substring(line.indexOf(' ')))
        .toList();
  }

  /** The command, while it runs. */
  private static final class Capturing {
    private final Path file;
    private final Thread thread;
    private volatile CommandLineRun run;

    Capturing(Path socket, Path file) {
      this.file = file;
      thread =
          Thread.ofPlatform()
              .start(
                  () ->
                      run =
                          CommandLineRun.of(
                              "capture", "-d", "vfio-user:" + socket, file.toString()));
    }

    /** From here on every packet is captured. */
    void awaitHead() throws Exception {
      while (!Files.exists(file) || Files.size(file) == 0) {
        assertThat(thread.isAlive()).isTrue();
        Thread.onSpinWait();
      }
    }

    int end() throws InterruptedException {
      thread.join();
      return run.exitCode();
    }
  }

  @Test
  void readersWhoNeverReadHoldUpNothingAndAreLimited() throws Exception {
    Path left = folder.resolve("left");
    Path right = folder.resolve("right");
    SoftwareHca leftHca = hca("left");
    SoftwareHca rightHca = hca("right");
    Path socket = CaptureSocket.beside(left.toString());
    List<SocketChannel> clients = new ArrayList<>();
    try (UserServer _ = UserServer.start(left.toString(), leftHca);
        UserServer _ = UserServer.start(right.toString(), rightHca)) {
      try (CaptureSocket _ = CaptureSocket.open(socket, leftHca)) {
        for (int i = 0; i < 16; i++) {
          clients.add(SocketChannel.open(UnixDomainSocketAddress.of(socket)));
          assertThat(clients.get(i).read(ByteBuffer.allocate(8)))
              .as("its head begins")
              .isEqualTo(8);
        }
        try (SocketChannel oneMore = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
          assertThat(oneMore.read(ByteBuffer.allocate(8))).as("its end").isEqualTo(-1);
        }
        demo().assertExit(0);
        clients.getFirst().shutdownOutput(); // it wants no more, and does not take the rest either
      }
      for (SocketChannel client : clients) {
        assertThat(endOf(client)).as("no statistics, as at the end of a capture").isNotEqualTo(5);
      }
    } finally {
      for (SocketChannel client : clients) {
        client.close();
      }
    }
  }

  /** The type of the last complete block of pcapng that a client gets, behind its first 8 bytes. */
  private static int endOf(SocketChannel client) throws IOException {
    ByteBuffer all = ByteBuffer.allocate(1 << 24).order(ByteOrder.LITTLE_ENDIAN);
    all.putInt(0x0a0d0d0a).putInt(44);
    while (client.read(all) >= 0) {
      assertThat(all.hasRemaining()).isTrue();
    }
    all.flip();
    int type = 0;
    while (all.remaining() >= 8 && all.remaining() >= all.getInt(all.position() + 4)) {
      type = all.getInt(all.position());
      all.position(all.position() + all.getInt(all.position() + 4));
    }
    return type;
  }

  @Test
  void captureEndsAfterItsTimeAndTheNextOneStarts() {
    Path left = folder.resolve("left");
    SoftwareHca hca = hca("left", "capture=" + folder.resolve("own.pcapng"));
    try (UserServer _ = UserServer.start(left.toString(), hca);
        CaptureSocket _ = CaptureSocket.open(CaptureSocket.beside(left.toString()), hca)) {
      for (String name : new String[] {"one", "two"}) {
        Path file = folder.resolve(name);
        CommandLineRun.of("capture", "--seconds=0.05", "-d", "vfio-user:" + left, file.toString())
            .assertExit(0);
        CommandLineRun decoded = CommandLineRun.of("decode", file.toString()).assertExit(0);
        assertThat(decoded.out()).isEmpty();
      }
    }
  }

  @Test
  void fileIsForTheOwnerAloneAndAPipeIsWrittenAsItIs() throws Exception {
    Path left = folder.resolve("left");
    Path file = folder.resolve("file");
    Path pipe = folder.resolve("pipe");
    Path link = Files.createSymbolicLink(folder.resolve("link"), file);
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    SoftwareHca hca = hca("left");
    try (UserServer _ = UserServer.start(left.toString(), hca);
        CaptureSocket _ = CaptureSocket.open(CaptureSocket.beside(left.toString()), hca)) {
      assertThat(brief(left, file).exitCode()).isZero();
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
          .isEqualTo("rw-------");
      CommandLineRun refused = brief(left, link).assertExit(5);
      assertThat(refused.err())
          .isEqualTo(
              "hghca: %s cannot be written: it is a symbolic link: name the file itself\n"
                  .formatted(link));
      FutureTask<byte[]> reader = new FutureTask<>(() -> Files.readAllBytes(pipe));
      Thread.ofPlatform().daemon().start(reader);
      assertThat(brief(left, pipe).exitCode()).isZero();
      assertThat(reader.get()).startsWith(0x0a, 0x0d, 0x0d, 0x0a);
      assertThat(brief(left, Path.of("/dev/null")).exitCode()).isZero();
    }
  }

  private static CommandLineRun brief(Path socket, Path file) {
    return CommandLineRun.of(
        "capture", "--seconds=0.05", "-d", "vfio-user:" + socket, file.toString());
  }

  @Test
  void aSocketThatNobodyServesIsNamed() {
    Path nobody = folder.resolve("nobody");
    CommandLineRun run =
        CommandLineRun.of("capture", "-d", "vfio-user:" + nobody, folder + "/x.pcapng")
            .assertExit(3);
    assertThat(run.err()).contains("nobody.capture'", "hghca model serve");
  }

  @Test
  void anotherDeviceIsWrongUsage() {
    CommandLineRun run =
        CommandLineRun.of("capture", "-d", "model:a", folder + "/x.pcapng").assertExit(2);
    assertThat(run.err()).contains("vfio-user:<path>", "capture= in its locator");
  }

  @Test
  void aFileThatCannotBeWrittenIsNamed() {
    Path left = folder.resolve("left");
    SoftwareHca hca = hca("left");
    try (UserServer _ = UserServer.start(left.toString(), hca);
        CaptureSocket _ = CaptureSocket.open(CaptureSocket.beside(left.toString()), hca)) {
      CommandLineRun run =
          CommandLineRun.of("capture", "-d", "vfio-user:" + left, folder + "/no/where")
              .assertExit(5);
      assertThat(run.err()).contains("/no/where");
      assertThat(brief(left, folder))
          .isEqualTo(new CommandLineRun(5, "", "hghca: %s: Is a directory\n".formatted(folder)));
    }
  }
}

package org.hghca.vfio.user;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.vfio.testing.Failures.assertReason;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.hghca.linux.Linux;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.PciFunctions;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.linux.TamperedCalls;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A side without descriptors reports it, and so does the other side. */
final class OutOfDescriptorsTest {
  private static final String LIMIT = "120";

  @TempDir Path directory;

  /**
   * A server in a process of its own, which keeps all descriptors after its first client has left.
   */
  public static final class Hog {
    private static final Deque<Integer> KEPT = new ArrayDeque<>();

    private Hog() {}

    /** A line of input is the number of descriptors to release. */
    public static void main(String[] arguments) throws IOException {
      SystemCalls linux = Linux.system();
      ServedDevice device =
          new ServedDevice() {
            @Override
            public void reset() {
              if (KEPT.isEmpty()) {
                int kept = linux.open("/dev/null", 0);
                while (kept >= 0) {
                  KEPT.add(kept);
                  kept = linux.open("/dev/null", 0);
                }
                System.out.println("kept, the last answer was " + LinuxErrno.describe(kept));
              }
            }
          };
      BufferedReader input =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      try (UserServer server = UserServer.start(arguments[0], device)) {
        System.out.println("serving " + server.path());
        for (String line = input.readLine(); line != null; line = input.readLine()) {
          for (int i = Integer.parseInt(line); i > 0; i--) {
            linux.close(KEPT.remove());
          }
          System.out.println("let go " + line);
        }
      }
    }
  }

  @Test
  void serverReportsToItsClientsAndItsLog() throws Exception {
    String path = directory.resolve("server").toString();
    Process process =
        new ProcessBuilder(
                "sh",
                "-c",
                "ulimit -n " + LIMIT + "; exec \"$0\" \"$@\"",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Hog.class.getName(),
                path)
            .redirectErrorStream(true)
            .start();
    try (BufferedReader output = process.inputReader();
        Writer input = process.outputWriter()) {
      await(output, "serving");
      useOnce(path);
      await(output, "kept, the last answer was EMFILE");
      Locator locator = Locator.parse("vfio-user:" + path);
      // The kernel has taken a descriptor for the next client when it begins to wait for one.
      try (RawClient _ = RawClient.greeted(path)) {
        for (int i = 0; i < 3; i++) {
          assertReason(Reason.NO_MEMORY, () -> PciFunctions.open(locator))
              .hasMessageContainingAll(
                  path,
                  "has no descriptor left for VERSION",
                  "raise ulimit -n where it is started");
        }
      }
      await(output, "a client is rejected, no descriptor is left: raise ulimit -n");
      release(input, output, 1); // which becomes the server's spare one
      try (PciFunction function = PciFunctions.open(locator)) {
        assertReason(Reason.NO_MEMORY, () -> function.allocate(4096))
            .hasMessageContaining("has no descriptor left for DMA_MAP");
        await(output, "no descriptor is left for what comes with REGISTER_RING: raise ulimit -n");
        assertReason(Reason.NO_MEMORY, function::interrupts)
            .hasMessageContaining("has no descriptor left for DEVICE_SET_IRQS");
        release(input, output, 40);
        try (DmaMapping mapping = function.allocate(4096)) {
          assertThat(mapping.iova(0)).isPositive();
        }
        assertThat(function.interrupts().vectors()).isEqualTo(ServedDevice.VECTORS);
      }
    } finally {
      process.destroyForcibly().waitFor();
    }
  }

  /** Makes the server run everything once, so that it needs no more classes from files. */
  private static void useOnce(String path) {
    try (RawClient client = RawClient.greeted(path)) {
      int file = client.memory(4096);
      int event = client.event();
      assertThat(client.map(0x1_0000, 4096, file, 0)).isZero();
      assertThat(client.unmap(0x1_0000, 4096, 0)).isZero();
      assertThat(client.setInterrupts(2, 0x24, 0, 1, event)).isZero();
      assertThat(client.setInterrupts(2, 0x21, 0, 0)).as("the event is closed").isZero();
      assertThat(client.setInterrupts(9, 0x24, 0, 1, event)).isPositive();
      assertThat(client.read(7, 0, 64)).isZero();
      client.linux.close(file);
      client.linux.close(event);
    }
  }

  private static void release(Writer input, BufferedReader output, int count) throws IOException {
    input.write(count + "\n");
    input.flush();
    await(output, "let go " + count);
  }

  private static void await(BufferedReader output, String words) throws IOException {
    String line = output.readLine();
    StringBuilder before = new StringBuilder();
    while (line != null && !line.contains(words)) {
      before.append(line).append('\n');
      line = output.readLine();
    }
    assertThat(line).as("%s%nbefore its end", before).isNotNull();
  }

  @Test
  void serverThatCannotAcceptRetries() {
    AtomicInteger left = new AtomicInteger(3);
    TamperedCalls tampered = new TamperedCalls();
    tampered.answer(
        "accept", arguments -> left.getAndDecrement() > 0 ? -LinuxErrno.EMFILE.number() : null);
    String path = directory.resolve("server").toString();
    try (UserServer server =
            UserServer.start(
                tampered.calls, path, Optional.empty(), new ServedDevice(), UserTimeouts.CLIENT);
        RawClient client = RawClient.greeted(path)) {
      assertThat(client.read(7, 0, 4)).isZero();
      assertThat(server.clients()).isEqualTo(1);
    }
  }

  @Test
  void clientReportsThatItHasNone() {
    try (FakeServer server = new FakeServer(directory)) {
      Locator locator = Locator.parse(server.locator());
      TamperedCalls tampered = new TamperedCalls();
      tampered.fail("socket", LinuxErrno.EMFILE);
      assertReason(Reason.NO_MEMORY, () -> UserFunction.open(tampered.calls, locator))
          .hasMessageContainingAll("cannot make a socket", "EMFILE", "raise ulimit -n");
    }
  }

  /** The kernel's flag for a descriptor that it could not pass: MSG_CTRUNC. */
  @Test
  void clientReportsTheDescriptorThatItCannotReceive() {
    TamperedCalls tampered = new TamperedCalls();
    tampered.answer(
        "recvmsg",
        arguments -> {
          MemorySegment message = (MemorySegment) arguments[1];
          long answer = Linux.system().recvmsg((int) arguments[0], message, (int) arguments[2]);
          message.set(ValueLayout.JAVA_INT, 48, 8);
          return answer;
        });
    try (FakeServer server = new FakeServer(directory)) {
      assertReason(
              Reason.NO_MEMORY,
              () -> UserFunction.open(tampered.calls, Locator.parse(server.locator())))
          .hasMessageContainingAll("no descriptor is left", "its reply to VERSION", "ulimit -n");
    }
  }
}

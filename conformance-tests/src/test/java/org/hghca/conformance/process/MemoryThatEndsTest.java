package org.hghca.conformance.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.hghca.conformance.profile.OnlyOn;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.model.SoftwareHca;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.user.UserServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Registered memory that is not mapped, or no longer, on a software device: in a JVM of its own,
 * which must not crash, and whose device must serve others afterwards.
 */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT) // it waits for processes of its own
class MemoryThatEndsTest {
  private static final String INLINE = "model:memory?mode=inline";
  private static final String THREADED = "model:memory";

  /** Represents a software HCA that is reached through a socket. */
  private static final String SERVED = "served";

  /** malloc(3) for Java memory fails from 256 MiB on. */
  private static final String[] LITTLE_MEMORY = {
    "-Xlog:disable",
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:NativeMemoryTracking=summary",
    "-XX:MallocLimit=other:256m:oom"
  };

  @TempDir private Path directory;

  /** A queue pair that is its own peer. */
  private static final class Loop implements AutoCloseable {
    final Context context;
    final ProtectionDomain pd;
    final CompletionQueue queue;
    final MemoryRegion buffer;
    QueuePair qp;

    Loop(String locator) {
      context = RdmaDevices.open(locator);
      pd = context.allocateProtectionDomain();
      queue = context.createCompletionQueue(64);
      buffer = pd.allocate(1 << 16, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
      connect();
    }

    private void connect() {
      qp = pd.createQueuePair(QueuePairConfig.rc(queue, queue).sendDepth(16));
      qp.connect(own -> own);
    }

    /** The result of a WRITE from one region to another; a new queue pair replaces the old one. */
    String write(MemoryRegion from, MemoryRegion to) {
      qp.postSend(
          new SendRequest()
              .rdmaWrite(to.address(), to.rkey())
              .sge(from, 0, Math.min(from.length(), 8192))
              .signaled());
      Completions completions = new Completions(1);
      while (queue.poll(completions) == 0) {
        Thread.onSpinWait();
      }
      qp.close();
      connect();
      return completions.status(0).name();
    }

    /** Whether the device still works. */
    void check() {
      System.out.println("others: " + write(buffer, buffer));
    }

    @Override
    public void close() {
      qp.close();
      buffer.close();
      queue.close();
      pd.close();
      context.close();
    }
  }

  /** Does one thing that no program should do, and prints the result. */
  static final class Program {
    private Program() {}

    public static void main(String[] arguments) throws IOException {
      Path scratch = Path.of(arguments[2]);
      if (arguments[1].equals(SERVED)) {
        String socket = scratch.resolve("socket").toString();
        SoftwareHca hca = TestProfile.plugIn("model:served-memory");
        try (UserServer server = UserServer.start(socket, hca)) {
          run(arguments[0], "vfio-user:" + server.path(), scratch);
        }
      } else {
        run(arguments[0], TestProfile.model(arguments[1]), scratch);
      }
    }

    private static void run(String what, String locator, Path scratch) throws IOException {
      try (Loop loop = new Loop(locator)) {
        switch (what) {
          case "unmapped" -> unmapped(loop);
          case "closed" -> closed(loop);
          case "truncated" -> truncated(loop, scratch);
          case "exhausted" -> exhausted(loop);
          default -> throw new IllegalArgumentException(what);
        }
        loop.check();
      }
    }

    @SuppressWarnings("restricted")
    private static void unmapped(Loop loop) {
      for (long address : new long[] {0, 4096, 0x1234_5678_9000L, -4096}) {
        MemorySegment nowhere = MemorySegment.ofAddress(address).reinterpret(4096);
        try (MemoryRegion region = loop.pd.register(nowhere, AccessFlag.LOCAL_WRITE)) {
          System.out.println(region.length() + " bytes: " + loop.write(region, loop.buffer));
        } catch (VerbsException e) {
          System.out.println(e.errno());
        }
      }
    }

    private static void closed(Loop loop) {
      for (boolean source : new boolean[] {true, false}) {
        Arena arena = Arena.ofShared();
        MemorySegment memory = arena.allocate(1 << 20);
        try (MemoryRegion region =
            loop.pd.register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)) {
          arena.close();
          print(loop, source, region);
        }
      }
    }

    private static void print(Loop loop, boolean source, MemoryRegion region) {
      String status = source ? loop.write(region, loop.buffer) : loop.write(loop.buffer, region);
      System.out.println((source ? "from it: " : "to it: ") + status);
    }

    private static void truncated(Loop loop, Path scratch) throws IOException {
      try (Arena arena = Arena.ofShared();
          FileChannel file =
              FileChannel.open(
                  scratch.resolve("file"),
                  StandardOpenOption.CREATE,
                  StandardOpenOption.READ,
                  StandardOpenOption.WRITE)) {
        MemorySegment memory = file.map(FileChannel.MapMode.READ_WRITE, 0, 1 << 20, arena);
        try (MemoryRegion region =
            loop.pd.register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)) {
          for (int i = 0; i < 20; i++) {
            check(loop.write(region, loop.buffer));
            check(loop.write(loop.buffer, region));
          }
          file.truncate(0);
          for (boolean source : new boolean[] {true, false}) {
            print(loop, source, region);
          }
        }
      }
    }

    private static void check(String status) {
      if (!status.equals("SUCCESS")) {
        throw new IllegalStateException(status);
      }
    }

    /** Allocates until no memory is left, in an address space that has a limit. */
    private static void exhausted(Loop loop) {
      List<MemoryRegion> regions = new ArrayList<>();
      Errno end = null;
      while (end == null) {
        try {
          regions.add(loop.pd.allocate(16 << 20, AccessFlag.LOCAL_WRITE));
        } catch (VerbsException e) {
          System.out.println(e.getMessage().contains("16777216") ? "named" : e.getMessage());
          end = e.errno();
        }
      }
      System.out.println(end);
      loop.check();
      regions.forEach(MemoryRegion::close);
      loop.pd.allocate(16 << 20, AccessFlag.LOCAL_WRITE).close();
    }
  }

  private List<String> run(String what, String locator, String... options) {
    List<String> all = new ArrayList<>(List.of("--enable-native-access=ALL-UNNAMED"));
    all.addAll(List.of(options));
    return OtherJvm.run(all, Program.class, what, locator, directory.toString())
        .assertSuccess()
        .said()
        .lines()
        .toList();
  }

  @ParameterizedTest
  @ValueSource(strings = {INLINE, THREADED, SERVED})
  void unmappedMemoryIsRefused(String locator) {
    String refused = "EFAULT (14)";
    assertThat(run("unmapped", locator))
        .containsExactly(refused, refused, refused, refused, "others: SUCCESS");
  }

  @ParameterizedTest
  @CsvSource({INLINE, THREADED, SERVED})
  @OnlyOn(value = "s", why = "the host's answer to a write does not reach the RTL")
  void arenaClosedUnderItsRegionIsAnError(String locator) {
    assertThat(run("closed", locator))
        .hasSize(3)
        .noneMatch(line -> line.startsWith("from it: SUCCESS"))
        .noneMatch(line -> line.startsWith("to it: SUCCESS"))
        .endsWith("others: SUCCESS");
  }

  @ParameterizedTest
  @ValueSource(strings = {INLINE, THREADED, SERVED})
  @OnlyOn(value = "s", why = "the host's answer to a write does not reach the RTL")
  void fileTruncatedUnderItsRegionIsAnError(String locator) {
    assertThat(run("truncated", locator))
        .hasSize(3)
        .noneMatch(line -> line.startsWith("from it: SUCCESS"))
        .noneMatch(line -> line.startsWith("to it: SUCCESS"))
        .endsWith("others: SUCCESS");
  }

  @ParameterizedTest
  @ValueSource(strings = {INLINE, THREADED})
  void outOfMemoryIsAnErrorAndOpenObjectsContinueToWork(String locator) {
    assertThat(run("exhausted", locator, LITTLE_MEMORY))
        .containsExactly("named", "ENOMEM (12)", "others: SUCCESS", "others: SUCCESS");
  }

  /** Leaves everything open, with requests in flight, and a thread of its own. */
  static final class Forgetful {
    private Forgetful() {}

    @SuppressWarnings("MustBeClosedChecker")
    public static void main(String[] arguments) throws IOException {
      Path scratch = Path.of(arguments[1]);
      Loop loop = new Loop(TestProfile.model(arguments[0]));
      Path path = Files.write(scratch.resolve("left"), new byte[1 << 16]);
      FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
      MemorySegment memory = file.map(FileChannel.MapMode.READ_WRITE, 0, 1 << 16, Arena.ofAuto());
      MemoryRegion region =
          loop.pd.register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
      MemoryRegion arena =
          loop.pd.register(
              Arena.ofShared().allocate(1 << 16), AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
      for (int i = 0; i < 16; i++) {
        loop.qp.postSend(
            new SendRequest().rdmaWrite(arena.address(), arena.rkey()).sge(region, 0, 1 << 16));
      }
      System.out.println("left");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {INLINE, THREADED})
  void programThatLeavesEverythingOpenEnds(String locator) {
    assertThat(OtherJvm.run(Forgetful.class, locator, directory.toString()).assertSuccess().said())
        .isEqualToIgnoringNewLines("left");
  }
}

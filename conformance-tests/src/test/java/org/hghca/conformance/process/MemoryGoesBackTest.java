package org.hghca.conformance.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Context;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.RdmaDevices;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** Resident memory of a process after its regions and queues were closed, with the device open. */
@Tag("long")
@Isolated("it counts what the process has")
class MemoryGoesBackTest {
  private static final int MEBIBYTE = 1 << 20;

  /** The most that a device keeps, and the JVM's own share. */
  private static final long MOST = 64 + 48;

  private static long residentMebibytes() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/status")).stream()
        .filter(line -> line.startsWith("VmRSS:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) / 1024)
        .findFirst()
        .orElseThrow();
  }

  /** Prints the growth after each kind of use, in MiB. */
  static final class Program {
    private Program() {}

    public static void main(String[] arguments) throws IOException {
      try (Context context = RdmaDevices.open(TestProfile.model("model:resident"));
          ProtectionDomain pd = context.allocateProtectionDomain()) {
        use(pd, 4);
        context.createCompletionQueue(1).close();
        long before = residentMebibytes();
        long most =
            Math.min(
                arguments.length == 0 ? 1536 : Long.parseLong(arguments[0]),
                context.queryDevice().maxMrSize() / MEBIBYTE);
        for (int mebibytes = 256; mebibytes <= most; mebibytes += 256) {
          use(pd, mebibytes);
        }
        System.out.println(residentMebibytes() - before);
        List<CompletionQueue> queues = new ArrayList<>();
        for (int i = 0; i < 1000 && i < context.queryDevice().maxCq(); i++) {
          queues.add(context.createCompletionQueue(1));
        }
        System.out.println(residentMebibytes() - before);
        queues.forEach(CompletionQueue::close);
        System.out.println(residentMebibytes() - before);
      }
    }

    private static void use(ProtectionDomain pd, int mebibytes) {
      try (MemoryRegion region = pd.allocate((long) mebibytes * MEBIBYTE, AccessFlag.LOCAL_WRITE)) {
        MemorySegment memory = region.segment();
        for (long at = 0; at < memory.byteSize(); at += 4096) {
          memory.set(ValueLayout.JAVA_BYTE, at, (byte) 1);
        }
      }
    }
  }

  @Test
  void closedRegionsAndQueuesReturnTheirMemory() {
    // R1 translates 1 GiB in all.
    String most = !TestProfile.isRtl() ? "1536" : "512";
    List<Long> left =
        OtherJvm.run(List.of("--enable-native-access=ALL-UNNAMED", "-Xmx64m"), Program.class, most)
            .assertSuccess()
            .said()
            .lines()
            .map(Long::valueOf)
            .toList();
    assertThat(left).hasSize(3);
    assertThat(left.get(0)).as("MiB after regions of up to %s MiB", most).isLessThan(MOST);
    assertThat(left.get(2)).as("MiB after the queues, which had %d", left.get(1)).isLessThan(MOST);
  }
}

package org.hghca.conformance.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.hghca.model.ModelProvider;
import org.hghca.model.SoftwareHca;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Context;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.Locator;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.user.UserServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** JVMs that deny native code, or {@code sun.misc.Unsafe}. */
@Tag("long")
class NativeAccessTest {
  private static final String NO_NATIVE = "--illegal-native-access=deny";
  private static final String NATIVE = "--enable-native-access=ALL-UNNAMED";
  private static final String OPTION =
      "--enable-native-access=org.jnrproject.jffi,org.hghca.linux,org.hghca.vfio";
  private static final String NO_UNSAFE = "--sun-misc-unsafe-memory-access=deny";

  @TempDir private Path directory;

  /** Opens its argument twice and allocates memory; prints the result. */
  static final class Opener {
    private Opener() {}

    public static void main(String[] locators) {
      for (String locator : locators) {
        for (int i = 0; i < 2; i++) {
          System.out.println(open(locator));
        }
      }
    }

    private static String open(String locator) {
      try (Context context = RdmaDevices.open(locator);
          ProtectionDomain pd = context.allocateProtectionDomain();
          MemoryRegion region = pd.allocate(4 << 20, AccessFlag.LOCAL_WRITE)) {
        return "has %d bytes".formatted(region.length());
      } catch (VerbsException e) {
        return "refused: " + e.getMessage();
      }
    }
  }

  /** Serves a software HCA to a program in the same JVM, so that the options apply to both ends. */
  static final class Server {
    private Server() {}

    public static void main(String[] socket) {
      SoftwareHca hca;
      try {
        hca = ModelProvider.plugIn(Locator.parse("model:served"));
      } catch (VfioException e) {
        System.out.println("not plugged in: " + e.getMessage());
        return;
      }
      try (UserServer server = UserServer.start(socket[0], hca)) {
        Opener.main(new String[] {"vfio-user:" + server.path()});
      }
    }
  }

  private static void assertNamesTheOption(OtherJvm.Ended ended) {
    assertThat(ended.assertSuccess().said().lines())
        .hasSize(2)
        .allSatisfy(
            line ->
                assertThat(line).startsWith("refused: ").contains(OPTION).endsWith("EACCES (13)"));
  }

  @Test
  void withoutNativeAccessALocalDeviceNamesTheOption() {
    assertNamesTheOption(OtherJvm.run(List.of(NO_NATIVE), Opener.class, "model:x"));
  }

  @Test
  void withoutNativeAccessARemoteDeviceNamesTheOption() {
    String nobody = "vfio-user:" + directory.resolve("nobody");
    assertNamesTheOption(OtherJvm.run(List.of(NO_NATIVE), Opener.class, nobody));
  }

  @Test
  void withoutNativeAccessACardNamesTheOption() {
    String passed = "pci:0000:ff:1f.7?fd=0&iommufd=0";
    assertNamesTheOption(OtherJvm.run(List.of(NO_NATIVE), Opener.class, passed));
  }

  @Test
  void withoutNativeAccessADeviceToServeNamesTheOption() {
    String socket = directory.resolve("unserved").toString();
    OtherJvm.Ended ended = OtherJvm.run(List.of(NO_NATIVE), Server.class, socket);
    assertThat(ended.assertSuccess().said()).startsWith("not plugged in: ").contains(OPTION);
  }

  @Test
  void nothingNeedsUnsafe() {
    OtherJvm.Ended ended =
        OtherJvm.run(
            List.of(NATIVE, NO_NATIVE, NO_UNSAFE),
            Server.class,
            directory.resolve("served").toString());
    assertThat(ended.assertSuccess().said().lines())
        .containsExactly("has 4194304 bytes", "has 4194304 bytes");
  }
}

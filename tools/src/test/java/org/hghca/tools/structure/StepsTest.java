package org.hghca.tools.structure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeElement;
import java.lang.classfile.MethodModel;
import java.lang.classfile.Opcode;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.MonitorInstruction;
import java.lang.reflect.AccessFlag;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.hghca.wire.Packet;
import org.junit.jupiter.api.Test;

/**
 * A virtual thread may do a step of a software HCA: nothing in one may take it off its carrier,
 * neither a monitor nor a park.
 */
class StepsTest {
  /** The packages whose classes make up a step. */
  private static final List<String> PACKAGES =
      List.of(
          "org/hghca/model/hca",
          "org/hghca/model/transport",
          "org/hghca/model/card",
          "org/hghca/wire",
          "org/hghca/wire/frame",
          "org/hghca/wire/shm");

  /** What other packages have in a step. */
  private static final Set<String> CLASSES =
      Set.of(
          "org/hghca/model/CardBus",
          "org/hghca/model/Cable",
          "org/hghca/model/Hub",
          "org/hghca/model/Lane",
          "org/hghca/model/Network",
          "org/hghca/model/SimulatedCard",
          "org/hghca/model/Participants",
          "org/hghca/vfio/dma/DmaFaults",
          "org/hghca/vfio/inprocess/InProcessInterrupts",
          "org/hghca/wire/link/LinkEvents",
          "org/hghca/wire/link/LinkSleep",
          "org/hghca/wire/link/WakeUp",
          "org/hghca/wire/link/UdpLink",
          "org/hghca/wire/link/SharedMemoryLink",
          "org/hghca/wire/link/SegmentedDatagrams",
          "org/hghca/wire/link/DatagramBatch");

  /** Methods that do not belong to a step, each with the reason. */
  private static final Map<String, String> OUTSIDE =
      Map.of(
          "org/hghca/model/card/MsixRegion.read", "a register access, of any thread",
          "org/hghca/model/card/MsixRegion.write", "a register access, of any thread",
          "org/hghca/model/card/MsixRegion.reset", "between two steps",
          "org/hghca/model/Network.sleeps", "a platform thread before it parks",
          "org/hghca/wire/link/LinkSleep.sleep", "a platform thread before it parks",
          "org/hghca/wire/shm/MeetingPlace.come", "when a link is opened",
          "org/hghca/vfio/inprocess/InProcessInterrupts.await", "waits for interrupts");

  private static final Set<String> WAITING =
      Set.of("park", "parkNanos", "parkUntil", "lock", "wait", "sleep", "yield", "join", "await");

  @Test
  void nothingInAStepTakesAVirtualThreadOffItsCarrier() {
    Set<String> found = new TreeSet<>();
    Set<String> seen = new TreeSet<>();
    for (Class<?> root : List.of(Packet.class, modelClass(), vfioClass())) {
      forEachClass(
          root,
          model -> {
            String name = model.thisClass().asInternalName();
            String outer = name.contains("$") ? name.substring(0, name.indexOf('$')) : name;
            String home = name.substring(0, name.lastIndexOf('/'));
            if (PACKAGES.contains(home) || CLASSES.contains(outer)) {
              seen.add(outer);
              seen.add(home);
              model.methods().forEach(method -> look(name, method, found));
            }
          });
    }
    assertThat(seen).containsAll(PACKAGES).containsAll(CLASSES);
    found.removeAll(OUTSIDE.keySet());
    assertThat(found).isEmpty();
  }

  private static void look(String owner, MethodModel method, Set<String> found) {
    String name = owner + "." + method.methodName().stringValue();
    if (method.flags().has(AccessFlag.SYNCHRONIZED)) {
      found.add(name);
    }
    method
        .code()
        .ifPresent(
            code -> {
              for (CodeElement element : code) {
                if (element instanceof MonitorInstruction enter
                    && enter.opcode() == Opcode.MONITORENTER) {
                  found.add(name);
                } else if (element instanceof InvokeInstruction call && waits(call)) {
                  found.add(name);
                }
              }
            });
  }

  private static boolean waits(InvokeInstruction call) {
    String owner = call.owner().asInternalName();
    return (owner.startsWith("java/util/concurrent/locks/")
            || owner.equals("java/lang/Object")
            || owner.equals("java/lang/Thread"))
        && WAITING.contains(call.name().stringValue());
  }

  private static Class<?> modelClass() {
    return org.hghca.model.SoftwareHca.class;
  }

  private static Class<?> vfioClass() {
    return org.hghca.vfio.DeviceBus.class;
  }

  private static void forEachClass(Class<?> root, java.util.function.Consumer<ClassModel> action) {
    try {
      URI place = root.getProtectionDomain().getCodeSource().getLocation().toURI();
      Path path = Path.of(place);
      if (Files.isDirectory(path)) {
        forEachClass(path, action);
      } else {
        try (FileSystem jar = FileSystems.newFileSystem(path)) {
          forEachClass(jar.getPath("/"), action);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (java.net.URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void forEachClass(Path folder, java.util.function.Consumer<ClassModel> action)
      throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        if (file.toString().endsWith(".class") && !file.endsWith("module-info.class")) {
          try (InputStream in = Files.newInputStream(file)) {
            action.accept(ClassFile.of().parse(in.readAllBytes()));
          }
        }
      }
    }
  }
}

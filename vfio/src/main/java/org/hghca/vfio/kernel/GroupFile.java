package org.hghca.vfio.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Optional;
import org.hghca.vfio.UndoStack;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.dma.AddressSpace;

/**
 * An IOMMU group. The kernel allows its node to be opened only once: all functions of the group in
 * this process share it, and also the container. Guarded by the {@link KernelSystem}.
 */
final class GroupFile {
  private final KernelSystem system;
  private final Path node;
  private final int number;
  private final int descriptor;
  private final ContainerSpace container;
  private int users;

  private GroupFile(
      KernelSystem system, Path node, int number, int descriptor, ContainerSpace container) {
    this.system = system;
    this.node = node;
    this.number = number;
    this.descriptor = descriptor;
    this.container = container;
  }

  /**
   * The group of a function, in a container with its IOMMU; its user count is incremented.
   *
   * @param name of the container; empty for one of its own
   */
  static GroupFile of(KernelSystem system, Path node, int number, Optional<String> name) {
    GroupFile group = system.groups().get(node);
    if (group == null) {
      group = open(system, node, number, name);
      system.groups().put(node, group);
    } else if (name.isPresent() && !name.equals(group.container.name())) {
      throw new VfioException(
          Reason.INVALID,
          ("IOMMU group %d is open already in %s: all functions of a group share a container")
              .formatted(
                  number,
                  group
                      .container
                      .name()
                      .map(other -> "the container '" + other + "'")
                      .orElse("a container without a name")));
    }
    group.users++;
    return group;
  }

  private static GroupFile open(KernelSystem system, Path node, int number, Optional<String> name) {
    UndoStack undo = new UndoStack();
    try {
      int descriptor = system.open(node);
      undo.add(() -> system.close(descriptor));
      checkViable(system, node, descriptor);
      ContainerSpace container = ContainerSpace.of(system, name);
      undo.add(container::release);
      try (Arena arena = Arena.ofConfined()) {
        KernelErrors.checked(
            system
                .calls()
                .ioctl(
                    descriptor,
                    VfioAbi.GROUP_SET_CONTAINER,
                    arena.allocateFrom(JAVA_INT, container.descriptor())),
            "%s cannot be put into a container".formatted(node));
      }
      return new GroupFile(system, node, number, descriptor, container);
    } catch (RuntimeException e) {
      throw undo.because(e);
    }
  }

  private static void checkViable(KernelSystem system, Path node, int descriptor) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment status = arena.allocate(VfioAbi.GroupStatus.SIZE, Integer.BYTES);
      status.set(JAVA_INT, VfioAbi.ARGSZ, VfioAbi.GroupStatus.SIZE);
      KernelErrors.checked(
          system.calls().ioctl(descriptor, VfioAbi.GROUP_GET_STATUS, status),
          "cannot query the state of %s".formatted(node));
      if ((status.get(JAVA_INT, VfioAbi.FLAGS) & VfioAbi.GroupStatus.VIABLE) == 0) {
        throw new VfioException(
            Reason.BUSY,
            ("the IOMMU group of %s is not viable: a kernel driver has a function of it")
                .formatted(node));
      }
    }
  }

  int number() {
    return number;
  }

  int descriptor() {
    return descriptor;
  }

  /** Sets the container's IOMMU, if it has none, and returns its addresses. */
  AddressSpace join(IommuMode mode, MapFailure failure) {
    return container.join(mode, failure);
  }

  /** The descriptor of a function of the group. */
  int device(String address) {
    try (Arena arena = Arena.ofConfined()) {
      int answer =
          system
              .calls()
              .ioctl(descriptor, VfioAbi.GROUP_GET_DEVICE_FD, arena.allocateFrom(address));
      return KernelErrors.checked(answer, "%s does not give %s".formatted(node, address));
    }
  }

  /** Decrements the user count; the last user closes the group. */
  void release() {
    users--;
    if (users == 0) {
      system.groups().remove(node);
      system.close(descriptor); // removes the group from the container
      container.release();
    }
  }
}

package org.hghca.vfio.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.hghca.linux.LinuxErrno;
import org.hghca.vfio.UndoStack;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.dma.AddressSpace;

/**
 * An opened function: its descriptor, and its I/O address space. Each mode opens its files in the
 * order that the kernel requires, and closes them in reverse. Thread-safe.
 */
final class VfioEntry implements AutoCloseable {
  private final KernelSystem system;
  private final IommuMode mode;
  private final MapFailure failure;

  /** Undoes the steps that led to the function's descriptor, which is closed first. */
  private final UndoStack undo = new UndoStack();

  /** Releases the function itself. */
  private final UndoStack leaving = new UndoStack();

  private GroupFile group;
  private DeviceFile device;
  private AddressSpace addresses;

  private VfioEntry(KernelSystem system, IommuMode mode) {
    this.system = system;
    this.mode = mode;
    this.failure = new MapFailure(system.machine(), mode);
  }

  /**
   * Opens a function.
   *
   * @throws org.hghca.vfio.VfioException naming the step that the kernel refused
   */
  static VfioEntry open(
      KernelSystem system, PciDevice device, IommuMode mode, KernelOptions options) {
    VfioEntry entry = new VfioEntry(system, mode);
    synchronized (system) {
      try {
        List<Path> nodes = mode.nodes(system.machine(), device);
        switch (mode) {
          case IOMMUFD -> entry.byIommufd(system.open(nodes.getLast()), options, false);
          case GROUP, NOIOMMU -> entry.byGroup(device, mode, nodes.getLast(), options.container());
        }
        return entry;
      } catch (RuntimeException e) {
        throw entry.undo.because(entry.leaving.because(e));
      }
    }
  }

  /** Uses a function that a process with more privileges has opened. */
  static VfioEntry passed(KernelSystem system, String address, KernelOptions options) {
    boolean iommufd = options.iommufd().isPresent();
    VfioEntry entry = new VfioEntry(system, iommufd ? IommuMode.IOMMUFD : IommuMode.GROUP);
    synchronized (system) {
      try {
        int descriptor = system.duplicate(options.descriptor().getAsInt(), address);
        if (iommufd) {
          entry.byIommufd(descriptor, options, true);
        } else {
          entry.byContainer(descriptor, options);
        }
        return entry;
      } catch (RuntimeException e) {
        throw entry.undo.because(entry.leaving.because(e));
      }
    }
  }

  /** How it was opened. */
  IommuMode mode() {
    return mode;
  }

  private void byGroup(PciDevice function, IommuMode mode, Path node, Optional<String> container) {
    group = GroupFile.of(system, node, function.group().orElseThrow().number(), container);
    undo.add(group::release);
    addresses = group.join(mode, failure);
    take(group.device(function.address()));
  }

  private void byContainer(int descriptor, KernelOptions options) {
    take(descriptor);
    ContainerSpace container =
        ContainerSpace.passed(
            system, options.container().orElseThrow(), options.containerDescriptor().getAsInt());
    undo.add(container::release);
    addresses = container.join(IommuMode.GROUP, failure);
  }

  private void byIommufd(int descriptor, KernelOptions options, boolean passed) {
    take(descriptor);
    IoasSpace space = IoasSpace.of(system, options);
    undo.add(space::release);
    bind(space, passed);
    attach(space);
    leaving.add(this::detach);
    addresses = space.join(failure);
  }

  private void take(int descriptor) {
    device = new DeviceFile(system.calls(), descriptor);
    leaving.add(device::close);
  }

  private void bind(IoasSpace space, boolean passed) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment request = arena.allocate(VfioAbi.BindIommufd.SIZE, Integer.BYTES);
      request.set(JAVA_INT, VfioAbi.ARGSZ, VfioAbi.BindIommufd.SIZE);
      request.set(JAVA_INT, VfioAbi.BindIommufd.IOMMUFD, space.iommufd());
      int answer = device.ioctl(VfioAbi.DEVICE_BIND_IOMMUFD, request);
      // A descriptor stays bound for its lifetime: a passed one may be bound already.
      if (!(passed && LinuxErrno.EINVAL.is(answer))) {
        checkBound(answer);
      }
    }
  }

  private static void checkBound(int answer) {
    String what = "the function cannot be bound to " + Vfio.IOMMUFD_NODE;
    if (LinuxErrno.EINVAL.is(answer) || LinuxErrno.EBUSY.is(answer)) {
      throw new VfioException(
          Reason.BUSY,
          "%s: %s: another process has it, by its own node or by that of its IOMMU group"
              .formatted(what, LinuxErrno.describe(answer)));
    }
    KernelErrors.checked(answer, what);
  }

  private void attach(IoasSpace space) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment request = arena.allocate(VfioAbi.AttachIommufdPt.SIZE, Integer.BYTES);
      request.set(JAVA_INT, VfioAbi.ARGSZ, VfioAbi.AttachIommufdPt.SIZE);
      request.set(JAVA_INT, VfioAbi.AttachIommufdPt.PT_ID, space.ioas());
      int answer = device.ioctl(VfioAbi.DEVICE_ATTACH_IOMMUFD_PT, request);
      String what = "the function cannot be put into an I/O address space";
      if (LinuxErrno.EPERM.is(answer)) {
        throw KernelErrors.of(
            what,
            answer,
            "where the platform does not remap interrupts, root must allow it: echo 1 >"
                + " /sys/module/iommufd/parameters/allow_unsafe_interrupts");
      }
      KernelErrors.checked(answer, what);
    }
  }

  private void detach() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment request = arena.allocate(VfioAbi.DetachIommufdPt.SIZE, Integer.BYTES);
      request.set(JAVA_INT, VfioAbi.ARGSZ, VfioAbi.DetachIommufdPt.SIZE);
      int _ = device.ioctl(VfioAbi.DEVICE_DETACH_IOMMUFD_PT, request);
    }
  }

  DeviceFile device() {
    return device;
  }

  AddressSpace addresses() {
    return addresses;
  }

  /** The IOMMU group through which it was opened; empty where no descriptor of one is held. */
  Optional<GroupFile> group() {
    return Optional.ofNullable(group);
  }

  /** Releases the function itself. Mappings in the address space stay until close. */
  void leave() {
    synchronized (system) {
      leaving.close();
    }
  }

  /** Releases everything; closing twice does nothing. */
  @Override
  public void close() {
    synchronized (system) {
      leaving.close();
      undo.close();
    }
  }
}

package org.hghca.vfio.kernel;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;
import org.hghca.vfio.dma.AddressSpace;

/** An I/O address space (IOAS) of {@code /dev/iommu}. */
final class IoasSpace extends SharedSpace {
  private final KernelSystem system;
  private final int iommufd;
  private final int ioas;

  private IoasSpace(KernelSystem system, Optional<String> name, int iommufd, int ioas) {
    super(system, name);
    this.system = system;
    this.iommufd = iommufd;
    this.ioas = ioas;
  }

  /** The space that a locator names, or a new one; its user count is incremented. */
  static IoasSpace of(KernelSystem system, KernelOptions options) {
    Optional<String> name = options.container();
    SharedSpace known = name.map(system.spaces()::get).orElse(null);
    if (known != null && !(known instanceof IoasSpace)) {
      throw new VfioException(
          Reason.INVALID,
          "the container '%s' belongs to IOMMU groups, but this function is opened through iommufd"
              .formatted(name.get()));
    }
    IoasSpace space = known == null ? open(system, options) : (IoasSpace) known;
    space.use();
    return space;
  }

  private static IoasSpace open(KernelSystem system, KernelOptions options) {
    int iommufd =
        options.iommufd().isPresent()
            ? system.duplicate(options.iommufd().getAsInt(), Vfio.IOMMUFD_NODE)
            : system.open(system.machine().file(Vfio.IOMMUFD_NODE));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment request = arena.allocate(IommufdAbi.IoasAlloc.BYTES, Integer.BYTES);
      request.set(JAVA_INT, IommufdAbi.SIZE, IommufdAbi.IoasAlloc.BYTES);
      KernelErrors.checked(
          system.calls().ioctl(iommufd, IommufdAbi.IOAS_ALLOC, request),
          "%s gives no address space".formatted(Vfio.IOMMUFD_NODE));
      int ioas = request.get(JAVA_INT, IommufdAbi.IoasAlloc.OUT_IOAS_ID);
      return new IoasSpace(system, options.container(), iommufd, ioas);
    } catch (RuntimeException e) {
      system.close(iommufd);
      throw e;
    }
  }

  int iommufd() {
    return iommufd;
  }

  int ioas() {
    return ioas;
  }

  /** The addresses, after a function was attached. */
  AddressSpace join(MapFailure failure) {
    return addresses(new IommufdBackend(system.calls(), iommufd, ioas, failure));
  }

  @Override
  void end() {
    SystemCalls calls = system.calls();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment request = arena.allocate(IommufdAbi.Destroy.BYTES, Integer.BYTES);
      request.set(JAVA_INT, IommufdAbi.SIZE, IommufdAbi.Destroy.BYTES);
      request.set(JAVA_INT, IommufdAbi.Destroy.ID, ioas);
      // The descriptor may also belong to another process: our part of it is released on close.
      int _ = calls.ioctl(iommufd, IommufdAbi.DESTROY, request);
    } finally {
      system.close(iommufd);
    }
  }
}

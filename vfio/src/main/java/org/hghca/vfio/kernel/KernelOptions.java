package org.hghca.vfio.kernel;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.hghca.vfio.Locator;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/**
 * The options in the locator of a kernel function.
 *
 * @param mode what {@link IommuMode#choose} reads: {@code auto}, or the word of the mode to use
 * @param bind whether to bind the function to vfio-pci first, and to return it to its driver at the
 *     end
 * @param container the name of the I/O address space that it shares
 * @param descriptor of the function, opened by a process with more privileges
 * @param containerDescriptor of a container that has the IOMMU of the function's group
 * @param iommufd of {@code /dev/iommu}
 * @param interrupts {@code auto}, or the one kind of interrupt to use
 */
record KernelOptions(
    String mode,
    boolean bind,
    Optional<String> container,
    OptionalInt descriptor,
    OptionalInt containerDescriptor,
    OptionalInt iommufd,
    String interrupts) {
  private static final String BIND = "bind";
  private static final String CONTAINER = "container";
  private static final String DESCRIPTOR = "fd";
  private static final String IOMMUFD = "iommufd";
  private static final String INTERRUPTS = "interrupts";
  private static final String CONTAINER_DESCRIPTOR = "fd:";

  private static final List<String> PARAMETERS =
      List.of(IommuMode.PARAMETER, BIND, CONTAINER, DESCRIPTOR, IOMMUFD, INTERRUPTS);

  /**
   * Reads a locator.
   *
   * @throws VfioException {@code INVALID} for a parameter that is unknown, malformed, or conflicts
   *     with another
   */
  static KernelOptions of(Locator locator) {
    locator.checkParameters(PARAMETERS);
    String mode = locator.parameter(IommuMode.PARAMETER).orElse(IommuMode.AUTO);
    boolean bind = value(locator, BIND, "false", "true").equals("true");
    Optional<String> container = locator.parameter(CONTAINER);
    OptionalInt containerDescriptor =
        container
            .filter(text -> text.startsWith(CONTAINER_DESCRIPTOR))
            .map(text -> text.substring(CONTAINER_DESCRIPTOR.length()))
            .map(text -> OptionalInt.of(descriptor(locator, CONTAINER, text)))
            .orElse(OptionalInt.empty());
    OptionalInt descriptor = descriptor(locator, DESCRIPTOR);
    OptionalInt iommufd = descriptor(locator, IOMMUFD);
    String interrupts = value(locator, INTERRUPTS, "auto", "msix", "msi", "intx", "none");
    KernelOptions options =
        new KernelOptions(
            mode, bind, container, descriptor, containerDescriptor, iommufd, interrupts);
    options.checkDescriptors(locator);
    return options;
  }

  private void checkDescriptors(Locator locator) {
    boolean both = containerDescriptor.isPresent() && iommufd.isPresent();
    boolean alone =
        descriptor.isPresent() != (containerDescriptor.isPresent() || iommufd.isPresent());
    if (both || alone) {
      throw new VfioException(
          Reason.INVALID,
          ("locator '%s': open descriptors come in pairs: fd=N of the function with iommufd=M of"
                  + " /dev/iommu, or with container=fd:M of a container that has its IOMMU")
              .formatted(locator));
    }
    if (descriptor.isPresent() && (bind || !mode.equals(IommuMode.AUTO))) {
      throw new VfioException(
          Reason.INVALID,
          ("locator '%s': a function with an open descriptor is already bound and has a mode: leave"
                  + " bind= and iommu= out")
              .formatted(locator));
    }
  }

  private static OptionalInt descriptor(Locator locator, String key) {
    return locator
        .parameter(key)
        .map(text -> OptionalInt.of(descriptor(locator, key, text)))
        .orElse(OptionalInt.empty());
  }

  private static int descriptor(Locator locator, String key, String text) {
    if (!text.matches("\\d{1,9}")) {
      throw new VfioException(
          Reason.INVALID,
          "locator '%s': %s: '%s' is not the number of an open file".formatted(locator, key, text));
    }
    return Integer.parseInt(text);
  }

  private static String value(Locator locator, String key, String absent, String... others) {
    String value = locator.parameter(key).orElse(absent);
    if (!value.equals(absent) && !List.of(others).contains(value)) {
      throw new VfioException(
          Reason.INVALID,
          "locator '%s': %s=%s is unknown; known are %s, %s"
              .formatted(locator, key, value, absent, String.join(", ", others)));
    }
    return value;
  }
}

package org.hghca.vfio.kernel;

import java.util.Optional;
import org.hghca.vfio.dma.AddressSpace;
import org.hghca.vfio.dma.DmaBackend;
import org.hghca.vfio.dma.DmaSpace;

/**
 * An I/O address space for one or several functions of this process. Guarded by the {@link
 * KernelSystem}.
 */
abstract class SharedSpace {
  private final KernelSystem system;
  private final Optional<String> name;
  private int users;
  private DmaSpace books;
  private AddressSpace addresses;

  /**
   * A space without users.
   *
   * @param name by which others find it; empty when it is not shared
   */
  SharedSpace(KernelSystem system, Optional<String> name) {
    this.system = system;
    this.name = name;
    name.ifPresent(key -> system.spaces().put(key, this));
  }

  final Optional<String> name() {
    return name;
  }

  /** One more user. */
  final void use() {
    users++;
  }

  /** Decrements the user count; the last user closes the space. */
  final void release() {
    users--;
    if (users == 0) {
      name.ifPresent(system.spaces()::remove);
      end();
    }
  }

  /** Closes the parts of the space. */
  abstract void end();

  /**
   * The addresses, after a function was put into the space. The function may have excluded some;
   * the kernel has checked that none of them was in use.
   *
   * @param table of the space
   */
  final AddressSpace addresses(DmaBackend table) {
    if (books == null) {
      books = new DmaSpace(table);
      addresses = books;
    } else {
      books.refresh();
    }
    return addresses;
  }

  /** The addresses of a space without a table. */
  final AddressSpace addresses(AddressSpace physical) {
    if (addresses == null) {
      addresses = physical;
    }
    return addresses;
  }
}

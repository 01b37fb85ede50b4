package org.hghca.provider.object;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.hghca.provider.Failures;
import org.hghca.provider.Resource;
import org.hghca.provider.Undo;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.Completions;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.vfio.memory.BufferPool;

/**
 * A protection domain of any driver: memory that the driver allocates, and ways back to senders.
 */
public abstract class AbstractProtectionDomain extends Resource implements ProtectionDomain {
  private final AbstractContext context;
  private final Set<AccessFlag> unsupported;

  /**
   * A domain without objects.
   *
   * @param unsupported rights that no memory of the device can have
   */
  protected AbstractProtectionDomain(AbstractContext context, Set<AccessFlag> unsupported) {
    super(context);
    this.context = context;
    this.unsupported = unsupported;
  }

  @Override
  public AbstractContext context() {
    return context;
  }

  /** Its number on the device. */
  public abstract int number();

  /** Registers memory of the pool, which belongs to the region from here on if this succeeds. */
  protected abstract MemoryRegion register(BufferPool.Buffer buffer, Set<AccessFlag> access);

  /** The exception of a verb for a failure of a lower layer. */
  protected RuntimeException failed(String what, RuntimeException e) {
    return Failures.of(what, e);
  }

  @Override
  public final String describe() {
    return "PD 0x%x".formatted(number());
  }

  /** Checks that it is open, and that its device works. */
  protected final void checkAlive() {
    checkOpen();
    context.health().check();
  }

  /** Checks that memory with some rights can be registered in this domain now. */
  public final void check(Set<AccessFlag> access) {
    checkAlive();
    RegionMemory.check(access, unsupported);
  }

  @Override
  public final void closeWithContents() {
    closeWithUsers();
  }

  @Override
  public final MemoryRegion allocate(long bytes, Set<AccessFlag> access) {
    check(access);
    try (Undo undo = new Undo()) {
      BufferPool.Buffer buffer = context.shared().buffers().allocate(bytes);
      undo.add(buffer::close);
      MemoryRegion region = register(buffer, access);
      undo.forget();
      return region;
    } catch (RuntimeException e) {
      throw failed("cannot allocate memory", e);
    }
  }

  @Override
  public final AddressHandle createAddressHandle(
      Completions completions, int index, MemorySegment grh, int port) {
    checkOpen();
    return createAddressHandle(context.port().wayBack(completions, index, grh, port));
  }
}

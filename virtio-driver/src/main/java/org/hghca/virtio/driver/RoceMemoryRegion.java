package org.hghca.virtio.driver;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Set;
import org.hghca.provider.Undo;
import org.hghca.provider.object.AbstractMemoryRegion;
import org.hghca.provider.object.RegionMemory;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.Errno;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.Reregistration;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.memory.BufferPool;
import org.hghca.virtio.abi.roce.MrAccess;
import org.hghca.virtio.abi.roce.MrKeys;
import org.hghca.virtio.abi.roce.RegisterUserMr;
import org.hghca.virtio.abi.roce.RoceCommand;

/** Registered memory of an application: a list of pages that the device copies. */
final class RoceMemoryRegion extends AbstractMemoryRegion {
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** The rights that the device knows: the same bits. */
  private static final int DEVICE_BITS =
      MrAccess.LOCAL_WRITE | MrAccess.REMOTE_WRITE | MrAccess.REMOTE_READ;

  private final RoceProtectionDomain pd;
  private final MemorySegment memory;
  private final Set<AccessFlag> access;
  private final RegionMemory source;
  private final DmaMapping mapping;
  private final int number;
  private final int lkey;
  private final int rkey;

  /** Registers memory of the application. */
  RoceMemoryRegion(RoceProtectionDomain pd, MemorySegment memory, Set<AccessFlag> access) {
    this(pd, memory, access, RegionMemory.ofApplication(pd.device().function()));
  }

  /** Registers a buffer, which the region owns unless this throws. */
  RoceMemoryRegion(RoceProtectionDomain pd, BufferPool.Buffer buffer, Set<AccessFlag> access) {
    this(pd, buffer.segment(), access, RegionMemory.of(pd.device().function(), buffer));
  }

  private RoceMemoryRegion(
      RoceProtectionDomain pd, MemorySegment memory, Set<AccessFlag> access, RegionMemory source) {
    super(pd);
    this.pd = pd;
    this.memory = memory;
    this.access = Set.copyOf(access);
    this.source = source;
    try (Undo undo = new Undo()) {
      undo.add(this::abandon);
      pd.check(access);
      RegionMemory.check(memory, access);
      this.mapping = source.map(memory, dmaAccess(access));
      undo.add(mapping::close);
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment keys = arena.allocate(MrKeys.SIZE);
        pd.device()
            .commands()
            .give(
                RoceCommand.REG_USER_MR,
                registration(arena),
                keys,
                Errno.ENOMEM,
                "%d bytes at 0x%x".formatted(length(), address()));
        this.number = MrKeys.MRN.get(keys, 0);
        this.lkey = MrKeys.LKEY.get(keys, 0);
        this.rkey = MrKeys.RKEY.get(keys, 0);
      }
      finish();
      undo.forget();
    } catch (RuntimeException e) {
      throw Refusals.of("cannot register %d bytes".formatted(memory.byteSize()), e);
    }
  }

  /** The first byte is that of the first page at the offset of the address in its page. */
  private MemorySegment registration(Arena arena) {
    long pages = RegisterUserMr.pages(address(), length());
    MemorySegment data = arena.allocate(RegisterUserMr.page(pages));
    RegisterUserMr.PDN.set(data, 0, pd.number());
    RegisterUserMr.ACCESS_FLAGS.set(data, 0, AccessFlag.bits(access) & DEVICE_BITS);
    RegisterUserMr.VIRT_ADDR.setLong(data, 0, address());
    RegisterUserMr.LENGTH.setLong(data, 0, length());
    RegisterUserMr.NPAGES.setLong(data, 0, pages);
    long inPage = address() & RegisterUserMr.PAGE_SIZE - 1;
    data.set(LONG, RegisterUserMr.page(0), mapping.iova(0) - inPage);
    for (long page = 1; page < pages; page++) {
      long address = mapping.iova(page * RegisterUserMr.PAGE_SIZE - inPage);
      data.set(LONG, RegisterUserMr.page(page), address);
    }
    return data;
  }

  @Override
  public ProtectionDomain protectionDomain() {
    return pd;
  }

  @Override
  public MemorySegment segment() {
    return memory;
  }

  @Override
  public int lkey() {
    return lkey;
  }

  @Override
  public int rkey() {
    return rkey;
  }

  @Override
  public Set<AccessFlag> access() {
    return access;
  }

  @Override
  public void reregister(Reregistration changes) {
    checkOpen();
    throw new VerbsException(
        Errno.EOPNOTSUPP,
        "%s cannot be registered again, since the device keeps no keys: register another region"
            .formatted(describe()));
  }

  @Override
  protected void prepareRelease() {
    source.end(describe());
  }

  @Override
  protected void deregister() {
    pd.device()
        .deferredFree()
        .retire(
            describe(),
            () ->
                pd.device()
                    .commands()
                    .destroy(RoceCommand.DEREG_MR, number, "the end of " + describe()),
            () -> {
              mapping.close();
              source.free();
            },
            () -> {});
  }
}

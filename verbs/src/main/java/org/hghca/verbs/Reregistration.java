package org.hghca.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * The changes of a memory region: the flags and arguments of {@code ibv_rereg_mr}. Immutable; each
 * call returns a changed copy, so several changes make one re-registration.
 */
public final class Reregistration {
  /** Nothing to change, which {@link MemoryRegion#reregister} refuses. */
  public static final Reregistration NONE = new Reregistration(null, null, null);

  private final MemorySegment memory;
  private final ProtectionDomain protectionDomain;
  private final Set<AccessFlag> access;

  /** Null means unchanged. */
  private Reregistration(
      MemorySegment memory, ProtectionDomain protectionDomain, Set<AccessFlag> access) {
    this.memory = memory;
    this.protectionDomain = protectionDomain;
    this.access = access;
  }

  /** Changes the memory. */
  public static Reregistration to(MemorySegment memory) {
    return NONE.and(memory);
  }

  /** Changes the domain. */
  public static Reregistration to(ProtectionDomain domain) {
    return NONE.and(domain);
  }

  /** Changes the rights. */
  public static Reregistration to(AccessFlag... access) {
    return NONE.and(access);
  }

  public Reregistration and(MemorySegment changed) {
    return new Reregistration(Objects.requireNonNull(changed), protectionDomain, access);
  }

  public Reregistration and(ProtectionDomain changed) {
    return new Reregistration(memory, Objects.requireNonNull(changed), access);
  }

  public Reregistration and(AccessFlag... changed) {
    return new Reregistration(memory, protectionDomain, Set.copyOf(AccessFlag.setOf(changed)));
  }

  /** Other memory ({@code IBV_REREG_MR_CHANGE_TRANSLATION}). */
  public Optional<MemorySegment> memory() {
    return Optional.ofNullable(memory);
  }

  /** Another domain ({@code IBV_REREG_MR_CHANGE_PD}). */
  public Optional<ProtectionDomain> protectionDomain() {
    return Optional.ofNullable(protectionDomain);
  }

  /** Other rights ({@code IBV_REREG_MR_CHANGE_ACCESS}). */
  public Optional<Set<AccessFlag>> access() {
    return Optional.ofNullable(access);
  }

  @Override
  public String toString() {
    return "change memory to %s, domain to %s, access to %s"
        .formatted(
            memory == null ? "-" : memory,
            protectionDomain == null ? "-" : protectionDomain,
            access == null ? "-" : access);
  }
}

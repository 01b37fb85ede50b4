package org.hghca.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * What is to change of a memory region: the flags and arguments of {@code ibv_rereg_mr}. Immutable;
 * each call answers a changed copy, so that several changes make one re-registration.
 *
 * @param memory other memory ({@code IBV_REREG_MR_CHANGE_TRANSLATION})
 * @param protectionDomain another domain ({@code IBV_REREG_MR_CHANGE_PD})
 * @param access other rights ({@code IBV_REREG_MR_CHANGE_ACCESS})
 */
public record Reregistration(
    Optional<MemorySegment> memory,
    Optional<ProtectionDomain> protectionDomain,
    Optional<Set<AccessFlag>> access) {

  private static final Reregistration NOTHING =
      new Reregistration(Optional.empty(), Optional.empty(), Optional.empty());

  public Reregistration {
    Objects.requireNonNull(memory);
    Objects.requireNonNull(protectionDomain);
    access = access.map(Set::copyOf);
  }

  /** Changes the memory. */
  public static Reregistration to(MemorySegment memory) {
    return NOTHING.and(memory);
  }

  /** Changes the domain. */
  public static Reregistration to(ProtectionDomain domain) {
    return NOTHING.and(domain);
  }

  /** Changes the rights. */
  public static Reregistration to(AccessFlag... access) {
    return NOTHING.and(access);
  }

  public Reregistration and(MemorySegment changed) {
    return new Reregistration(Optional.of(changed), protectionDomain, access);
  }

  public Reregistration and(ProtectionDomain changed) {
    return new Reregistration(memory, Optional.of(changed), access);
  }

  public Reregistration and(AccessFlag... changed) {
    return new Reregistration(memory, protectionDomain, Optional.of(AccessFlag.setOf(changed)));
  }
}

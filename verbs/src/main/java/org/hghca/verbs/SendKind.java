package org.hghca.verbs;

/**
 * Bits of what a send request asks for, beside its opcode: see {@link
 * org.hghca.verbs.spi.ProviderAccess#kind}.
 */
public final class SendKind {
  public static final int FENCED = 1 << 3;
  public static final int SIGNALED = 1 << 4;
  public static final int SOLICITED = 1 << 5;
  public static final int INLINE = 1 << 6;

  /** All kinds are below this, a power of two. */
  public static final int KINDS = 1 << 7;

  private SendKind() {}
}

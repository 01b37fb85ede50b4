package org.hghca.verbs;

/** The error numbers that verbs report, with Linux's values. */
public enum Errno {
  EIO(5),
  EAGAIN(11),
  ENOMEM(12),
  EACCES(13),
  EFAULT(14),
  EBUSY(16),
  ENODEV(19),
  EINVAL(22),
  ENODATA(61),
  EOPNOTSUPP(95),
  EADDRINUSE(98),
  EADDRNOTAVAIL(99),
  ENETUNREACH(101),
  ECONNRESET(104),
  ETIMEDOUT(110),
  ECONNREFUSED(111),
  EHOSTUNREACH(113);

  private final int number;

  Errno(int number) {
    this.number = number;
  }

  public int number() {
    return number;
  }

  /** Name and number, as in {@code EINVAL (22)}. */
  @Override
  public String toString() {
    return "%s (%d)".formatted(name(), number);
  }
}

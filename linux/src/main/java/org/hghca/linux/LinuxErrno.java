package org.hghca.linux;

/** Error numbers of Linux on x86-64, with their meaning (asm-generic/errno.h). */
public enum LinuxErrno {
  EPERM(1, "operation not permitted"),
  ENOENT(2, "no such file"),
  EINTR(4, "interrupted"),
  EIO(5, "input/output error"),
  ENXIO(6, "no such device or address"),
  EBADF(9, "bad file descriptor"),
  EAGAIN(11, "try again"),
  ENOMEM(12, "out of memory, or over a limit"),
  EACCES(13, "permission denied"),
  EFAULT(14, "bad address"),
  EBUSY(16, "busy"),
  EEXIST(17, "exists already"),
  ENODEV(19, "no such device"),
  EINVAL(22, "invalid argument"),
  ENFILE(23, "too many open files of all processes"),
  EMFILE(24, "too many open files"),
  ENOTTY(25, "no such ioctl"),
  ENOSPC(28, "no space left"),
  EPIPE(32, "broken pipe"),
  ERANGE(34, "out of range"),
  ENOSYS(38, "no such system call"),
  EOVERFLOW(75, "value too large"),
  EMSGSIZE(90, "message too long"),
  EOPNOTSUPP(95, "not supported"),
  EADDRINUSE(98, "address in use"),
  EADDRNOTAVAIL(99, "no such address here"),
  ENETDOWN(100, "network is down"),
  ENETUNREACH(101, "network unreachable"),
  ECONNABORTED(103, "connection aborted"),
  ECONNRESET(104, "connection reset"),
  ENOBUFS(105, "no buffer space"),
  EISCONN(106, "connected already"),
  ETIMEDOUT(110, "timed out"),
  ECONNREFUSED(111, "connection refused"),
  EHOSTUNREACH(113, "no route to the host"),
  EALREADY(114, "in progress already"),
  EINPROGRESS(115, "in progress");

  private final int number;
  private final String meaning;

  LinuxErrno(int number, String meaning) {
    this.number = number;
    this.meaning = meaning;
  }

  public int number() {
    return number;
  }

  /** Whether the result of a system call is this error. */
  public boolean is(long answer) {
    return answer == -number;
  }

  /** The negative result of a system call in words, such as {@code EBUSY (16), busy}. */
  public static String describe(long answer) {
    for (LinuxErrno errno : values()) {
      if (errno.is(answer)) {
        return "%s (%d), %s".formatted(errno, errno.number, errno.meaning);
      }
    }
    return "error " + -answer;
  }
}

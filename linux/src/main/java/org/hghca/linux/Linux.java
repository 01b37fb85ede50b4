package org.hghca.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import jnr.ffi.LibraryLoader;
import jnr.ffi.Runtime;
import jnr.posix.POSIX;
import jnr.posix.POSIXFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Linux itself, through jnr-ffi, and through jnr-posix for process functions. */
public final class Linux implements SystemCalls {
  /** System calls that the C library has no function for, by their numbers on x86-64. */
  private static final int SCHED_SETATTR = 314;

  private static final int SCHED_GETATTR = 315;

  private static SystemCalls system;

  private final Libc libc;
  private final Runtime runtime;

  private Linux() {
    libc = LibraryLoader.create(Libc.class).load("c");
    runtime = Runtime.getRuntime(libc);
  }

  private static SystemCalls traced(SystemCalls calls) {
    Logger log = LoggerFactory.getLogger(SystemCalls.class);
    return log.isTraceEnabled() ? CallTrace.of(calls, log::trace) : calls;
  }

  /**
   * The calls of this system; binding them on first use takes a few hundred milliseconds. Each is
   * logged, one per line, when the log of {@link SystemCalls} is at level TRACE by then.
   *
   * @throws NativeAccessException when the JVM allows no native code, naming the option that it
   *     lacks, or jnr-ffi cannot bind the C library
   */
  public static synchronized SystemCalls system() {
    if (system == null) {
      NativeAccess.check();
      try {
        system = traced(new Linux());
      } catch (RuntimeException | LinkageError e) {
        throw NativeAccess.unbound(e);
      }
    }
    return system;
  }

  /** Separate, because only a diagnosis needs it. */
  private static final class PosixHolder {
    static final POSIX SYSTEM = POSIXFactory.getNativePOSIX();
  }

  private int answer(int result) {
    return result == -1 ? -runtime.getLastError() : result;
  }

  private long answer(long result) {
    return result == -1 ? -runtime.getLastError() : result;
  }

  @Override
  public int open(String path, int flags) {
    return answer(libc.open(path, flags));
  }

  @Override
  public int close(int descriptor) {
    return answer(libc.close(descriptor));
  }

  @Override
  public int ioctl(int descriptor, int request, long argument) {
    return answer(libc.ioctl(descriptor, Integer.toUnsignedLong(request), argument));
  }

  @Override
  public int ioctl(int descriptor, int request, MemorySegment structure) {
    return ioctl(descriptor, request, structure.address());
  }

  @Override
  public long mmap(long length, int protection, int flags, int descriptor, long offset) {
    return answer(libc.mmap(0, length, protection, flags, descriptor, offset));
  }

  @Override
  public long mmapInPlace(long address, long length, int protection) {
    return answer(libc.mmap(address, length, protection, IN_PLACE, -1, 0));
  }

  @Override
  public long mmapFileInPlace(long address, long length, int protection, int descriptor) {
    return answer(libc.mmap(address, length, protection, SHARED_IN_PLACE, descriptor, 0));
  }

  @Override
  public int munmap(long address, long length) {
    return answer(libc.munmap(address, length));
  }

  @Override
  public int madvise(long address, long length, int advice) {
    return answer(libc.madvise(address, length, advice));
  }

  @Override
  public int mlock(long address, long length) {
    return answer(libc.mlock(address, length));
  }

  @Override
  public long pread(int descriptor, MemorySegment buffer, long offset) {
    return answer(libc.pread(descriptor, buffer.address(), buffer.byteSize(), offset));
  }

  @Override
  public long pwrite(int descriptor, MemorySegment buffer, long offset) {
    return answer(libc.pwrite(descriptor, buffer.address(), buffer.byteSize(), offset));
  }

  @Override
  public long read(int descriptor, MemorySegment buffer) {
    return answer(libc.read(descriptor, buffer.address(), buffer.byteSize()));
  }

  @Override
  public long write(int descriptor, MemorySegment buffer) {
    return answer(libc.write(descriptor, buffer.address(), buffer.byteSize()));
  }

  @Override
  public long write(int descriptor, MemorySegment buffer, long offset, long length) {
    Objects.checkFromIndexSize(offset, length, buffer.byteSize());
    return answer(libc.write(descriptor, buffer.address() + offset, length));
  }

  @Override
  public int eventfd(int value, int flags) {
    return answer(libc.eventfd(value, flags));
  }

  @Override
  public int epollCreate(int flags) {
    return answer(libc.epoll_create1(flags));
  }

  @Override
  public int epollControl(int epoll, int operation, int descriptor, MemorySegment event) {
    return answer(libc.epoll_ctl(epoll, operation, descriptor, event.address()));
  }

  @Override
  public int epollWait(int epoll, MemorySegment events, int timeoutMillis) {
    return answer(
        libc.epoll_wait(epoll, events.address(), (int) (events.byteSize() / 12), timeoutMillis));
  }

  @Override
  public int poll(MemorySegment descriptors, int timeoutMillis) {
    return answer(libc.poll(descriptors.address(), descriptors.byteSize() / 8, timeoutMillis));
  }

  @Override
  public int memfdCreate(String name, int flags) {
    return answer(libc.memfd_create(name, flags));
  }

  @Override
  public int ftruncate(int descriptor, long length) {
    return answer(libc.ftruncate(descriptor, length));
  }

  @Override
  public int fchmod(int descriptor, int mode) {
    return answer(libc.fchmod(descriptor, mode));
  }

  @Override
  public int fallocate(int descriptor, int mode, long offset, long length) {
    return answer(libc.fallocate(descriptor, mode, offset, length));
  }

  @Override
  public long lseek(int descriptor, long offset, int whence) {
    return answer(libc.lseek(descriptor, offset, whence));
  }

  @Override
  public int fcntl(int descriptor, int command, int argument) {
    return answer(libc.fcntl(descriptor, command, argument));
  }

  @Override
  public int socket(int domain, int type, int protocol) {
    return answer(libc.socket(domain, type, protocol));
  }

  @Override
  public int bind(int socket, MemorySegment address) {
    return answer(libc.bind(socket, address.address(), (int) address.byteSize()));
  }

  @Override
  public int listen(int socket, int backlog) {
    return answer(libc.listen(socket, backlog));
  }

  @Override
  public int accept(int socket, int flags) {
    return answer(libc.accept4(socket, 0, 0, flags));
  }

  @Override
  public int connect(int socket, MemorySegment address) {
    return answer(libc.connect(socket, address.address(), (int) address.byteSize()));
  }

  @Override
  public int shutdown(int socket, int how) {
    return answer(libc.shutdown(socket, how));
  }

  @Override
  public long sendmsg(int socket, MemorySegment message, int flags) {
    return answer(libc.sendmsg(socket, message.address(), flags));
  }

  @Override
  public long recvmsg(int socket, MemorySegment message, int flags) {
    return answer(libc.recvmsg(socket, message.address(), flags));
  }

  @Override
  public int sendmmsg(int socket, MemorySegment messages, int count, int flags) {
    return answer(libc.sendmmsg(socket, messages.address(), count, flags));
  }

  @Override
  public int recvmmsg(int socket, MemorySegment messages, int flags) {
    return answer(
        libc.recvmmsg(socket, messages.address(), (int) (messages.byteSize() / 64), flags, 0));
  }

  @Override
  public int setsockopt(int socket, int level, int option, MemorySegment value) {
    return answer(libc.setsockopt(socket, level, option, value.address(), (int) value.byteSize()));
  }

  @Override
  public int getsockopt(int socket, int level, int option, MemorySegment value) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment length = length(arena, value);
      int result = libc.getsockopt(socket, level, option, value.address(), length.address());
      return result == -1 ? answer(result) : length.get(ValueLayout.JAVA_INT, 0);
    }
  }

  @Override
  public int getsockname(int socket, MemorySegment address) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment length = length(arena, address);
      int result = libc.getsockname(socket, address.address(), length.address());
      return result == -1 ? answer(result) : length.get(ValueLayout.JAVA_INT, 0);
    }
  }

  private static MemorySegment length(Arena arena, MemorySegment of) {
    return arena.allocateFrom(ValueLayout.JAVA_INT, (int) of.byteSize());
  }

  @Override
  public int schedulingAttributes(MemorySegment attributes) {
    int size = (int) attributes.byteSize();
    return (int) answer(libc.syscall(SCHED_GETATTR, 0, attributes.address(), size, 0));
  }

  @Override
  public int setSchedulingAttributes(MemorySegment attributes) {
    return (int) answer(libc.syscall(SCHED_SETATTR, 0, attributes.address(), 0, 0));
  }

  @Override
  public int geteuid() {
    return PosixHolder.SYSTEM.geteuid();
  }
}

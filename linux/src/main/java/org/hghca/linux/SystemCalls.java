package org.hghca.linux;

import java.lang.foreign.MemorySegment;

/**
 * What the backends ask of Linux, one method per system call, with its arguments. A method returns
 * the kernel's result: a value, or the negative {@link LinuxErrno error number}. Structures are
 * native memory that the caller lays out. Thread-safe.
 */
public interface SystemCalls {
  int open(String path, int flags);

  int close(int descriptor);

  /** {@code ioctl} whose argument is a number. */
  int ioctl(int descriptor, int request, long argument);

  /** {@code ioctl} whose argument points at a structure. */
  int ioctl(int descriptor, int request, MemorySegment structure);

  /**
   * Maps at an address that the kernel chooses.
   *
   * @return the address
   */
  long mmap(long length, int protection, int flags, int descriptor, long offset);

  /** MAP_PRIVATE, MAP_FIXED, MAP_ANONYMOUS and MAP_NORESERVE (asm-generic/mman-common.h). */
  int IN_PLACE = 0x2 | 0x10 | 0x20 | 0x4000;

  /**
   * {@code mmap} with {@link #IN_PLACE}: in one step, private memory of zeros takes the place of
   * what is mapped at an address.
   *
   * @param address of whole pages, which the caller owns
   * @return the address
   */
  long mmapInPlace(long address, long length, int protection);

  /** MAP_SHARED and MAP_FIXED (asm-generic/mman-common.h). */
  int SHARED_IN_PLACE = 0x1 | 0x10;

  /**
   * {@code mmap} with {@link #SHARED_IN_PLACE}: the beginning of a file takes the place of what is
   * mapped at an address.
   *
   * @param address of whole pages, which the caller owns
   * @return the address
   */
  long mmapFileInPlace(long address, long length, int protection, int descriptor);

  int munmap(long address, long length);

  /** {@link #madvise}: the pages are not needed any more (MADV_DONTNEED, asm-generic/mman.h). */
  int DONTNEED = 4;

  int madvise(long address, long length, int advice);

  int mlock(long address, long length);

  long pread(int descriptor, MemorySegment buffer, long offset);

  long pwrite(int descriptor, MemorySegment buffer, long offset);

  long read(int descriptor, MemorySegment buffer);

  long write(int descriptor, MemorySegment buffer);

  /**
   * Writes a part of a buffer, without a slice of it.
   *
   * @throws IndexOutOfBoundsException when it is not within the buffer
   */
  long write(int descriptor, MemorySegment buffer, long offset, long length);

  int eventfd(int value, int flags);

  int epollCreate(int flags);

  /**
   * {@code epoll_ctl}.
   *
   * @param event a {@code struct epoll_event} (12 bytes, packed)
   */
  int epollControl(int epoll, int operation, int descriptor, MemorySegment event);

  /**
   * {@code epoll_wait}.
   *
   * @param events an array of {@code struct epoll_event}, as many as may be reported at once
   */
  int epollWait(int epoll, MemorySegment events, int timeoutMillis);

  /**
   * {@code poll}.
   *
   * @param descriptors an array of {@code struct pollfd} (8 bytes each)
   */
  int poll(MemorySegment descriptors, int timeoutMillis);

  int memfdCreate(String name, int flags);

  int ftruncate(int descriptor, long length);

  /** {@code fchmod}: of a socket before {@code bind}, the mode that its file is made with. */
  int fchmod(int descriptor, int mode);

  int fallocate(int descriptor, int mode, long offset, long length);

  /** {@code lseek}, which tells the size of a file when it goes to its end. */
  long lseek(int descriptor, long offset, int whence);

  int fcntl(int descriptor, int command, int argument);

  int socket(int domain, int type, int protocol);

  int bind(int socket, MemorySegment address);

  int listen(int socket, int backlog);

  /** {@code accept4} that does not ask for the peer's address. */
  int accept(int socket, int flags);

  int connect(int socket, MemorySegment address);

  int shutdown(int socket, int how);

  /**
   * {@code sendmsg}.
   *
   * @param message a {@code struct msghdr} (56 bytes)
   */
  long sendmsg(int socket, MemorySegment message, int flags);

  /**
   * {@code recvmsg}.
   *
   * @param message a {@code struct msghdr} (56 bytes)
   */
  long recvmsg(int socket, MemorySegment message, int flags);

  /**
   * {@code sendmmsg}.
   *
   * @param messages an array of {@code struct mmsghdr} (64 bytes each), of which the first are sent
   * @return how many were sent; the error is that of the first message, where none was
   */
  int sendmmsg(int socket, MemorySegment messages, int count, int flags);

  /**
   * {@code recvmmsg} without a time limit.
   *
   * @param messages an array of {@code struct mmsghdr} (64 bytes each), as many as may be received
   * @return how many were received
   */
  int recvmmsg(int socket, MemorySegment messages, int flags);

  int setsockopt(int socket, int level, int option, MemorySegment value);

  /**
   * {@code getsockopt} of an option whose value has as many bytes as the segment, or fewer.
   *
   * @return how many bytes the value has
   */
  int getsockopt(int socket, int level, int option, MemorySegment value);

  /**
   * {@code getsockname}.
   *
   * @return how many bytes the address has; where it is more than the segment, the rest is cut off
   */
  int getsockname(int socket, MemorySegment address);

  /**
   * {@code sched_getattr} of the calling thread.
   *
   * @param attributes a {@code struct sched_attr} (48 bytes)
   */
  int schedulingAttributes(MemorySegment attributes);

  /** {@code sched_setattr} of the calling thread. */
  int setSchedulingAttributes(MemorySegment attributes);

  /** The effective user id. */
  int geteuid();
}

package org.hghca.linux;

import jnr.ffi.annotations.StdCall;

/**
 * The functions of the C library as jnr-ffi binds them: by their names, with pointers as 64-bit
 * numbers. Public because jnr generates its implementation in another package.
 */
public interface Libc {
  int open(CharSequence path, int flags);

  int close(int descriptor);

  int ioctl(int descriptor, long request, long argument);

  // On x86-64 this is the same convention as the default; but with six arguments, the stub that
  // jnr-ffi compiles for the default convention reads the sixth from a wrong place.
  @StdCall
  long mmap(long address, long length, int protection, int flags, int descriptor, long offset);

  int munmap(long address, long length);

  int madvise(long address, long length, int advice);

  int mlock(long address, long length);

  long pread(int descriptor, long buffer, long length, long offset);

  long pwrite(int descriptor, long buffer, long length, long offset);

  long read(int descriptor, long buffer, long length);

  long write(int descriptor, long buffer, long length);

  int eventfd(int value, int flags);

  int epoll_create1(int flags);

  int epoll_ctl(int epoll, int operation, int descriptor, long event);

  int epoll_wait(int epoll, long events, int maximum, int timeout);

  int poll(long descriptors, long count, int timeout);

  int memfd_create(CharSequence name, int flags);

  int ftruncate(int descriptor, long length);

  int fchmod(int descriptor, int mode);

  int fallocate(int descriptor, int mode, long offset, long length);

  long lseek(int descriptor, long offset, int whence);

  int fcntl(int descriptor, int command, long argument);

  int socket(int domain, int type, int protocol);

  int bind(int socket, long address, int length);

  int listen(int socket, int backlog);

  int accept4(int socket, long address, long length, int flags);

  int connect(int socket, long address, int length);

  int shutdown(int socket, int how);

  long sendmsg(int socket, long message, int flags);

  long recvmsg(int socket, long message, int flags);

  int sendmmsg(int socket, long messages, int count, int flags);

  int recvmmsg(int socket, long messages, int count, int flags, long timeout);

  int setsockopt(int socket, int level, int option, long value, int length);

  int getsockopt(int socket, int level, int option, long value, long length);

  int getsockname(int socket, long address, long length);

  long syscall(long number, int thread, long attributes, int sizeOrFlags, int flags);
}

/**
 * The system calls of Linux that the project makes, bound once, by way of jnr-ffi and jnr-posix;
 * and the C library's copy of memory.
 */
@SuppressWarnings("module") // those that it is exported to are not there when it is compiled
module org.hghca.linux {
  requires org.jnrproject.ffi;
  requires org.jnrproject.posix;
  requires org.objectweb.asm;
  requires org.slf4j;

  // For the modules of the project; the package is no public API.
  exports org.hghca.linux to
      org.hghca.model,
      org.hghca.provider,
      org.hghca.tools,
      org.hghca.vfio,
      org.hghca.wire;

  // jnr-ffi implements the interface of the C library in a class of its own.
  opens org.hghca.linux;
}

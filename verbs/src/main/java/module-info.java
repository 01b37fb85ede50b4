/**
 * RDMA verbs for Java: the counterpart of libibverbs. Knows no hardware; providers are found with
 * {@link java.util.ServiceLoader}.
 */
module org.hghca.verbs {
  exports org.hghca.verbs;
  exports org.hghca.verbs.spi;

  uses org.hghca.verbs.spi.RdmaProvider;
}

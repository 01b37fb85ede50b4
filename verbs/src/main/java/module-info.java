/**
 * RDMA verbs for Java: the counterpart of libibverbs. Independent of hardware; providers are found
 * with {@link java.util.ServiceLoader}.
 */
module org.hghca.verbs {
  exports org.hghca.verbs;
  exports org.hghca.verbs.spi;

  uses org.hghca.verbs.spi.MetricsSource;
  uses org.hghca.verbs.spi.RdmaProvider;
}

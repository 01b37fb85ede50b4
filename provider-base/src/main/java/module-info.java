/**
 * What any driver beneath the verbs needs: the provider of all PCI functions that drivers claim,
 * the tree of resources, events and channels, numbers, deferred freeing of memory. Independent of
 * any card; for drivers, not for programs.
 */
module org.hghca.provider {
  requires transitive org.hghca.verbs;
  requires transitive org.hghca.vfio;
  requires org.hghca.linux;
  requires org.hghca.log;
  requires org.slf4j;
  requires java.management;
  requires jdk.jfr;

  exports org.hghca.provider;
  exports org.hghca.provider.address;
  exports org.hghca.provider.counters;
  exports org.hghca.provider.event;
  exports org.hghca.provider.object;
  exports org.hghca.provider.queue;
  exports org.hghca.provider.snapshot;
  exports org.hghca.provider.srq;

  uses org.hghca.provider.DeviceDriver;

  provides org.hghca.verbs.spi.MetricsSource with
      org.hghca.provider.snapshot.OwnMetrics;
  provides org.hghca.verbs.spi.RdmaProvider with
      org.hghca.provider.FunctionProvider;
}

/**
 * What any provider of the verbs needs: the tree of resources, events and channels, numbers,
 * deferred freeing of memory. Independent of any card; for providers, not for programs.
 */
module org.hghca.provider {
  requires transitive org.hghca.verbs;
  requires transitive org.hghca.vfio;
  requires org.slf4j;
  requires java.management;
  requires jdk.jfr;

  exports org.hghca.provider;
  exports org.hghca.provider.srq;
}

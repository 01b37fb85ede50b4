/** The command line. */
module org.hghca.tools {
  requires com.fasterxml.jackson.jr.ob;
  requires info.picocli;
  requires HdrHistogram;
  requires org.hghca.abi;
  requires org.hghca.driver;
  requires org.hghca.icm;
  requires org.hghca.model;
  requires org.hghca.verbs;

  opens org.hghca.tools to
      info.picocli;
}

/** A program in a module of its own. */
module com.example.modulepath {
  requires org.hghca;
  requires org.hghca.model;
  requires org.hghca.vfio;
}

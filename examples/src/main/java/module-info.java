/** Programs to read, copy and run. A program of your own requires {@code org.hghca} as well. */
module org.hghca.examples {
  requires org.hghca;
}

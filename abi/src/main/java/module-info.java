/** The card's interface as definitions: layouts, bit ranges and codes. */
module org.hghca.abi {
  exports org.hghca.abi;
}

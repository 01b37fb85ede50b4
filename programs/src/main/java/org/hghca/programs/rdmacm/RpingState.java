package org.hghca.programs.rdmacm;

/** The states of an rping, with the numbers that it prints. */
enum RpingState {
  CONNECTED(5),
  RDMA_READ_ADV(6),
  RDMA_READ_COMPLETE(7),
  RDMA_WRITE_ADV(8),
  RDMA_WRITE_COMPLETE(9),
  DISCONNECTED(10),
  ERROR(11);

  private final int number;

  RpingState(int number) {
    this.number = number;
  }

  int number() {
    return number;
  }
}

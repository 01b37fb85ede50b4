package org.hghca.model;

/** Two software HCAs on one cable in virtual time, with a connected queue pair on each. */
final class Pair implements AutoCloseable {
  private static int count;

  final Simulation simulation;
  final Host left;
  final Host right;
  Host.Qp a;
  Host.Qp b;

  Pair() {
    String name = "pair" + count++;
    simulation = Simulation.inline(name);
    left = Host.open("model:left?cable=c&sim=" + name + "&mac=02:00:00:00:00:01").bringUp();
    right = Host.open("model:right?cable=c&sim=" + name + "&mac=02:00:00:00:00:02").bringUp();
    a = left.qp();
    b = right.qp();
  }

  Pair connect() {
    Host.connect(left, a, right, b);
    return this;
  }

  SoftwareHca leftHca() {
    return left.hca();
  }

  SoftwareHca rightHca() {
    return right.hca();
  }

  @Override
  public void close() {
    left.close();
    right.close();
    simulation.close();
  }
}

package org.hghca.sockets.stream;

/** Kinds of devices, whose streams must be the same. */
enum Card {
  /** With immediates, messages of no bytes, and the InfiniBand connection manager. */
  S("model", ""),

  /** As {@link #S}, in another driver. */
  VIRTIO("virtio", "&roce=rfc-v2"),

  /** Without immediates and messages of no bytes, connected by TCP. */
  R1("model", "&profile=r1"),

  /** As {@link #R1}, and checks no memory. */
  R2("model", "&profile=r2");

  private final String scheme;
  private final String parameters;

  Card(String scheme, String parameters) {
    this.scheme = scheme;
    this.parameters = parameters;
  }

  /** Two of them on a hub. */
  TwoStreamDevices open() {
    return isConnectedByTcp()
        ? TwoStreamDevices.onHub(scheme, "127.0.0.", parameters)
        : TwoStreamDevices.onHub(scheme, "10.0.0.", parameters);
  }

  /** Connections that are open at once, of which one completion queue does not hold all. */
  int mostOpen() {
    return this == VIRTIO ? 100 : 150;
  }

  /** Connections one after another: the numbers of queue pairs of an {@link #R2} come to an end. */
  int mostInAll() {
    return this == R2 ? 200 : 2000;
  }

  /** Whether the connection manager uses the host's TCP, and streams are sent as messages. */
  boolean isConnectedByTcp() {
    return this == R1 || this == R2;
  }
}

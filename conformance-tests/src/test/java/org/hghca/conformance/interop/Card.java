package org.hghca.conformance.interop;

import java.util.Optional;
import java.util.function.Function;
import org.hghca.model.ModelProvider;
import org.hghca.model.SoftwareHca;
import org.hghca.model.VirtioProvider;
import org.hghca.vfio.Locator;

/** A kind of software device. */
enum Card {
  HCA("software HCA", "model", 4200, ModelProvider::hca),

  /** A network card like any other: nobody answers to ARP for the addresses of its driver. */
  VIRTIO("virtio card", "virtio", 4188, VirtioProvider::card);

  private final String text;
  private final String scheme;
  private final int mtu;
  private final Function<Locator, Optional<SoftwareHca>> find;

  Card(String text, String scheme, int mtu, Function<Locator, Optional<SoftwareHca>> find) {
    this.text = text;
    this.scheme = scheme;
    this.mtu = mtu;
    this.find = find;
  }

  /**
   * The locator of one on the guest's network.
   *
   * @param parameters further ones
   */
  Locator locator(String parameters) {
    return Locator.parse(
        "%s:rxe?net=%s&ip=%s&mac=%s&mtu=%d%s"
            .formatted(
                scheme,
                System.getProperty("hghca.lab.rxe.net"),
                Bench.ADDRESS,
                Bench.MAC,
                mtu,
                parameters));
  }

  /** The open device of a locator. */
  Optional<SoftwareHca> find(Locator locator) {
    return find.apply(locator);
  }

  @Override
  public String toString() {
    return text;
  }
}

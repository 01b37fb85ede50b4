package org.hghca.wire.frame;

import java.lang.foreign.MemorySegment;

/** How packets are carried by Ethernet. */
public enum Encapsulation {
  /** RoCE v2, which all peers have in common. */
  ROCE_V2 {
    @Override
    public PacketEncoder encoder(MemorySegment memory) {
      return new FrameEncoder(memory);
    }

    @Override
    public PacketDecoder decoder(MemorySegment memory) {
      return new FrameDecoder(memory);
    }

    @Override
    public boolean findsNeighbors() {
      return true;
    }
  },

  /** What the makers' first RTL sends and accepts, see {@link RtlHeaders}. */
  FIRST_RTL {
    @Override
    public PacketEncoder encoder(MemorySegment memory) {
      return new RtlFrameEncoder(memory);
    }

    @Override
    public PacketDecoder decoder(MemorySegment memory) {
      return new RtlFrameDecoder(memory);
    }

    @Override
    public boolean findsNeighbors() {
      return false;
    }
  },

  /** RoCE v2, and every other Ethernet frame as it is: the link of a NIC. */
  ETHERNET {
    @Override
    public PacketEncoder encoder(MemorySegment memory) {
      return new EthernetEncoder(memory);
    }

    @Override
    public PacketDecoder decoder(MemorySegment memory) {
      return new EthernetDecoder(memory);
    }

    @Override
    public boolean findsNeighbors() {
      return false;
    }

    @Override
    public boolean carriesEverything() {
      return true;
    }
  };

  /** An encoder that writes into a memory of less than 2 GiB. */
  public abstract PacketEncoder encoder(MemorySegment memory);

  /** A decoder that reads from a memory of less than 2 GiB. */
  public abstract PacketDecoder decoder(MemorySegment memory);

  /**
   * Whether a port finds the MAC of a destination by its IP address; otherwise packets have both
   * MACs, and their IP addresses mean nothing to the receiver.
   */
  public abstract boolean findsNeighbors();

  /**
   * Whether whole Ethernet frames go to the port and come from it: the link neither speaks other
   * protocols by itself, nor looks at addresses.
   */
  public boolean carriesEverything() {
    return false;
  }
}

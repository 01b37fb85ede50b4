package org.hghca.tools;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.hghca.abi.Bar;
import org.hghca.abi.Cqe;
import org.hghca.abi.DeviceExtension;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.ForwardingFunction;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.VfioException;

/** The fault of a board of {@link FaultyProvider}: the name in its locator starts with it. */
public enum Fault {
  /** A reserved bit of DEV_LIM is set; contexts that the card writes have its length. */
  WRONG_LIMITS {
    @Override
    void answer(byte[] bytes) {
      if (bytes.length == 64
          && DeviceExtension.MAGIC_FIELD.get(MemorySegment.ofArray(bytes))
              == DeviceExtension.MAGIC) {
        bytes[4] |= (byte) 0x80;
      }
    }
  },

  /** INIT_HCA never ends. */
  HANG {
    @Override
    long read(int bar, long offset, long honest) {
      return bar == Bar.BAR0 && offset == COMMAND && hung != 0 ? hung : honest;
    }

    @Override
    boolean write(int bar, long offset, long value) {
      boolean init =
          bar == Bar.BAR0
              && offset == COMMAND
              && Hcr.op((int) value) == HcrCommand.INIT_HCA.code()
              && Hcr.go((int) value);
      // The one without a mailbox is refused, as it should be.
      if (init && ++inits == 2) {
        hung = value;
        return false;
      }
      return true;
    }
  },

  /** No register keeps its value. */
  NO_HCR {
    @Override
    long read(int bar, long offset, long honest) {
      return 0;
    }
  },

  /** There is no reply. */
  ALL_ONES {
    @Override
    long read(int bar, long offset, long honest) {
      return 0xffff_ffffL;
    }
  },

  /** The function is gone: also configuration space reads all ones. */
  GONE {
    @Override
    long read(int bar, long offset, long honest) {
      return 0xffff_ffffL;
    }

    @Override
    int configuration(int honest) {
      return -1;
    }
  },

  /** It is gone once QUERY_QP is given. */
  VANISHING {
    @Override
    long read(int bar, long offset, long honest) {
      return hung != 0 ? 0xffff_ffffL : honest;
    }

    @Override
    int configuration(int honest) {
      return hung != 0 ? -1 : honest;
    }

    @Override
    boolean write(int bar, long offset, long value) {
      boolean query =
          bar == Bar.BAR0
              && offset == COMMAND
              && Hcr.op((int) value) == HcrCommand.QUERY_QP.code()
              && Hcr.go((int) value);
      hung = query ? value : hung;
      return hung == 0;
    }
  },

  /** The system does not take it back. */
  UNRELEASED {
    @Override
    PciFunction opened(PciFunction function) {
      return new ForwardingFunction(function) {
        @Override
        public void close() {
          super.close();
          throw new VfioException(VfioException.Reason.BUSY, "the container is busy");
        }
      };
    }
  },

  /** A read of memory is refused when INIT_HCA is given: only the status register shows it. */
  REFUSED_EARLY {
    @Override
    boolean write(int bar, long offset, long value) {
      return shows(bar, offset, value, HcrCommand.INIT_HCA);
    }

    @Override
    PciFunction opened(PciFunction function) {
      return silent(function);
    }
  },

  /** The same, when a queue pair goes to INIT. */
  REFUSED_LATE {
    @Override
    boolean write(int bar, long offset, long value) {
      return shows(bar, offset, value, HcrCommand.RST2INIT);
    }

    @Override
    PciFunction opened(PciFunction function) {
      return silent(function);
    }
  },

  /** Doorbells are ignored. */
  DEAF {
    @Override
    boolean write(int bar, long offset, long value) {
      return bar != Bar.BAR2;
    }
  },

  /** Doorbells interrupt the session, and are ignored. */
  INTERRUPTING {
    @Override
    boolean write(int bar, long offset, long value) {
      if (bar == Bar.BAR2) {
        session.interrupt();
        return false;
      }
      return true;
    }
  },

  /** A bit of longer messages flips on their way. */
  FLIP {
    @Override
    void answer(byte[] bytes) {
      if (bytes.length > 512) {
        bytes[500] ^= 4;
      }
    }
  },

  /**
   * The second completion of QP 7 comes again and again, and no other completion of a send after
   * it.
   */
  STORM {
    @Override
    int times(byte[] bytes) {
      if (bytes.length != Cqe.SIZE) {
        return 1;
      }
      MemorySegment entry = MemorySegment.ofArray(bytes);
      if (!Cqe.isGoodSend(Cqe.plainLastDword(entry, 0))) {
        return 1;
      }
      if (sends == 2) {
        return 0;
      }
      sends += Cqe.qpn(entry, 0) == 7 ? 1 : 0;
      return sends == 2 ? 1000 : 1;
    }

    @Override
    void reset() {
      sends = 0;
    }
  },

  /** None: the tokens of its commands are recorded, those of NOPs as they are, of others as -1. */
  RECORDED {
    @Override
    boolean write(int bar, long offset, long value) {
      if (bar == Bar.BAR0 && offset == Bar.HCR_DOCUMENT + Hcr.TOKEN) {
        token = (int) value >>> 16;
      } else if (bar == Bar.BAR0 && offset == COMMAND && Hcr.go((int) value)) {
        TOKENS.add(Hcr.op((int) value) == HcrCommand.NOP.code() ? token : -1);
      }
      return true;
    }
  },

  /** A read does not return. */
  STUCK {
    @Override
    long read(int bar, long offset, long honest) {
      try {
        RELEASE.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      return honest;
    }
  };

  /** Releases hung reads. */
  public static final CountDownLatch RELEASE = new CountDownLatch(1);

  static final long COMMAND = (long) Bar.HCR_DOCUMENT + Hcr.COMMAND;

  private static final int STATUS = 0x06;
  private static final int RECEIVED_MASTER_ABORT = 1 << 13;

  /** What {@link #RECORDED} has seen. */
  public static final List<Integer> TOKENS = new CopyOnWriteArrayList<>();

  /** The thread that is interrupted. */
  public static volatile Thread session;

  int token;
  int sends;
  int inits;
  long hung;

  /** What its user opens. */
  PciFunction opened(PciFunction function) {
    return function;
  }

  /** From a command on the status register has an error; the write goes on. */
  boolean shows(int bar, long offset, long value, HcrCommand command) {
    boolean given =
        bar == Bar.BAR0
            && offset == COMMAND
            && Hcr.op((int) value) == command.code()
            && Hcr.go((int) value);
    hung = given ? value : hung;
    return true;
  }

  /** A function whose platform does not report refused accesses. */
  PciFunction silent(PciFunction of) {
    ConfigurationSpace honest = of.configuration();
    ConfigurationSpace space =
        new ConfigurationSpace() {
          @Override
          public int read(int offset, int width) {
            return honest.read(offset, width)
                | (offset == STATUS && hung != 0 ? RECEIVED_MASTER_ABORT : 0);
          }

          @Override
          public void write(int offset, int width, int value) {
            honest.write(offset, width, value);
          }
        };
    return new ForwardingFunction(of) {
      @Override
      public ConfigurationSpace configuration() {
        return space;
      }

      @Override
      public boolean reportsDmaFaults() {
        return false;
      }
    };
  }

  /** The value of a register read. */
  long read(int bar, long offset, long honest) {
    return honest;
  }

  /** The value of a read of configuration space. */
  int configuration(int honest) {
    return honest;
  }

  /** Whether a register accepts a value. */
  boolean write(int bar, long offset, long value) {
    return true;
  }

  /** The data that the card writes into memory. */
  void answer(byte[] bytes) {}

  /** How often the card writes what it writes, in entries of a completion queue of 32. */
  int times(byte[] bytes) {
    return 1;
  }

  /** The card is reset. */
  void reset() {}
}

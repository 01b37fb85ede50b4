package org.hghca.abi;

/**
 * The numbers behind {@link HardwareProfile}, which says what each means. Never written after the
 * factory methods here.
 */
final class ProfileValues {
  private static final int UNBOUNDED = HardwareProfile.UNBOUNDED;

  String name;
  int hcrBase;
  int resetOffset;
  boolean resetConnected;
  int nopStatus;
  boolean resizeCq;
  boolean modifyQpWithoutInbox;
  boolean queryQpReliable;
  boolean misplacesSequenceNumbers;
  boolean sqdSqeStates;
  boolean eventQueues;
  int qpcEntrySize;
  int cqcEntrySize;
  int eqcEntrySize;
  int mptEntrySize;
  int mttEntrySize;
  int mttMaxPerWrite;
  int mapIcmMaxEntries;
  int mapIcmMaxPagesPerEntry;
  int qpcCapacityPages;
  int cqcCapacityPages;
  int eqcCapacityPages;
  int mptCapacityPages;
  int mttCapacityPages;
  boolean icmReclaim;
  int qpnLimit;
  int cqnLimit;
  boolean positionsSurviveDestroy;
  int minStride;
  int maxSendStride;
  int maxReceiveStride;
  int maxQueueBytes;
  int minReceiveQueueBytes;
  int maxDescriptor;
  int maxSendSge;
  int doorbellsInFlight;
  boolean zeroLength;
  boolean atomics;
  boolean inlineOnUd;
  boolean grhPlaced;
  boolean immediateDelivered;
  int remoteBoundsGranularity;
  int destinationAlignment;
  boolean rnrAndTimeoutInHardware;
  int cqeOwner;
  int receiveCqeUnit;
  boolean errorCqes;
  boolean errorCqeHasSyndrome;
  boolean flushesInHardware;

  private ProfileValues() {}

  /** The interface document. */
  static ProfileValues s() {
    var v = new ProfileValues();
    v.name = "s";
    v.hcrBase = Bar.HCR_DOCUMENT;
    v.resetOffset = Bar.RESET_DOCUMENT;
    v.resetConnected = true;
    v.nopStatus = 0x00;
    v.resizeCq = true;
    v.modifyQpWithoutInbox = true;
    v.queryQpReliable = true;
    v.misplacesSequenceNumbers = false;
    v.sqdSqeStates = true;
    v.eventQueues = true;
    v.qpcEntrySize = 256;
    v.cqcEntrySize = 128;
    v.eqcEntrySize = 64;
    v.mptEntrySize = 64;
    v.mttEntrySize = 8;
    v.mttMaxPerWrite = 255;
    v.mapIcmMaxEntries = 16;
    v.mapIcmMaxPagesPerEntry = 4095;
    v.qpcCapacityPages = UNBOUNDED;
    v.cqcCapacityPages = UNBOUNDED;
    v.eqcCapacityPages = UNBOUNDED;
    v.mptCapacityPages = UNBOUNDED;
    v.mttCapacityPages = UNBOUNDED;
    v.icmReclaim = true;
    v.qpnLimit = 1 << 24;
    v.cqnLimit = 1 << 24;
    v.positionsSurviveDestroy = false;
    v.minStride = 64;
    v.maxSendStride = 512;
    v.maxReceiveStride = 512;
    v.maxQueueBytes = 1 << 20;
    v.minReceiveQueueBytes = 512;
    v.maxDescriptor = 512;
    v.maxSendSge = 16;
    v.doorbellsInFlight = UNBOUNDED;
    v.zeroLength = true;
    v.atomics = true;
    v.inlineOnUd = true;
    v.grhPlaced = true;
    v.immediateDelivered = true;
    v.remoteBoundsGranularity = 1;
    v.destinationAlignment = 1;
    v.rnrAndTimeoutInHardware = true;
    v.cqeOwner = Cqe.OWNER_SOFTWARE;
    v.receiveCqeUnit = 1;
    v.errorCqes = true;
    v.errorCqeHasSyndrome = true;
    v.flushesInHardware = true;
    return v;
  }

  /** The makers' first RTL. */
  static ProfileValues r1() {
    var v = new ProfileValues();
    v.name = "r1";
    v.hcrBase = Bar.HCR_RTL;
    v.resetOffset = Bar.RESET_RTL;
    v.resetConnected = false;
    v.nopStatus = 0x02;
    v.resizeCq = false;
    v.modifyQpWithoutInbox = false;
    v.queryQpReliable = false;
    v.misplacesSequenceNumbers = true;
    v.sqdSqeStates = false;
    v.eventQueues = false;
    v.qpcEntrySize = 256;
    v.cqcEntrySize = 64;
    v.eqcEntrySize = 64;
    v.mptEntrySize = 64;
    v.mttEntrySize = 8;
    v.mttMaxPerWrite = 255;
    v.mapIcmMaxEntries = 1;
    v.mapIcmMaxPagesPerEntry = 1024;
    v.qpcCapacityPages = 1024;
    v.cqcCapacityPages = 256;
    v.eqcCapacityPages = 1;
    v.mptCapacityPages = 512;
    v.mttCapacityPages = 512;
    v.icmReclaim = false;
    v.qpnLimit = 1024;
    v.cqnLimit = 8192;
    v.positionsSurviveDestroy = true;
    v.minStride = 64;
    v.maxSendStride = 512;
    v.maxReceiveStride = 256;
    v.maxQueueBytes = 1 << 20;
    v.minReceiveQueueBytes = 512;
    v.maxDescriptor = 512;
    v.maxSendSge = 16;
    v.doorbellsInFlight = 63;
    v.zeroLength = false;
    v.atomics = false;
    v.inlineOnUd = true;
    v.grhPlaced = false;
    v.immediateDelivered = false;
    v.remoteBoundsGranularity = 4096;
    v.destinationAlignment = 32;
    v.rnrAndTimeoutInHardware = false;
    v.cqeOwner = Cqe.OWNER_SOFTWARE;
    v.receiveCqeUnit = 1;
    v.errorCqes = true;
    v.errorCqeHasSyndrome = false;
    v.flushesInHardware = false;
    return v;
  }

  /** The makers' second RTL. */
  static ProfileValues r2() {
    var v = new ProfileValues();
    v.name = "r2";
    v.hcrBase = Bar.HCR_RTL;
    v.resetOffset = Bar.RESET_RTL;
    v.resetConnected = false;
    v.nopStatus = 0x02;
    v.resizeCq = false;
    v.modifyQpWithoutInbox = false;
    v.queryQpReliable = false;
    v.misplacesSequenceNumbers = false;
    v.sqdSqeStates = false;
    v.eventQueues = false;
    v.qpcEntrySize = 256;
    v.cqcEntrySize = 128;
    v.eqcEntrySize = 128;
    v.mptEntrySize = 64;
    v.mttEntrySize = 8;
    v.mttMaxPerWrite = 255;
    v.mapIcmMaxEntries = 1;
    v.mapIcmMaxPagesPerEntry = 1;
    v.qpcCapacityPages = 16;
    v.cqcCapacityPages = 8;
    v.eqcCapacityPages = 1;
    v.mptCapacityPages = 8192;
    v.mttCapacityPages = 8192;
    v.icmReclaim = false;
    v.qpnLimit = 256;
    v.cqnLimit = 256;
    v.positionsSurviveDestroy = true;
    v.minStride = 64;
    v.maxSendStride = 512;
    v.maxReceiveStride = 512;
    v.maxQueueBytes = 1 << 20;
    v.minReceiveQueueBytes = 1024;
    v.maxDescriptor = 512;
    v.maxSendSge = 16;
    v.doorbellsInFlight = 63;
    v.zeroLength = false;
    v.atomics = false;
    v.inlineOnUd = false;
    v.grhPlaced = false;
    v.immediateDelivered = false;
    v.remoteBoundsGranularity = 4096;
    v.destinationAlignment = 32;
    v.rnrAndTimeoutInHardware = false;
    v.cqeOwner = Cqe.OWNER_HARDWARE;
    v.receiveCqeUnit = 16;
    v.errorCqes = false;
    v.errorCqeHasSyndrome = false;
    v.flushesInHardware = false;
    return v;
  }
}

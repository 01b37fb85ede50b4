package org.hghca.model.hca;

/** The tables of contexts to which commands pass entries, and what is derived from them. */
record ContextTables(
    TranslationTables memory,
    CompletionQueues completionQueues,
    EventQueues eventQueues,
    EventRouting events,
    SharedReceiveQueues sharedQueues,
    QueuePairTable queuePairs,
    QueuePositions.Table positions) {}

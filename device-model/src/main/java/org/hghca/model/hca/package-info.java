/**
 * The card itself: registers, command unit, interconnect context memory, translation, work queues
 * and completion queues in host memory.
 */
package org.hghca.model.hca;

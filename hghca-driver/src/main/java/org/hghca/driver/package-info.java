/**
 * The driver of the JingZhao (HanGu) HCA as a provider of verbs: bring-up, resource tables, memory
 * registration, and the send, receive and completion rings.
 */
package org.hghca.driver;

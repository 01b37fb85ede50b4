/** Completions and events of a card as a trace has them. */
package org.hghca.driver.trace;

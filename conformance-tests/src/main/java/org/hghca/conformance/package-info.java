/**
 * What a card and any stand-in for it must do, as tests. There is no other code here; this file
 * keeps the module's class folder in being, without which the compiler warns of its class path.
 */
package org.hghca.conformance;

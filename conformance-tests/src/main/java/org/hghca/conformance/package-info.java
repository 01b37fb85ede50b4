/**
 * What a card and any replacement for it must do, as tests. There is no other code here; without
 * this file the module has no class folder, and the compiler warns about its class path.
 */
package org.hghca.conformance;

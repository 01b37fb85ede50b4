/**
 * The data path of the second RTL, as far as it is known. The engine and its sending side name each
 * other: what is sent and what arrives advance the same queue positions, which the engine has.
 */
package org.hghca.model.rtl.r2;

/**
 * The same messages between two processes over hghca and over what else a Java program has, each
 * measured when its compilers rest.
 */
package org.hghca.tools.perf.peers;

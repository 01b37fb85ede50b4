/**
 * One class for each program: its server and its client. {@link org.hghca.examples.Main} opens the
 * devices and starts one of them or both; {@link org.hghca.examples.End} is what it gives them.
 */
package org.hghca.examples;

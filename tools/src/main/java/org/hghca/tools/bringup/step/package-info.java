/**
 * A step of a session and its result: what it expects and observes, how it waits, and how it ends.
 */
package org.hghca.tools.bringup.step;

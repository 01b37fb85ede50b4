/**
 * Tests of the data path by amount: every length, boundaries, many pages and regions, thousands of
 * messages in flight. How much of it runs depends on the time that is given.
 */
package org.hghca.tools.bringup.data;

/** What {@code hghca demo} shows: the classic example of a reliable connection, and its speed. */
package org.hghca.tools.demo;

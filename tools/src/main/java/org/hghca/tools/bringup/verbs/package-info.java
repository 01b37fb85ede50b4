/** The steps through the driver: operations with data, errors, events, speed. */
package org.hghca.tools.bringup.verbs;

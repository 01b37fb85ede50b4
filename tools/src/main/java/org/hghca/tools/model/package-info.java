/** The commands {@code hghca model}: software HCAs for other processes, and their faults. */
package org.hghca.tools.model;

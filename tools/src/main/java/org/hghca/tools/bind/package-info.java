/** The commands {@code hghca bind} and {@code hghca unbind}. */
package org.hghca.tools.bind;

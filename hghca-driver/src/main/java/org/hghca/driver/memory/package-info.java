/** Registration of memory with the card: regions with their keys and page addresses. */
package org.hghca.driver.memory;

/** The values of a reply by name, as text and as JSON. */
package org.hghca.tools.card.fields;

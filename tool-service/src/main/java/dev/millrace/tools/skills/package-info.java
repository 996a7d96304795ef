/**
 * What the operator teaches agents: texts in a folder, which a model reads when it needs them. Read once, at the start.
 */
@NullMarked
package dev.millrace.tools.skills;

import org.jspecify.annotations.NullMarked;

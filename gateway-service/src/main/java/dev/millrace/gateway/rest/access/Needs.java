package dev.millrace.gateway.rest.access;

import dev.millrace.gateway.access.Permission;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** What a caller of a route has to be granted. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Needs {

    /** The permission. */
    Permission value();

    /** Where they have to have it. */
    Scope in() default Scope.NAMESPACE;

    /** Where a permission is needed. */
    enum Scope {
        /** In the namespace of the path or of {@code ?namespace=}; the filter sees to all of it. */
        NAMESPACE,
        /** In the namespace that the body or a header names; the filter sees to it that there is one at all. */
        BODY,
        /** In any namespace: what the route tells is of none. */
        ANYWHERE,
        /** In all of them. */
        EVERYWHERE
    }
}

package dev.millrace.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * This test class needs a broker. Test and lifecycle methods may take a {@link TestBroker} as a parameter. Where none
 * can be had (containers were asked for and there is no engine) the class is skipped, and says so on standard error.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(BrokerExtension.class)
public @interface RequiresBroker {}

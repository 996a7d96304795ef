package org.example.orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import java.math.BigDecimal;
import org.junit.jupiter.api.Test;

/** A tool is an ordinary object: it is tested without Millrace. */
class OrderToolsTest {

    private final OrderTools tools = new OrderTools();

    @Test
    void findsAnOrder() throws ToolException {
        assertEquals("a wheel", tools.find("A-1001").item());
    }

    @Test
    void saysThatThereIsNone() {
        ToolException no = assertThrows(ToolException.class, () -> tools.find("A-1"));
        assertEquals("order_not_found", no.code());
    }

    @Test
    void paysOnceForOneCall() throws ToolException {
        OrderTools.Refund first = tools.refund("A-1001", new BigDecimal("34.90"), ToolContext.of("call-1"));
        assertEquals(first, tools.refund("A-1001", new BigDecimal("34.90"), ToolContext.of("call-1")));
        assertEquals("already_refunded", refused("A-1001", "0.01", "call-2"));
    }

    @Test
    void paysNoMoreThanItMay() throws ToolException {
        assertEquals("bad_amount", refused("A-1003", "500.01", "call-1"));
        assertEquals("bad_amount", refused("A-1003", "0", "call-2"));
        tools.refund("A-1003", new BigDecimal("500.00"), ToolContext.of("call-3"));
    }

    private String refused(String orderId, String amount, String callId) {
        return assertThrows(
                        ToolException.class,
                        () -> tools.refund(orderId, new BigDecimal(amount), ToolContext.of(callId)))
                .code();
    }
}

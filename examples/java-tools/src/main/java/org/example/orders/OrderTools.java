package org.example.orders;

import dev.millrace.tool.api.Description;
import dev.millrace.tool.api.Param;
import dev.millrace.tool.api.SideEffects;
import dev.millrace.tool.api.Tool;
import dev.millrace.tool.api.ToolContext;
import dev.millrace.tool.api.ToolException;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.Map;

/** The tools of a shop's order desk. One object serves all calls, on several threads. */
public class OrderTools {

    /** No refund is larger, whoever agreed to it: an agent's file can set other rules for approval, but not this. */
    static final BigDecimal LARGEST_REFUND = new BigDecimal("500.00");

    public enum State {
        PAID,
        SHIPPED,
        DELIVERED
    }

    public record Order(
            String orderId,
            String item,
            @Description("What was paid, in euros.") BigDecimal total,
            State state,
            @Description("The number that the carrier knows it by.") String parcel) {}

    public record Refund(String reference, String orderId, BigDecimal amount) {}

    private final Map<String, Order> orders = Map.of(
            "A-1001", new Order("A-1001", "a wheel", new BigDecimal("34.90"), State.DELIVERED, "P-77"),
            "A-1002", new Order("A-1002", "a sluice gate", new BigDecimal("349.00"), State.SHIPPED, "P-78"),
            "A-1003", new Order("A-1003", "a mill", new BigDecimal("78000.00"), State.PAID, "none"));

    /** By idempotency key. A shop has a table with the key as a unique column: this map is empty after a restart. */
    private final Map<String, Refund> refunds = new LinkedHashMap<>();

    @Tool(
            name = "find_order",
            value = "Finds an order: what was bought, what was paid, and where it is.",
            sideEffects = SideEffects.READ_ONLY,
            timeoutMs = 5_000)
    public Order find(@Param("The number of the order, such as A-1001.") String orderId) throws ToolException {
        Order order = orders.get(orderId);
        if (order == null) {
            throw new ToolException("order_not_found", "There is no order " + orderId + ".");
        }
        return order;
    }

    @Tool(
            name = "refund_order",
            value = "Pays money for an order back to whoever bought it.",
            sideEffects = SideEffects.IDEMPOTENT,
            timeoutMs = 20_000,
            approval = "when: args.amount > 100")
    public synchronized Refund refund(
            @Param("The number of the order.") String orderId,
            @Param("How much, in euros.") BigDecimal amount,
            ToolContext context)
            throws ToolException {
        // the same call again, because its first answer was lost: the money has been paid
        Refund known = refunds.get(context.idempotencyKey());
        if (known != null) {
            return known;
        }
        Order order = find(orderId);
        if (amount.signum() <= 0 || amount.compareTo(LARGEST_REFUND) > 0) {
            throw new ToolException(
                    "bad_amount", "A refund is more than 0 and at most " + LARGEST_REFUND + ", found " + amount + ".");
        }
        BigDecimal left = order.total().subtract(refunded(orderId));
        if (amount.compareTo(left) > 0) {
            throw new ToolException(
                    "already_refunded", "Of order " + orderId + " " + left + " can be paid back, found " + amount + ".");
        }
        Refund refund = new Refund("R-" + (refunds.size() + 1), orderId, amount);
        refunds.put(context.idempotencyKey(), refund);
        return refund;
    }

    private BigDecimal refunded(String orderId) {
        return refunds.values().stream()
                .filter(refund -> refund.orderId().equals(orderId))
                .map(Refund::amount)
                .reduce(BigDecimal.ZERO, BigDecimal::add);
    }
}

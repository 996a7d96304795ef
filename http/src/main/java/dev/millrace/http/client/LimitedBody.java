package dev.millrace.http.client;

import java.io.IOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/** A body as text that fails as soon as it is longer than the limit. */
final class LimitedBody implements BodySubscriber<String> {
    private final BodySubscriber<String> whole = BodySubscribers.ofString(StandardCharsets.UTF_8);
    private final long limit;
    private long left;
    private Flow.@Nullable Subscription subscription;

    LimitedBody(long limit) {
        this.limit = limit;
        this.left = limit;
    }

    @Override
    public CompletionStage<String> getBody() {
        return whole.getBody();
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
        subscription = given;
        whole.onSubscribe(given);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
        if (left < 0) {
            return;
        }
        for (ByteBuffer buffer : buffers) {
            left -= buffer.remaining();
        }
        if (left >= 0) {
            whole.onNext(buffers);
            return;
        }
        if (subscription != null) {
            subscription.cancel();
        }
        whole.onError(new IOException("the answer is longer than " + limit + " bytes"));
    }

    @Override
    public void onError(Throwable failure) {
        whole.onError(failure);
    }

    @Override
    public void onComplete() {
        whole.onComplete();
    }
}

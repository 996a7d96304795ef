import com.google.protobuf.Empty;
import io.littlehorse.sdk.common.LHLibUtil;
import io.littlehorse.sdk.common.config.LHConfig;
import io.littlehorse.sdk.common.proto.AwaitWorkflowEventRequest;
import io.littlehorse.sdk.common.proto.LittleHorseGrpc.LittleHorseBlockingStub;
import io.littlehorse.sdk.common.proto.PutWorkflowEventDefRequest;
import io.littlehorse.sdk.common.proto.ReturnType;
import io.littlehorse.sdk.common.proto.RunWfRequest;
import io.littlehorse.sdk.common.proto.TypeDefinition;
import io.littlehorse.sdk.common.proto.VariableType;
import io.littlehorse.sdk.common.proto.WfRunId;
import io.littlehorse.sdk.common.proto.WorkflowEventDefId;
import io.littlehorse.sdk.wfsdk.NodeOutput;
import io.littlehorse.sdk.wfsdk.WfRunVariable;
import io.littlehorse.sdk.wfsdk.internal.WorkflowImpl;
import io.littlehorse.sdk.worker.LHTaskMethod;
import io.littlehorse.sdk.worker.LHTaskWorker;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Properties;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * The agent loop on LittleHorse: a workflow of three tasks, their worker, and a client of it, which speaks gRPC and is
 * told on standard input what to do: {@code keep IN-FLIGHT MODEL-MS}, {@code note}, or {@code noted}, which it answers
 * with the milliseconds of each workflow that has completed since, in a line. One argument: the server's port.
 */
public class LittleHorseAgent {

    private static final String COMPLETED = "completed";

    private static volatile int wanted;
    private static volatile int modelMs;
    private static volatile Queue<Double> noted = new ConcurrentLinkedQueue<>();

    /** Asks for a tool first, and then answers with what came of it. */
    public static class Model {
        @LHTaskMethod("model")
        public String reply(String said, long millis) throws InterruptedException {
            Thread.sleep(millis);
            return said.startsWith("user: ") ? "echo " + said.substring(6) : "answer: " + said;
        }
    }

    /** Gives back what it is given. */
    public static class Tool {
        @LHTaskMethod("echo")
        public String echo(String call) {
            return "result: " + call.substring(5);
        }
    }

    /** Serves until its standard input ends. */
    public static void main(String... args) throws Exception {
        Properties settings = new Properties();
        settings.put("LHC_API_HOST", "127.0.0.1");
        settings.put("LHC_API_PORT", args[0]);
        settings.put("LHW_TASK_WORKER_ID", "agent");
        settings.put("LHW_NUM_WORKER_THREADS", "16");
        LHConfig config = new LHConfig(settings);
        LittleHorseBlockingStub server = config.getBlockingStub();
        awaitAnswer(server);
        define(config, server);
        System.out.println("The worker runs");
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        int threads = 0;
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "keep" -> {
                    modelMs = Integer.parseInt(words[2]);
                    wanted = Integer.parseInt(words[1]);
                    for (; threads < wanted; threads++) {
                        int number = threads;
                        Thread.ofVirtual().start(() -> work(server, number));
                    }
                    threads = wanted;
                }
                case "note" -> noted = new ConcurrentLinkedQueue<>();
                default ->
                    System.out.println(
                            "noted " + noted.stream().map(String::valueOf).collect(Collectors.joining(" ")));
            }
        }
        Runtime.getRuntime().halt(0);
    }

    private static void awaitAnswer(LittleHorseBlockingStub server) throws InterruptedException {
        for (int attempt = 0; ; attempt++) {
            try {
                server.whoami(Empty.getDefaultInstance());
                return;
            } catch (RuntimeException e) {
                if (attempt > 300) {
                    throw e;
                }
                Thread.sleep(300);
            }
        }
    }

    private static void define(LHConfig config, LittleHorseBlockingStub server) throws Exception {
        LHTaskWorker model = new LHTaskWorker(new Model(), "model", config);
        LHTaskWorker tool = new LHTaskWorker(new Tool(), "echo", config);
        model.registerTaskDef();
        tool.registerTaskDef();
        server.putWorkflowEventDef(PutWorkflowEventDefRequest.newBuilder()
                .setName(COMPLETED)
                .setContentType(ReturnType.newBuilder()
                        .setReturnType(TypeDefinition.newBuilder().setPrimitiveType(VariableType.STR)))
                .build());
        WorkflowImpl loop = new WorkflowImpl("agent", thread -> {
            WfRunVariable said = thread.declareStr("said");
            WfRunVariable millis = thread.declareInt("millis");
            NodeOutput call = thread.execute("model", said, millis);
            NodeOutput result = thread.execute("echo", call);
            thread.throwEvent(COMPLETED, thread.execute("model", result, millis));
        });
        Thread.sleep(500); // definitions of tasks have to be known on every partition
        loop.registerWfSpec(server);
        model.start();
        tool.start();
        Thread.sleep(3_000);
    }

    private static void work(LittleHorseBlockingStub server, int number) {
        while (number < wanted) {
            long begun = System.nanoTime();
            String id = UUID.randomUUID().toString().replace("-", "");
            server.runWf(RunWfRequest.newBuilder()
                    .setWfSpecName("agent")
                    .setId(id)
                    .putVariables("said", LHLibUtil.objToVarVal("user: hello"))
                    .putVariables("millis", LHLibUtil.objToVarVal(modelMs))
                    .build());
            String answer = server.withDeadlineAfter(30, TimeUnit.SECONDS)
                    .awaitWorkflowEvent(AwaitWorkflowEventRequest.newBuilder()
                            .setWfRunId(WfRunId.newBuilder().setId(id))
                            .addEventDefIds(WorkflowEventDefId.newBuilder().setName(COMPLETED))
                            .build())
                    .getContent()
                    .getStr();
            if (!answer.startsWith("answer: ")) {
                throw new IllegalStateException("expected an answer, found " + answer);
            }
            noted.add((System.nanoTime() - begun) / 1e6);
        }
    }
}

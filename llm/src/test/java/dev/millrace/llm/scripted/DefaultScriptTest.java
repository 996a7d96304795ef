package dev.millrace.llm.scripted;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.llm.FinishReason;
import dev.millrace.llm.ModelReply;
import dev.millrace.llm.Requests;
import dev.millrace.llm.ToolCallRequest;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DefaultScriptTest {

    private static final String[] TOOLS = {
        "current_time", "list_files", "read_file", "grep_files", "http_get", "notify", "ask_user", "write_file"
    };
    private static final String QUESTION = "Which files are in the workspace, and what does notes.txt say?";
    private static final String LISTING = "{\"path\":\".\",\"entries\":["
            + "{\"path\":\"notes.txt\",\"type\":\"file\",\"sizeBytes\":12},{\"path\":\"src\",\"type\":\"directory\"}]}";

    private final ScriptedModel model = new ScriptedModel(Script.builtIn());

    private ModelReply reply(Requests request) throws Exception {
        return model.chat(request.offering(TOOLS).build());
    }

    private static String only(ModelReply reply) {
        assertThat(reply.toolCalls()).hasSize(1);
        ToolCallRequest call = reply.toolCalls().getFirst();
        return call.toolName() + call.arguments();
    }

    @Test
    void shouldListFirstWhenAskedForFilesAndContent() throws Exception {
        // when
        ModelReply reply = reply(Requests.user(QUESTION));

        // then
        assertThat(only(reply)).isEqualTo("list_files{path=.}");
        assertThat(reply.finishReason()).isEqualTo(FinishReason.TOOL_CALLS);
    }

    @Test
    void shouldReadNextTheFileThatWasAskedFor() throws Exception {
        // when
        ModelReply reply = reply(Requests.user(QUESTION).thenTool("list_files", LISTING));

        // then
        assertThat(only(reply)).isEqualTo("read_file{path=notes.txt}");
    }

    @Test
    void shouldAnswerWithWhatTheToolsReturned() throws Exception {
        // when
        ModelReply reply = reply(Requests.user(QUESTION)
                .thenTool("list_files", LISTING)
                .thenTool("read_file", "{\"path\":\"notes.txt\",\"content\":\"Buy milk.\\n\",\"sizeBytes\":10}"));

        // then
        assertThat(reply.toolCalls()).isEmpty();
        assertThat(reply.text()).contains("notes.txt, src", "Buy milk.", "scripted model");
        assertThat(reply.finishReason()).isEqualTo(FinishReason.STOP);
    }

    @Test
    void shouldSayWhyAFileCouldNotBeRead() throws Exception {
        // when
        ModelReply reply = reply(Requests.user(QUESTION)
                .thenTool("list_files", LISTING)
                .thenTool("read_file", "Error: no such file: notes.txt"));

        // then
        assertThat(reply.text()).contains("could not read notes.txt", "Error: no such file: notes.txt");
    }

    @Test
    void shouldStartAfreshWithTheNextQuestionOfAConversation() throws Exception {
        // when
        ModelReply reply = reply(Requests.user(QUESTION)
                .thenTool("list_files", LISTING)
                .thenTool("read_file", "{\"content\":\"Buy milk.\"}")
                .thenAssistant("It says: buy milk.")
                .thenUser("What time is it?"));

        // then
        assertThat(only(reply)).isEqualTo("current_time{}");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            what time is it?                          | current_time{}
            What's the current time in UTC            | current_time{}
            list the files                            | list_files{path=.}
            Which files are in the workspace?         | list_files{path=.}
            Please read docs/plan.md                  | read_file{path=docs/plan.md}
            what does notes.txt say                   | read_file{path=notes.txt}
            search for needle                         | grep_files{pattern=needle, path=.}
            Search the workspace for "two words"?     | grep_files{pattern=two words, path=.}
            grep TODO in files                        | grep_files{pattern=TODO, path=.}
            fetch http://127.0.0.1:8080/a/b.html.     | http_get{url=http://127.0.0.1:8080/a/b.html}
            Notify me that the build is green         | notify{message=the build is green}
            ask me about my favourite colour.         | ask_user{question=Please tell me: my favourite colour?}
            Write "oil the gate" to todo.txt          | write_file{path=todo.txt, content=oil the gate}
            please save “a: b, c” as notes/a.md       | write_file{path=notes/a.md, content=a: b, c}
            """)
    void shouldCallTheToolThatIsMeant(String user, String call) throws Exception {
        // when
        ModelReply reply = reply(Requests.user(user));

        // then
        assertThat(only(reply)).isEqualTo(call);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            what time is it?  | current_time | {"time":"2026-07-28T12:00:00Z","timezone":"UTC"} | 2026-07-28T12:00:00Z (UTC)
            list the files    | list_files   | {"path":".","entries":[]}                        | are: (none)
            read a.txt        | read_file    | {"path":"a.txt","content":"","sizeBytes":0}      | a.txt says: (it is empty)
            write "x" to a.txt | write_file  | {"path":"a.txt","sizeBytes":1,"created":true}    | Done. write_file says: {"path"
            write "x" to a.txt | write_file  | Error: rejected by ada: no                       | I could not write a.txt. Error: rejected by ada: no
            search for x1     | grep_files   | {"matches":[{"path":"a","line":3,"text":"x1!"}]} | The lines: x1!
            fetch http://h/x  | http_get     | {"status":404,"body":"not here"}                 | status 404:
            notify me: done   | notify       | {"action":"notify","message":"done"}             | notification: done
            ask me your name  | ask_user     | Ada                                              | You answered: Ada
            list the files    | list_files   | Error: the workspace is gone                     | Error: the workspace is gone
            read a.txt        | read_file    | Error: no such file: a.txt                       | Error: no such file: a.txt
            fetch http://h/x  | http_get     | Error: nobody listens                            | Error: nobody listens
            """)
    void shouldAnswerFromTheToolsResult(String user, String tool, String result, String answer) throws Exception {
        // when
        ModelReply reply = reply(Requests.user(user).thenTool(tool, result));

        // then
        assertThat(reply.toolCalls()).isEmpty();
        assertThat(reply.text()).contains(answer);
    }

    @Test
    void shouldCallTwoToolsAtOnceForTheTimeAndTheFiles() throws Exception {
        // when
        ModelReply reply = reply(Requests.user("Tell me the time and list the files"));

        // then
        assertThat(reply.toolCalls())
                .extracting(ToolCallRequest::toolName)
                .containsExactly("current_time", "list_files");
        assertThat(reply.toolCalls()).extracting(ToolCallRequest::toolCallId).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @ValueSource(strings = {"Hello!", "What is the meaning of life?", "", "{{user}} $1 \\E"})
    void shouldAnswerAnythingElseByPlainlySayingWhatItIs(String user) throws Exception {
        // when
        ModelReply reply = reply(Requests.user(user));

        // then
        assertThat(reply.toolCalls()).isEmpty();
        assertThat(reply.text()).contains("Millrace's scripted model", "\"" + user + "\"");
    }

    @Test
    void shouldNotCallAToolThatIsNotOffered() throws Exception {
        // when
        ModelReply reply = model.chat(Requests.user("what time is it?").build());

        // then
        assertThat(reply.toolCalls()).isEmpty();
        assertThat(reply.text()).contains("scripted model");
    }

    @Test
    void shouldNotTakeTheMemoryIndexForTheUsersWords() throws Exception {
        // when
        ModelReply reply = reply(Requests.user("What time is it?")
                .thenUser("[Available memory]\n- facts/user.md (320B): who the user is"));

        // then
        assertThat(only(reply)).isEqualTo("current_time" + Map.of());
    }
}

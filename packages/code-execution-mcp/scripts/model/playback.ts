import { startChatServer } from "../../../codegen/fixtures/chat-server.ts";
import type { ChatRequest, ChatServer, Reply } from "../../../codegen/fixtures/chat-server.ts";
import type { Recordings } from "./recordings.ts";

/** A server of the Chat Completions API that plays answers back by the tasks in its requests. */
export async function startPlayback(
  tasks: readonly { id: string; task: string }[],
  recordings: Recordings,
): Promise<ChatServer> {
  const asked = new Map<string, number>();
  const answer = (request: ChatRequest): Reply => {
    const text = request.body.messages.find(({ role }) => role === "user")?.content ?? "";
    const id = tasks.find(({ task }) => text.endsWith(`Task:\n${task}`))?.id ?? "";
    const answers = recordings.get(id) ?? [];
    const turn = asked.get(id) ?? 0;
    asked.set(id, turn + 1);
    const said = answers[Math.min(turn, answers.length - 1)];
    return said === undefined
      ? { status: 400, error: { message: `There is no recorded answer to ${JSON.stringify(id)}.` } }
      : { text: said };
  };
  return startChatServer({ replies: [answer] });
}

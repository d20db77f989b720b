// A stand-in for a model, for examples that need one and have no key: it speaks the Chat Completions API, asks for one call
// of the tool `execute_code` with the program it was given, and then says what that came to.
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

interface ChatRequest {
  model: string;
  messages: { role: string; content: unknown }[];
}

/** Starts it on a free port. */
export async function startModel(code: string): Promise<{ baseURL: string; close: () => void }> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { model, messages } = JSON.parse(await text(request)) as ChatRequest;
    const last = messages.at(-1);
    const hasResult = last?.role === "tool";
    const call = {
      id: "call_1",
      type: "function",
      function: { name: "execute_code", arguments: JSON.stringify({ code }) },
    };
    const message = hasResult
      ? { role: "assistant", content: `It came to ${String(last?.content)}` }
      : { role: "assistant", content: null, tool_calls: [call] };
    const choice = { index: 0, message, finish_reason: hasResult ? "stop" : "tool_calls" };
    const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({ id: "1", object: "chat.completion", created: 0, model, choices: [choice], usage }),
    );
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { baseURL: `http://127.0.0.1:${port}/v1`, close: () => server.close() };
}

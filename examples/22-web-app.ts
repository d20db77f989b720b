// A web application with the AI SDK: a model answers questions by writing code. OPENAI_API_KEY has a real one answer.
// Needs: npm install ai @ai-sdk/openai @cem/ai
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { createOpenAI } from "@ai-sdk/openai";
import { executeCodeTool, searchToolsTool } from "@cem/ai";
import { generateText, isStepCount } from "ai";
import { createAgent } from "code-execution-mcp";
import { startModel } from "./model-server.ts";

const { OPENAI_API_KEY, OPENAI_MODEL = "gpt-5" } = process.env;
const standIn = OPENAI_API_KEY === undefined ? await startModel(warmest()) : undefined;
const provider = createOpenAI(standIn === undefined ? {} : { apiKey: "none", baseURL: standIn.baseURL });

const agent = createAgent();
const app = createServer((request, response) => void handle(request, response));
app.listen(Number(process.env["PORT"] ?? 0), "127.0.0.1");
await once(app, "listening");
const url = `http://127.0.0.1:${(app.address() as AddressInfo).port}/`;

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { question, user } = JSON.parse(await text(request)) as { question: string; user: string };
  const answer = await generateText({
    model: provider.chat(OPENAI_MODEL),
    prompt: question,
    tools: {
      // A session for each user: no two share a guest.
      execute_code: await executeCodeTool(agent, {
        task: question,
        run: { session: user },
        attachments: false,
      }),
      search_tools: searchToolsTool(agent),
    },
    stopWhen: isStepCount(5),
  });
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ answer: answer.text, steps: answer.steps.length }));
}

// The question that a page in the browser would send.
const body = JSON.stringify({ question: "Which is warmest in July: Oslo, Cairo or Paris?", user: "ada" });
const { answer, steps } = (await (await fetch(url, { method: "POST", body })).json()) as {
  answer: string;
  steps: number;
};
console.log(`After ${steps} steps: ${answer}`);
app.close();
standIn?.close();
await agent.dispose();

/** The program that a real model writes by itself, from the signatures in the tool's description. */
function warmest(): string {
  return `import { get_weather } from "./servers/weather/index.ts";
const cities = await Promise.all(["Oslo", "Cairo", "Paris"].map((location) => get_weather({ location, month: "July" })));
return cities.toSorted((one, other) => other.temperature - one.temperature)[0]?.location;`;
}

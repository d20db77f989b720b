import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { loadConfig } from "@cem/config";
import type { ConfigInput } from "@cem/config";
import type { CodeGenerator } from "@cem/core";
import { loadTokenCounter } from "@cem/core/tokens";
import { startChatServer } from "../../codegen/fixtures/chat-server.ts";
import { createPrompt } from "../../codegen/src/llm/prompt.ts";
import { createConfiguredModel } from "../src/wiring/stages/generators.ts";
import { searchSummary, summaryOf } from "./model/figures.ts";
import type { TaskFigures } from "./model/figures.ts";
import { measureOwn } from "./model/measure-own.ts";
import { measureSearches } from "./model/measure-searches.ts";
import { measureSet } from "./model/measure-set.ts";
import { OWN_TASKS } from "./model/own-tasks.ts";
import { startPlayback } from "./model/playback.ts";
import { readRecordings, RECORDINGS } from "./model/recordings.ts";
import { readSets } from "./retrieval-sets.ts";

/**
 * How a model does behind `llm.enabled`: `pnpm eval:model --endpoint URL [--model NAME] [--data DIR] [--most N]`. Any service
 * that speaks the Chat Completions API is an endpoint; its key is read from CEM_EVAL_API_KEY.
 *
 * The 42 tasks of our own run with real tools, and their results are checked. Each folder of DIR (or CEM_EVAL_DATA) with a
 * tools.jsonl and a queries.dev.jsonl is a further set; its servers are not at hand, so nothing of it is run.
 *
 * With `--recorded`, in place of an endpoint, a server on this machine plays recorded answers to our own tasks. With neither, no
 * model is asked, and only which tools it would be told of and the tokens of the first prompt are printed for the sets.
 *
 * `--tokens N` is `llm.tool_tokens`. `--prompt ID` prints what a model is told for one of our own tasks; `--failures` prints what went wrong.
 *
 * `--searches` asks no model: it prints the tokens of what search_tools answers over the servers here, or over those of
 * `--servers FILE` (JSON with `mcpServers` and `searches`), and with `--failures` the answers.
 */

const { values } = parseArgs({
  options: {
    endpoint: { type: "string" },
    model: { type: "string", default: "gpt-4o-mini" },
    recorded: { type: "boolean", default: false },
    data: { type: "string" },
    most: { type: "string", default: "100" },
    tokens: { type: "string" },
    prompt: { type: "string" },
    failures: { type: "boolean", default: false },
    searches: { type: "boolean", default: false },
    servers: { type: "string" },
  },
});
const data = values.data ?? process.env["CEM_EVAL_DATA"];
if (values.prompt !== undefined) await printPrompt(values.prompt);
else if (values.searches) await searchTools();
else await evaluate();

async function searchTools(): Promise<void> {
  const given = values.servers === undefined ? {} : JSON.parse(await readFile(values.servers, "utf8"));
  const figures = await measureSearches({ ...given, print: values.failures });
  process.stdout.write(`${searchSummary(figures)}\n`);
}

async function evaluate(): Promise<void> {
  const playback = values.recorded ? await startPlayback(OWN_TASKS, readRecordings(RECORDINGS)) : undefined;
  const endpoint = values.endpoint ?? (playback && `${playback.origin}/v1`);
  if (endpoint === undefined && data === undefined) {
    process.stderr.write("Say which model: --endpoint URL, or --recorded; or where sets are: --data DIR.\n");
    process.exitCode = 2;
    return;
  }
  try {
    if (endpoint !== undefined) report("own", await measureOwn(OWN_TASKS, settingsFor(endpoint)));
    if (data === undefined) return;
    const model = values.endpoint === undefined ? await askNobody() : await modelAt(values.endpoint);
    for (const set of readSets(data, "queries.dev.jsonl")) {
      const most = values.endpoint === undefined ? Infinity : Number(values.most);
      report(set.name, await measureSet(set, model, most), values.endpoint === undefined);
    }
  } finally {
    await playback?.close();
  }
}

function settingsFor(baseUrl: string): NonNullable<ConfigInput["llm"]> {
  const toolTokens = values.tokens === undefined ? undefined : Number(values.tokens);
  return { baseUrl, model: values.model, apiKey: process.env["CEM_EVAL_API_KEY"] ?? "none", toolTokens };
}

async function modelAt(endpoint: string): Promise<CodeGenerator> {
  const { config } = await loadConfig({ configFile: false, config: { llm: settingsFor(endpoint) } });
  return createConfiguredModel(config.llm);
}

/** A generator that is told what a model would be told, and says of each task that it lacks tools for it. */
async function askNobody(): Promise<CodeGenerator> {
  const { toolBudget } = await modelAt("http://127.0.0.1:9");
  const count = await loadTokenCounter();
  return {
    specificationVersion: "v1",
    toolBudget,
    generate: async (request) => {
      const inFirst = (): number => {
        const messages = createPrompt(request);
        return count(messages.map(({ content }) => (typeof content === "string" ? content : "")).join("\n"));
      };
      return {
        status: "refused",
        origin: "llm",
        steps: [{ step: request.task, reason: "no-tool", hint: request.task }],
        // The tokens of the first prompt count.
        usage:
          request.spent === undefined
            ? { model: "none", requests: 1, inputTokens: inFirst(), outputTokens: 0 }
            : undefined,
      };
    },
  };
}

function report(set: string, figures: readonly TaskFigures[], recallOnly = false): void {
  const line = summaryOf(set, figures);
  process.stdout.write(`${recallOnly ? line.split(", ").slice(0, 4).join(", ") : line}\n`);
  if (!values.failures || recallOnly) return;
  for (const { id, outcome, detail } of figures)
    if (detail !== undefined) process.stdout.write(`  ${outcome}: ${id}: ${detail}\n`);
}

async function printPrompt(id: string): Promise<void> {
  const tasks = OWN_TASKS.filter((task) => task.id === id);
  const server = await startChatServer({ replies: [{ text: "CANNOT: nobody was asked" }] });
  await measureOwn(tasks, settingsFor(`${server.origin}/v1`));
  await server.close();
  for (const { role, content } of server.requests[0]?.body.messages ?? [])
    process.stdout.write(`--- ${role}\n${content}\n`);
}

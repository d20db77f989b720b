import { CemError, restoreTokens } from "@cem/core";
import type { JsonValue, ToolDefinition } from "@cem/core";
import * as z from "zod";
import type { ServedClient } from "../served-client.ts";
import { declareRoute } from "./api-route.ts";
import {
  Catalog,
  Found,
  SavedState,
  SaveState,
  SearchQuery,
  SkillDetails,
  SkillList,
  State,
  StateQuery,
} from "./schemas.ts";
import type { Tool } from "./schemas.ts";

/** The tools, and what outlives a run: state and skills. Personal data in it is shown as tokens. */
export const RESOURCE_ROUTES = [
  declareRoute({
    method: "get",
    path: "/tools",
    operationId: "listTools",
    summary: "List the tools by server",
    input: {},
    answer: Catalog,
    answerDescription: "All servers with their tools.",
    async handle(_, { client }, signal) {
      const { servers, problems } = await client.agent.discoverTools({ signal });
      return {
        servers: servers.map(({ tools, ...rest }) => ({ ...rest, tools: tools.map(toolOf) })),
        problems: problems.map(({ server, message }) => ({ server, message })),
      };
    },
  }),
  declareRoute({
    method: "get",
    path: "/tools/search",
    operationId: "searchTools",
    summary: "Search for tools by what they do",
    input: { query: SearchQuery },
    answer: Found,
    answerDescription: "The tools that match, best first.",
    async handle({ query: { query, limit } }, { client }, signal) {
      const notes: string[] = [];
      const onNote = (note: string): void => void notes.push(note);
      const found = await client.agent.searchTools(query, { limit, signal, onNote });
      return { tools: found.map(({ tool, ...rest }) => ({ ...rest, tool: toolOf(tool) })), notes };
    },
  }),
  declareRoute({
    method: "get",
    path: "/state",
    operationId: "readState",
    summary: "Read state",
    input: { query: StateQuery },
    answer: State,
    answerDescription: "The file's content and its version.",
    handle: async ({ query }, { client }, signal) =>
      shown(await stateOf(client).read(query.file, { signal }), client),
  }),
  declareRoute({
    method: "put",
    path: "/state",
    operationId: "saveState",
    summary: "Replace state; given the version that was read, keys that others changed since are kept",
    input: { body: SaveState },
    answer: SavedState,
    answerDescription: "Where it was saved, and as which version.",
    async handle({ body: { data: given, file, version } }, { client }, signal) {
      const state = stateOf(client);
      const { redactor, session } = client;
      const current = async (): Promise<JsonValue> => (await state.read(file, { signal })).data;
      const data = await restoreTokens(given as JsonValue, { redactor, session, current });
      const { keptAside: _, ...saved } = await state.save(data, file, { signal, version });
      return saved;
    },
  }),
  declareRoute({
    method: "get",
    path: "/skills",
    operationId: "listSkills",
    summary: "List skills and proposals",
    input: {},
    answer: SkillList,
    answerDescription: "By name.",
    async handle(_, { client }, signal) {
      const all = await skillsOf(client).list({ tools: await toolsOf(client, signal) });
      return shown({ skills: all.map(({ provenance: _provenance, ...skill }) => skill) }, client);
    },
  }),
  declareRoute({
    method: "get",
    path: "/skills/{name}",
    operationId: "getSkill",
    summary: "Read a skill",
    input: { params: z.object({ name: z.string() }) },
    answer: SkillDetails,
    answerDescription: "The skill with its code and its test.",
    async handle({ params: { name } }, { client }, signal) {
      const tools = await toolsOf(client, signal);
      const { provenance: _, ...skill } = await skillsOf(client).get(name, { tools });
      return shown(skill, client);
    },
  }),
];

/** Data of before, with tokens in place of values. */
export async function shown<Data>(data: Data, { redactor, session }: ServedClient): Promise<Data> {
  await redactor?.recognize?.(data, { session });
  return redactor?.tokenize(data, { session }) ?? data;
}

function stateOf({ state }: ServedClient): NonNullable<ServedClient["state"]> {
  if (state !== undefined) return state;
  throw new CemError("STATE_DISABLED", "State is disabled here. Files in /workspace outlive a run too.");
}

function skillsOf({ skills }: ServedClient): NonNullable<ServedClient["skills"]> {
  if (skills !== undefined) return skills;
  throw new CemError("SKILLS_DISABLED", "There are no skills here.");
}

async function toolsOf({ agent }: ServedClient, signal: AbortSignal) {
  const { servers } = await agent.discoverTools({ signal });
  return servers.flatMap(({ tools }) => tools);
}

function toolOf(tool: ToolDefinition): Tool {
  const { server, name, description, signature, module, annotations, unavailable, flags = [] } = tool;
  return {
    server,
    name,
    description,
    signature,
    module,
    readOnly: annotations?.readOnlyHint === true,
    ...(unavailable !== undefined && { unavailable: unavailable.message }),
    warnings: flags.map(({ rule, place }) => `${rule} in ${place}`),
  };
}

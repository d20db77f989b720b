import { CemError, restoreTokens } from "@cem/core";
import type { JsonValue } from "@cem/core";
import * as z from "zod";
import { declareRoute } from "./api-route.ts";
import type { ConsoleClient } from "./ports.ts";
import { SavedState, SaveState, SkillDetails, SkillList, State, StateQuery } from "./schemas.ts";

/** What outlives a run: state and skills. Values of persons in it are shown as tokens. */
export const KEEPING_ROUTES = [
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
export async function shown<Data>(data: Data, { redactor, session }: ConsoleClient): Promise<Data> {
  await redactor?.recognize?.(data, { session });
  return redactor?.tokenize(data, { session }) ?? data;
}

function stateOf({ state }: ConsoleClient): NonNullable<ConsoleClient["state"]> {
  if (state !== undefined) return state;
  throw new CemError("STATE_DISABLED", "State is disabled here. Files in /workspace outlive a run too.");
}

function skillsOf({ skills }: ConsoleClient): NonNullable<ConsoleClient["skills"]> {
  if (skills !== undefined) return skills;
  throw new CemError("SKILLS_DISABLED", "There are no skills here.");
}

async function toolsOf({ agent }: ConsoleClient, signal: AbortSignal) {
  const { servers } = await agent.discoverTools({ signal });
  return servers.flatMap(({ tools }) => tools);
}

import { CemError, restoreTokens } from "@cem/core";
import type { JsonObject, JsonValue, SkillDraft, SkillStore, StateStore } from "@cem/core";
import { MAX_SKILL_CHARACTERS } from "../limits.ts";
import { READ_ONLY, answerValue, declareTool, sessionOf, text, type ServedParts } from "./server-tool.ts";

const OBJECT = { type: "object" } as const;

const getState = declareTool<{ state_file?: string | undefined }>({
  name: "get_state",
  title: "Get state",
  profiles: ["full", "original"],
  description:
    "Read state that outlives a run: /workspace/state.json, or another .json, .yaml or .msgpack there.",
  input: { type: "object", properties: { state_file: text } },
  output: {
    type: "object",
    properties: { exists: { type: "boolean" }, data: {}, version: text },
    required: ["exists", "data"],
  },
  annotations: READ_ONLY,
  async handle({ state_file: file }, host, { mcpReq: { signal } }) {
    return answerValue(await stateOf(host).read(file, { signal }));
  },
});

const saveState = declareTool<{
  state_data: JsonValue;
  state_file?: string | undefined;
  version?: string | undefined;
}>({
  name: "save_state",
  title: "Save state",
  profiles: ["full", "original"],
  description: "Replace that state; given a version, keys that others changed since are kept.",
  input: {
    type: "object",
    properties: { state_data: OBJECT, state_file: text, version: text },
    required: ["state_data"],
  },
  output: {
    type: "object",
    properties: { success: { type: "boolean" }, file: text, version: text, merged: { type: "boolean" } },
    required: ["success", "file"],
  },
  annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
  async handle({ state_data: data, state_file: file, version }, { state, redactor }, context) {
    const { signal } = context.mcpReq;
    const { session } = sessionOf(context);
    const saved = await saveShownState({ state, redactor, session }, data, { file, version, signal });
    return answerValue({ success: true, ...saved });
  },
});

/** Saves state that a client has edited, with tokens replaced by their values. */
export async function saveShownState(
  owner: Pick<ServedParts, "state" | "redactor"> & { session: string | undefined },
  shown: JsonValue,
  { file, version, signal }: { file?: string | undefined; version?: string | undefined; signal: AbortSignal },
): ReturnType<StateStore["save"]> {
  const { redactor, session } = owner;
  const state = stateOf(owner);
  const current = async (): Promise<JsonValue> => (await state.read(file, { signal })).data;
  const data = await restoreTokens(shown, { redactor, session, current });
  return state.save(data, file, { signal, version });
}

/** @throws CemError `STATE_DISABLED` */
export function stateOf({ state }: Pick<ServedParts, "state">): StateStore {
  if (state !== undefined) return state;
  throw new CemError("STATE_DISABLED", "State is disabled here. Files in /workspace outlive a run too.");
}

const listSkills = declareTool<unknown>({
  name: "list_skills",
  title: "List skills",
  profiles: ["full"],
  needs: "skills",
  description: "Code kept from earlier work: names and what each does.",
  input: { type: "object", properties: {} },
  output: { type: "array", items: OBJECT },
  annotations: READ_ONLY,
  async handle(_input, host, { mcpReq: { signal } }) {
    const skills = await skillsOf(host).list({ tools: await toolsOf(host, signal) });
    return answerValue(
      skills.map(({ name, description, status, version, changedTools }) => ({
        name,
        description,
        status,
        version,
        ...(changedTools.length > 0 && { changedTools }),
      })),
    );
  },
});

const getSkill = declareTool<{ name: string }>({
  name: "get_skill",
  title: "Get a skill",
  profiles: ["full"],
  needs: "skills",
  description: 'One skill: how to use it, and its code, which code imports as "./skills/<name>/index.ts".',
  input: { type: "object", properties: { name: text }, required: ["name"] },
  output: OBJECT,
  annotations: READ_ONLY,
  async handle({ name }, host, { mcpReq: { signal } }) {
    const tools = await toolsOf(host, signal);
    try {
      return answerValue(withoutEmpty(await skillsOf(host).get(name, { tools })));
    } catch (error) {
      if (!CemError.isInstance(error) || error.code !== "SKILL_NOT_FOUND") throw error;
      // The error's own hint is a CLI command, which is of no use to a model.
      const text = `${error.message} list_skills lists those that there are.`;
      return { isError: true, content: [{ type: "text", text }] };
    }
  },
});

const saveSkill = declareTool<SkillDraft>({
  name: "save_skill",
  title: "Save a skill",
  profiles: ["full"],
  needs: "skills",
  description:
    'Propose code that worked as a skill. code exports functions, with types that are checked strictly; test is a program that imports "./skills/<name>/index.ts" and throws where it is wrong. A person promotes it.',
  input: {
    type: "object",
    properties: { name: text, description: text, code: text, test: text, instructions: text },
    required: ["name", "description", "code", "test"],
  },
  output: OBJECT,
  annotations: { destructiveHint: false, openWorldHint: false },
  maxCharacters: MAX_SKILL_CHARACTERS,
  async handle(draft, { agent }, { mcpReq: { signal } }) {
    const { name, status, version, tools } = await agent.saveSkill(draft, { author: "model", signal });
    return answerValue({ name, status, version, tools });
  },
});

export const STORED_TOOLS = [getState, saveState, listSkills, getSkill, saveSkill];

/** @throws CemError `SKILLS_DISABLED` */
export function skillsOf({ skills }: Pick<ServedParts, "skills">): SkillStore {
  if (skills !== undefined) return skills;
  throw new CemError("SKILLS_DISABLED", "There are no skills here.");
}

/** All tools, to compare skills with their definitions. */
export async function toolsOf({ agent }: Pick<ServedParts, "agent">, signal: AbortSignal) {
  const { servers } = await agent.discoverTools({ signal });
  return servers.flatMap(({ tools }) => tools);
}

/** Removes undefined members, as JSON does. */
function withoutEmpty(value: object): JsonObject {
  const entries = Object.entries(value).filter(([, one]) => one !== "" && one !== undefined);
  return JSON.parse(JSON.stringify(Object.fromEntries(entries))) as JsonObject;
}

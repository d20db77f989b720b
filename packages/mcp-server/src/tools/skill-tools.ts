import { CemError } from "@cem/core";
import type { JsonObject, SkillDraft, SkillStore } from "@cem/core";
import { MAX_SKILL_CHARACTERS } from "../limits.ts";
import { answerValue, declareTool, READ_ONLY, text } from "../server-tool.ts";
import type { ToolHost } from "../server-tool.ts";

const SUMMARY = { type: "object" } as const;

export const listSkills = declareTool<unknown>({
  name: "list_skills",
  title: "List skills",
  description: "Code kept from earlier work: names and what each does.",
  input: { type: "object", properties: {} },
  output: { type: "array", items: SUMMARY },
  annotations: READ_ONLY,
  async handle(_input, host, { mcpReq: { signal } }) {
    const skills = await storeOf(host).list({ tools: await toolsOf(host, signal) });
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

export const getSkill = declareTool<{ name: string }>({
  name: "get_skill",
  title: "Get a skill",
  description: 'One skill: how to use it, and its code, which code imports as "./skills/<name>/index.ts".',
  input: { type: "object", properties: { name: text }, required: ["name"] },
  output: SUMMARY,
  annotations: READ_ONLY,
  async handle({ name }, host, { mcpReq: { signal } }) {
    const skill = await storeOf(host).get(name, { tools: await toolsOf(host, signal) });
    return answerValue(withoutEmpty(skill));
  },
});

export const saveSkill = declareTool<SkillDraft>({
  name: "save_skill",
  title: "Save a skill",
  description:
    'Propose code that worked as a skill. code exports functions; test is a program that imports "./skills/<name>/index.ts" and throws where it is wrong. A person promotes it.',
  input: {
    type: "object",
    properties: { name: text, description: text, code: text, test: text, instructions: text },
    required: ["name", "description", "code", "test"],
  },
  output: SUMMARY,
  annotations: { destructiveHint: false, openWorldHint: false },
  maxCharacters: MAX_SKILL_CHARACTERS,
  async handle(draft, { agent }, { mcpReq: { signal } }) {
    const { name, status, version, tools } = await agent.saveSkill(draft, { author: "model", signal });
    return answerValue({ name, status, version, tools });
  },
});

function storeOf({ skills }: ToolHost): SkillStore {
  if (skills !== undefined) return skills;
  throw new CemError("SKILLS_DISABLED", "There are no skills here.");
}

async function toolsOf({ agent }: ToolHost, signal: AbortSignal) {
  const { servers } = await agent.discoverTools({ signal });
  return servers.flatMap(({ tools }) => tools);
}

/** As JSON leaves out what is undefined. */
function withoutEmpty(value: object): JsonObject {
  const entries = Object.entries(value).filter(([, one]) => one !== "" && one !== undefined);
  return JSON.parse(JSON.stringify(Object.fromEntries(entries))) as JsonObject;
}

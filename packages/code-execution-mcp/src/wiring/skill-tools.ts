import { defineTool } from "@cem/bridge/define-tool";
import type { HostTool } from "@cem/bridge/define-tool";
import type { Config } from "@cem/config";
import type { JsonSchema, SkillDraft } from "@cem/core";
import { createConfiguredSkills } from "./skills.ts";

const text = { type: "string" } as const;
const DRAFT: JsonSchema = {
  type: "object",
  properties: { name: text, description: text, code: text, test: text, instructions: text },
  required: ["name", "description", "code", "test"],
  additionalProperties: false,
};

/**
 * What `saveSkill` of the guest's client calls, under a name that no server has. Code in the sandbox only ever proposes,
 * and its proposal is tried when it is promoted, not while the code runs.
 */
export function skillTools(config: Config): Record<string, Record<string, HostTool>> {
  const propose = defineTool({
    description: "Propose a skill.",
    input: DRAFT,
    async execute(draft) {
      const store = await createConfiguredSkills(config);
      const { name, status, version } = await store.save(draft as unknown as SkillDraft, {
        author: "model",
        tools: [],
      });
      return { name, status, version };
    },
  });
  return { "cem:skills": { propose } };
}

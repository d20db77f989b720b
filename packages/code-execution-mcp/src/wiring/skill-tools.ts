import { defineTool } from "@cem/bridge/define-tool";
import type { HostTool } from "@cem/bridge/define-tool";
import type { JsonSchema, SkillDraft } from "@cem/core";
import type { LoadedFor } from "./customer.ts";
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
export function skillTools(loaded: LoadedFor): Record<string, Record<string, HostTool>> {
  const propose = defineTool({
    description: "Propose a skill.",
    input: DRAFT,
    async execute(draft) {
      const store = await createConfiguredSkills(loaded);
      const { name, status, version } = await store.save(draft as unknown as SkillDraft, {
        author: "model",
        tools: [],
      });
      return { name, status, version };
    },
  });
  return { "cem:skills": { propose } };
}

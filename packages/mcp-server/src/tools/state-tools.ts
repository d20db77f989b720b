import { CemError } from "@cem/core";
import type { JsonValue, StateStore } from "@cem/core";
import { answerValue, declareTool, READ_ONLY, text } from "../server-tool.ts";
import type { ToolHost } from "../server-tool.ts";

const OBJECT = { type: "object" } as const;

export const getState = declareTool<{ state_file?: string | undefined }>({
  name: "get_state",
  title: "Get state",
  description: "Read state that outlives a run: /workspace/state.json, or another .json file there.",
  input: { type: "object", properties: { state_file: text } },
  output: {
    type: "object",
    properties: { exists: { type: "boolean" }, data: {} },
    required: ["exists", "data"],
  },
  annotations: READ_ONLY,
  async handle({ state_file: file }, host, { mcpReq: { signal } }) {
    return answerValue(await storeOf(host).read(file, { signal }));
  },
});

export const saveState = declareTool<{ state_data: JsonValue; state_file?: string | undefined }>({
  name: "save_state",
  title: "Save state",
  description: "Replace that state.",
  input: { type: "object", properties: { state_data: OBJECT, state_file: text }, required: ["state_data"] },
  output: {
    type: "object",
    properties: { success: { type: "boolean" }, file: text },
    required: ["success", "file"],
  },
  annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
  async handle({ state_data: data, state_file: file }, host, { mcpReq: { signal } }) {
    const saved = await storeOf(host).save(data, file, { signal });
    return answerValue({ success: true, file: saved.file });
  },
});

function storeOf({ state }: ToolHost): StateStore {
  if (state !== undefined) return state;
  throw new CemError("STATE_DISABLED", "State is disabled here. Files in /workspace outlive a run too.");
}

import { CemError, restoreTokens } from "@cem/core";
import type { JsonValue, StateStore } from "@cem/core";
import { answerValue, declareTool, READ_ONLY, sessionOf, text } from "../server-tool.ts";
import type { ToolHost } from "../server-tool.ts";

const OBJECT = { type: "object" } as const;

export const getState = declareTool<{ state_file?: string | undefined }>({
  name: "get_state",
  title: "Get state",
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
    return answerValue(await storeOf(host).read(file, { signal }));
  },
});

export const saveState = declareTool<{
  state_data: JsonValue;
  state_file?: string | undefined;
  version?: string | undefined;
}>({
  name: "save_state",
  title: "Save state",
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
  async handle({ state_data: shown, state_file: file, version }, host, context) {
    const { signal } = context.mcpReq;
    const state = storeOf(host);
    const { redactor } = host;
    const { session } = sessionOf(context);
    const current = async (): Promise<JsonValue> => (await state.read(file, { signal })).data;
    const data = await restoreTokens(shown, { redactor, session, current });
    const saved = await state.save(data, file, { signal, version });
    return answerValue({ success: true, ...saved });
  },
});

function storeOf({ state }: ToolHost): StateStore {
  if (state !== undefined) return state;
  throw new CemError("STATE_DISABLED", "State is disabled here. Files in /workspace outlive a run too.");
}

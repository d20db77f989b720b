import type { JsonObject, JsonValue, ToolCall, WorkflowStepContext } from "@cem/core";
import { createRedactor } from "@cem/pii";
import { describe, expect, it } from "vitest";
import { createFormStepKind } from "./index.ts";
import { temporaryWorkspace } from "./testing/workspace.ts";

const FORM = {
  name: "booking",
  fields: [
    { name: "guest", label: "Guest", required: true, pii: "NAME" },
    { name: "mail", type: "email" },
    { name: "seats", type: "integer", default: 2 },
  ],
  target: { type: "tool", tool: "tables.book" },
};

/** A context whose tools get values in place of tokens, as guarded calls do. */
function contextWith({ canKeep = true, answer = {} }: { canKeep?: boolean; answer?: JsonObject } = {}) {
  const redactor = createRedactor();
  const got: JsonValue[] = [];
  const passed: ToolCall[] = [];
  const context: WorkflowStepContext = {
    step: "book",
    signal: new AbortController().signal,
    idempotencyKey: "k",
    folder: temporaryWorkspace(),
    variables: {},
    async callTool(call) {
      passed.push(call);
      got.push(await redactor.detokenize(call.args, { server: call.server, tool: call.tool }));
      return redactor.tokenize({ booked: "Ada Lovelace" }, {});
    },
    runCode: () => Promise.reject(new Error("no code is run")),
    ask: async () => ({ action: "accept", content: answer as Record<string, string> }),
    tokenize: async (data) => redactor.tokenize(data, {}),
    detokenize: (data, target) => redactor.detokenize(data, target),
    ...(canKeep && { keep: (value: string | number, type: string) => redactor.keep(value, type, {}) }),
    progress: () => undefined,
    log: () => undefined,
  };
  return { context, got, passed, redactor };
}

describe("the workflow step form", () => {
  const kind = createFormStepKind();

  it("fills a tool through the workflow, and returns tokens", async () => {
    const { context, got, passed, redactor } = contextWith();
    const mail = redactor.tokenize("ada@example.org", {});
    const result = await kind.run({ form: FORM, data: { guest: "Ada Lovelace", mail } }, context);
    expect(got).toEqual([{ guest: "Ada Lovelace", mail: "ada@example.org", seats: 2 }]);
    expect(JSON.stringify(passed)).not.toContain("Lovelace");
    expect(result).toMatchObject({ status: "success", submitted: true, values: { mail, seats: 2 } });
    expect(JSON.stringify(result)).not.toContain("Lovelace");
  });

  it("asks through the workflow, and keeps personal values out where nothing keeps them", async () => {
    const { context, got } = contextWith({ canKeep: false, answer: { guest: "Bob Lavender" } });
    const result = await kind.run({ form: FORM }, context);
    expect(got).toEqual([{ guest: "Bob Lavender", seats: 2 }]);
    expect(result).toMatchObject({ values: { guest: "[[NAME]]" } });
  });

  it("fails where the form can't be filled", async () => {
    const { context, got } = contextWith();
    await expect(
      kind.run({ form: FORM, data: { guest: "Ada", mail: "none" } }, context),
    ).rejects.toMatchObject({
      code: "FORM_NOT_FILLED",
      message: "The form booking is not filled: mail must be an email address.",
    });
    await expect(kind.run({ form: { name: "x" } }, context)).rejects.toMatchObject({ code: "FORM_INVALID" });
    await expect(kind.run({ file: "none.yaml" }, context)).rejects.toMatchObject({
      code: "FORM_INVALID",
      message: 'The form\'s file "none.yaml" needs a workspace folder to find the file in.',
    });
    expect(got).toEqual([]);
    const failing = { ...context, callTool: () => Promise.reject(new Error("tables are down")) };
    await expect(kind.run({ form: FORM, data: { guest: "Ada" } }, failing)).rejects.toThrow(
      "tables are down",
    );
  });
});

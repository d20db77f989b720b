import { PassThrough } from "node:stream";
import type { ElicitAnswer, ElicitRequest, JsonObject } from "@cem/core";
import { describe, expect, it } from "vitest";
import { createElicit } from "./ask/terminal-questions.ts";

const never = new AbortController().signal;

/** Asks a question and types lines as the prompts come; `undefined` ends the input. */
async function answer(
  question: Partial<ElicitRequest> & { requestedSchema?: JsonObject },
  typed: readonly (string | undefined)[],
): Promise<{ answer: ElicitAnswer; shown: string }> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  let shown = "";
  const left = [...typed];
  output.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
    if (!/[:\]?] $/.test(text)) return;
    const line = left.shift();
    if (line === undefined) input.end();
    else input.write(`${line}\n`);
  });
  const ask = createElicit({ input, output, interrupt: () => {} });
  const request = {
    server: "crm",
    message: "Who?",
    signal: never,
    mode: "form",
    requestedSchema: {},
    ...question,
  };
  return { answer: await ask(request as ElicitRequest), shown };
}

const form = {
  type: "object",
  properties: {
    name: { type: "string", title: "Name", minLength: 2 },
    age: { type: "integer", minimum: 0 },
    plan: { type: "string", enum: ["free", "pro"], enumNames: ["Free", "Professional"] },
    news: { type: "boolean", default: true },
    note: { type: "string" },
    tags: { type: "array", items: { enum: ["a", "b", "c"] } },
    days: { type: "array", items: { anyOf: [{ const: "mo", title: "Monday" }] }, default: ["mo"] },
  },
  required: ["name", "age", "plan", "tags"],
};

describe("createElicit", () => {
  it("asks field by field, and again for what is not valid", async () => {
    const lines = ["", "A", "Ada", "old", "36", "professional", "", "", "x", "a, 3", ""];
    const { answer: given, shown } = await answer({ requestedSchema: form }, lines);
    expect(given).toEqual({
      action: "accept",
      content: { name: "Ada", age: 36, plan: "pro", news: true, tags: ["a", "c"], days: ["mo"] },
    });
    expect(shown).toContain("crm asks: Who?");
    expect(shown).toContain("It must have at least 2 characters.");
    expect(shown).toContain("It must be a whole number.");
    expect(shown).toContain("1 Free, 2 Professional");
  });

  it("declines with no, and cancels when the input ends", async () => {
    expect((await answer({ requestedSchema: form }, ["no"])).answer).toEqual({ action: "decline" });
    expect((await answer({ requestedSchema: form }, ["yes", undefined])).answer).toEqual({
      action: "cancel",
    });
  });

  it("asks to open an address", async () => {
    const url = { mode: "url", url: "https://example.com/pay" } as const;
    const { answer: given, shown } = await answer(url, [""]);
    expect(given).toEqual({ action: "accept" });
    expect(shown).toContain("Open https://example.com/pay");
    expect((await answer(url, ["no"])).answer).toEqual({ action: "decline" });
  });

  it("shows nothing that could steer the terminal", async () => {
    const escape = "\u001B[2J";
    const requestedSchema = { properties: { a: { title: escape, description: escape, default: escape } } };
    const { shown } = await answer({ message: escape, server: escape, requestedSchema }, ["yes", "b"]);
    expect(shown).not.toContain("\u001B");
  });

  it("ends when the call does", async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const ended = new AbortController();
    const asked = createElicit({ input, output, interrupt: () => {} })({
      server: "crm",
      message: "Who?",
      mode: "form",
      requestedSchema: form,
      signal: ended.signal,
    });
    setTimeout(() => ended.abort(), 20);
    await expect(asked).rejects.toThrow("aborted");
  });
});

import type { ElicitAnswer, ElicitRequest, JsonObject } from "@cem/core";
import { describe, expect, it } from "vitest";
import { createElicit } from "./ask/terminal-questions.ts";
import { typing } from "./testing/typing.ts";

const never = new AbortController().signal;

/** Asks a question and types lines as the prompts come; `undefined` ends the input. */
async function answer(
  question: Partial<ElicitRequest> & { requestedSchema?: JsonObject },
  typed: readonly (string | undefined)[],
): Promise<{ answer: ElicitAnswer; shown: string }> {
  const { asking, shown } = typing(/[:\]?] $/, typed);
  const ask = createElicit(asking);
  const request = {
    server: "crm",
    message: "Who?",
    signal: never,
    mode: "form",
    requestedSchema: {},
    ...question,
  };
  return { answer: await ask(request as ElicitRequest), shown: shown() };
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
    expect(shown).toContain("    1 Free\n    2 Professional\n  plan: ");
  });

  it.each([
    ["y", "accept"],
    ["YES", "accept"],
    ["", "decline"],
    ["stop", "decline"],
    ["yonder", "decline"],
  ])("takes %j without fields for %s", async (typed, action) => {
    expect((await answer({}, [typed])).answer).toMatchObject({ action });
  });

  it("asks again whether to answer, for what is neither yes nor no", async () => {
    const url = { mode: "url", url: "https://example.com/pay" } as const;
    expect((await answer(url, ["cancel", "n"])).answer).toEqual({ action: "decline" });
    const requestedSchema = { properties: { note: { type: "string" } } };
    expect((await answer({ requestedSchema }, ["stop", "no"])).answer).toEqual({ action: "decline" });
  });

  it("holds answers to the formats and the number of items", async () => {
    const text = (format: string) => ({ type: "string", format });
    const tags = { type: "array", minItems: 2, maxItems: 2, items: { enum: ["a", "b", "c"] } };
    const properties = {
      mail: text("email"),
      day: text("date"),
      at: text("date-time"),
      site: text("uri"),
      tags,
    };
    const lines = ["", "not a mail", "a@b.example", "soon", "2026-01-31"];
    lines.push("2026-01-31", "2026-01-31T14:30:00+01:00", "nowhere", "mailto:a@b.example");
    lines.push("a", "1,2,3", "a,a", "a, 2");
    const requestedSchema = { properties, required: Object.keys(properties) };
    const { answer: given, shown } = await answer({ requestedSchema }, lines);
    expect(given).toEqual({
      action: "accept",
      content: {
        mail: "a@b.example",
        day: "2026-01-31",
        at: "2026-01-31T14:30:00+01:00",
        site: "mailto:a@b.example",
        tags: ["a", "b"],
      },
    });
    expect(shown.match(/It must be/g)).toHaveLength(7);
  });

  it("shows every choice, and says where it shortens a text", async () => {
    const choices = Array.from({ length: 60 }, (_, at) => `choice number ${at}`);
    const requestedSchema = {
      properties: { one: { type: "string", enum: choices, description: "long ".repeat(50) } },
    };
    const message = `${"M ".repeat(1_000)}and I delete it all. ${"M ".repeat(2_000)}`;
    const { shown } = await answer({ message, requestedSchema }, ["", ""]);
    expect(shown).toContain("and I delete it all.");
    expect(shown).toMatch(/ \(\d{4} more characters are not shown\)\n/u);
    expect(shown).toContain("long ".repeat(49));
    expect(shown).toContain("    60 choice number 59\n");
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
    const b = { enum: [escape] };
    const a = { title: escape, description: escape, default: escape };
    const question = { message: escape, server: escape, requestedSchema: { properties: { a, b } } };
    const { shown } = await answer(question, ["yes", "b", "c", ""]);
    expect(shown).not.toContain("\u001B");
  });

  it("ends when the call does", async () => {
    const ended = new AbortController();
    const asked = createElicit(typing(/never/).asking)({
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

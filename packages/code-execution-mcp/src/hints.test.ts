import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { SETTINGS, VARIABLES } from "@cem/config";
import { ERROR_CODES } from "@cem/core";
import type { ErrorDetails } from "@cem/core";
import { describe, expect, it } from "vitest";
import { hintFor, HINTS } from "./hints.ts";

const root = path.resolve(import.meta.dirname, "../../..");

/** Details as the failures give them, all at once. */
const DETAILS = {
  server: "crm",
  tool: "find",
  host: "0.0.0.0",
  maxTokens: 2_000,
  reason: "call-limit",
  variable: "OPENAI_API_KEY",
};
const SENTENCES = Object.keys(HINTS).flatMap((code) => hint(code, DETAILS) ?? []);

function hint(code: string, details: ErrorDetails = {}): string | undefined {
  return hintFor({ code, message: "", details });
}

describe("HINTS", () => {
  it("has an entry for every code", () => {
    expect(Object.keys(HINTS).toSorted()).toEqual(Object.keys(ERROR_CODES).toSorted());
  });

  it("knows every code that a source file gives an error", () => {
    const given =
      /(?:\bnew CemError\(|\b(?:make|fail|failed|failure|refused|unusable)\(|\bcode:|[?:]|=>)\s*(?:"[a-z]+",\s*)?"([A-Z]+(?:_[A-Z0-9]+)+)"\s*[,;:)}]/gu;
    const notOurs = /^(?:ERR_|UND_ERR_|E[A-Z]+$)/u;
    const variables = new Set(VARIABLES.map(({ name }) => name));
    const files = globSync(["packages/*/src/**/*.ts", "apps/*/src/**/*.ts"], { cwd: root });
    const unknown = files
      .filter((file) => !/\.test\.ts$|\/(?:testing|contract)\//u.test(file))
      .map((file) => ({ file, text: readFileSync(path.join(root, file), "utf8") }))
      .filter(({ text }) => /\b(?:CemError|ErrorInfo|toErrorInfo)\b/u.test(text))
      .flatMap(({ file, text }) => [...text.matchAll(given)].map(([, code = ""]) => ({ file, code })))
      .filter(({ code }) => !notOurs.test(code) && !variables.has(code) && !Object.hasOwn(ERROR_CODES, code));
    expect(files.length).toBeGreaterThan(300);
    expect(unknown).toEqual([]);
  });

  it("names settings and variables that there are", () => {
    const settings = new Set(SETTINGS.map((setting) => setting.path));
    const sections = new Set(SETTINGS.map((setting) => setting.path.split(".")[0]));
    const variables = new Set(VARIABLES.map(({ name }) => name));
    for (const sentence of SENTENCES) {
      for (const [named = "", section] of sentence.matchAll(/\b([a-z_]+)(?:\.[a-z_]+)+\b/gu)) {
        if (sections.has(section)) expect({ sentence, exists: settings.has(named) }).toMatchObject({ exists: true });
      }
      for (const [named] of sentence.matchAll(/\b[A-Z]+(?:_[A-Z]+)+\b/gu)) {
        expect({ sentence, named, exists: variables.has(named) }).toMatchObject({ exists: true });
      }
    }
    expect(SENTENCES.join("\n").match(/\b(?:execution|guardrails|llm|logging|server)\.[a-z_]+/gu)).not.toBeNull();
  });
});

describe("hintFor", () => {
  it.each([
    ["RUN_TIMED_OUT", { limitMs: 1_000 }, "Allow more with guardrails.max_execution_time, or do less at once."],
    ["RUN_KILLED", { reason: "write-limit" }, "Allow more with execution.limits.max_write_mb."],
    ["RUN_KILLED", { reason: "crashed" }, undefined],
    ["AUTH_REQUIRED", { server: "github" }, "Sign in with  cem auth github"],
    ["AUTH_REQUIRED", {}, undefined],
    ["SERVER_EXISTS", { server: "my crm" }, "Take it out first with  cem remove 'my crm'  or choose another name."],
    ["SERVER_NOT_FOUND", { server: "crm", known: ["crn"] }, undefined],
    ["VARIABLE_MISSING", { variable: "A" }, "Set A in the environment or in .env, or write ${A:-default} in its place."],
    ["LLM_KEY_MISSING", { variable: "OPENAI_API_KEY" }, "Set OPENAI_API_KEY or llm.api_key."],
    ["CODE_THREW", {}, undefined],
    ["A_PLUGINS_OWN", { server: "crm" }, undefined],
    ["constructor", {}, undefined],
  ])("says what helps against %s with %j", (code, details, sentence) => {
    expect(hint(code, details)).toBe(sentence);
  });

  it("says what makes a tool that fits callable, once each", () => {
    const unavailable = { code: "TOOL_CHANGED", message: "", details: { server: "odd" } };
    const steps = [{ unavailable }, { unavailable }, { unavailable: { code: "SERVER_DOWN", details: {} } }];
    expect(hint("NO_TOOL", { steps })).toBe(
      "See the difference with  cem generate odd  and accept it with  cem generate odd --accept\nSee how it stands now with  cem servers",
    );
    expect(hint("ARGUMENT_MISSING", { steps: [null, 1, { unavailable: "x" }] })).toBeUndefined();
    expect(hint("NO_TOOL", { steps: "none" })).toContain("cem add");
  });
});

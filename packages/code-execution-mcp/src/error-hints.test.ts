import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { SETTINGS, VARIABLES } from "@cem/config";
import { PII_TYPES } from "@cem/pii";
import type { ErrorDetails } from "@cem/core";
import { ERRORS, hintFor, hintForAgent } from "@cem/core/errors";
import { describe, expect, it } from "vitest";

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
const SENTENCES = Object.keys(ERRORS).flatMap((code) => hint(code, DETAILS) ?? []);

function sources(): { file: string; text: string }[] {
  return globSync(["packages/*/src/**/*.ts", "apps/*/src/**/*.ts"], { cwd: root })
    .filter((file) => !/\.test\.ts$|\/(?:testing|contract)\//u.test(file))
    .map((file) => ({ file, text: readFileSync(path.join(root, file), "utf8") }));
}

function isVariable(name: string): boolean {
  return VARIABLES.some((variable) => variable.name === name);
}

function isTypeOfValue(name: string): boolean {
  return PII_TYPES.some((type) => type === name);
}

function hint(code: string, details: ErrorDetails = {}): string | undefined {
  return hintFor({ code, message: "", details });
}

describe("ERRORS", () => {
  it("knows every code that a source file gives an error", () => {
    const given = /(?:[(,:?]|=>)\s*"([A-Z]+(?:_[A-Z0-9]+)+)"/gu;
    /** Of Node and undici, and variables of the system. */
    const notOurs = /^(?:ERR|UND_ERR|EAI|XDG)_/u;
    const files = sources();
    const unknown = files
      .flatMap(({ file, text }) => [...text.matchAll(given)].map(([, code = ""]) => ({ file, code })))
      .filter(
        ({ code }) =>
          !notOurs.test(code) && !isVariable(code) && !isTypeOfValue(code) && !Object.hasOwn(ERRORS, code),
      );
    expect(files.length).toBeGreaterThan(300);
    expect(unknown).toEqual([]);
  });

  it("has no code that nothing gives", () => {
    const text = sources()
      .filter(({ file }) => !file.startsWith("packages/core/src/errors/"))
      .map((source) => source.text)
      .join("\n");
    expect(Object.keys(ERRORS).filter((code) => !text.includes(`"${code}"`))).toEqual([]);
  });

  it("names settings and variables that there are", () => {
    const settings = new Set(SETTINGS.map((setting) => setting.path));
    const sections = new Set([...settings].map((setting) => setting.split(".")[0]));
    const names = SENTENCES.flatMap((sentence) => sentence.match(/\b[a-z]+(?:\.[a-z_]+)+\b/gu) ?? []);
    const named = names.filter((name) => sections.has(name.split(".")[0]));
    expect(named.length).toBeGreaterThan(15);
    expect(named.filter((name) => !settings.has(name))).toEqual([]);
    const variables = SENTENCES.flatMap((sentence) => sentence.match(/\b[A-Z]+(?:_[A-Z]+)+\b/gu) ?? []);
    expect(variables.length).toBeGreaterThan(3);
    expect(variables.filter((name) => !isVariable(name))).toEqual([]);
  });
});

describe("hintFor", () => {
  it.each([
    [
      "RUN_TIMED_OUT",
      { limitMs: 1_000 },
      "Allow more with guardrails.max_execution_time, or do less at once.",
    ],
    ["RUN_KILLED", { reason: "write-limit" }, "Allow more with execution.limits.max_write_mb."],
    ["RUN_KILLED", { reason: "crashed" }, undefined],
    [
      "SKILL_REFUSED",
      { failure: { code: "RUN_TIMED_OUT", details: { limitMs: 1_000 } } },
      "Allow more with guardrails.max_execution_time, or do less at once.",
    ],
    ["SKILL_REFUSED", { failure: null }, undefined],
    ["AUTH_REQUIRED", { server: "github" }, "Sign in with  cem auth github"],
    [
      "AUTH_REQUIRED",
      { server: "github", customer: "user_1" },
      "Sign in with  cem auth github --customer user_1",
    ],
    ["AUTH_REQUIRED", {}, undefined],
    [
      "AUTH_REQUIRED",
      { server: "crm", setting: "headers" },
      "If it takes a key, set it in the headers of crm under mcp_servers, as in  Authorization: Bearer ${TOKEN}",
    ],
    [
      "AUTH_FAILED",
      { server: "crm", setting: "auth.client_id", redirectUrl: "http://127.0.0.1:9/callback" },
      "Register an app there by hand, with the redirect URL http://127.0.0.1:9/callback, and set auth.client_id and auth.callback_port of crm under mcp_servers, and auth.client_secret if you get one.",
    ],
    [
      "AUTH_REQUIRED",
      { server: "github", setting: "headers.Authorization" },
      "Correct headers.Authorization of github under mcp_servers.",
    ],
    [
      "SERVER_EXISTS",
      { server: "my crm" },
      "Take it out first with  cem remove 'my crm'  or choose another name.",
    ],
    ["SERVER_NOT_FOUND", { server: "crm", known: ["crn"] }, undefined],
    [
      "VARIABLE_MISSING",
      { variable: "A" },
      "Set A in the environment or in .env, or write ${A:-default} in its place.",
    ],
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
    expect(hint("ARGUMENT_MISSING", { steps: [null, 1, { unavailable: "x" }] })).toContain("cem exec");
    expect(hint("NO_TOOL", { steps: "none" })).toContain("cem add");
  });

  it("speaks of no command to an agent whose task was refused, and begins a program for it", () => {
    const forAgent = (code: string, details: object) =>
      hintForAgent({ code, message: "", details: { ...details } });
    for (const code of ["TASK_NOT_UNDERSTOOD", "ARGUMENT_MISSING", "NO_TOOL"]) {
      const steps = [{ tool: "git.git_log", reason: "not-understood" }];
      const begun =
        code === "ARGUMENT_MISSING" ? "begin with: return await git_log({ … });" : "search_tools.";
      expect(forAgent(code, { steps })).toMatch(/^Write it for execute_code; /u);
      expect(forAgent(code, { steps })).toContain(begun);
      for (const odd of [{}, { steps: null }, { steps: [null] }, { steps: [{ tool: 7 }] }])
        expect(forAgent(code, odd)).toMatch(/^(?!.*\bcem\b).*search_tools/u);
    }
    const unavailable = { code: "SERVER_DOWN", message: "", details: { server: "odd" } };
    expect(forAgent("NO_TOOL", { steps: [{ unavailable }] })).toContain("cem servers");
    expect(forAgent("LLM_UNREACHABLE", {})).toContain("llm.base_url");
    const denied = { name: "NotCapable", message: "The sandbox has no network access to a.example." };
    expect(hint("CODE_THREW", denied)).toContain("execution.allow_network_access");
    expect(forAgent("CODE_THREW", denied)).toBeUndefined();
  });

  it("says what helps against the failure of a tool that the code did not catch", () => {
    const toolError = { code: "AUTH_REQUIRED", message: "", details: { server: "crm" } };
    expect(hint("CODE_THREW", { toolError })).toBe("Sign in with  cem auth crm");
    for (const message of ["EACCES: permission denied, open 'a'", "Permission denied (os error 13): a"]) {
      expect(hint("CODE_THREW", { name: "Error", message })).toContain("--workspace");
    }
    expect(hint("CODE_THREW", { name: "Error", message: "The sandbox can't read it." })).toBeUndefined();
    expect(hint("CODE_THREW", { toolError: "x" })).toBeUndefined();
  });
});

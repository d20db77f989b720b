import type { ToolDefinition } from "@cem/core";
import { describe, expect, it } from "vitest";
import { createGuard } from "./guard.ts";

function tool(server: string, name: string, kind: "local" | "skill" = "local"): ToolDefinition {
  const folder = kind === "skill" ? "skills" : "servers";
  return {
    server,
    name,
    kind,
    description: "",
    inputSchema: {},
    callStyle: "object",
    signature: `${name}(): Promise<unknown>`,
    module: `./${folder}/${server}/index.ts`,
  };
}

const tools = [tool("weather", "get_weather"), tool("double_number", "double_number", "skill")];

describe("createGuard", () => {
  describe("review", () => {
    it.each([
      'import { get_weather } from "./servers/weather/index.ts";\nexport default await get_weather({});',
      'import { double_number } from "/workspace/skills/double_number/index.ts"; return double_number(2);',
      'import { readFile } from "node:fs/promises";\nimport * as path from "node:path";',
      'import { x } from "./copies/./servers/none/index.ts";',
      'import data from "./data.json" with { type: "json" }; import { x } from "../workspace/x.ts";',
      'import type { Anything } from "some-package";',
      'const text = "rm -rf / and eval(1) and Deno.Command and /etc/passwd"; // new Function()',
      "const registry = { eval: 1 }; registry.eval; class Deno {}",
    ])("lets %j through without a finding", async (code) => {
      await expect(createGuard({ strict: true }).review({ code, tools })).resolves.toEqual({
        allowed: true,
        findings: [],
      });
    });

    it("names the calls that need a yes, with the arguments that the code states", async () => {
      const asking = tools.map((one): ToolDefinition => ({
        ...one,
        originalName: "get-weather",
        needsApproval: true,
      }));
      const code = `import { get_weather as get } from "./servers/weather/index.ts";
        await get({ city: "Oslo", days: [1, null], "a b": { c: true } });
        for (const city of ["Rome"]) await get({ city });
        const place = "Oslo", given = { city: place, days: [1, null], "a b": { c: true } };
        await get(given);
        let city = place;
        city += "!";
        await get({ city });`;
      const named = { server: "weather", tool: "get-weather" };
      const { needsApproval } = await createGuard().review({ code, tools: asking });
      const args = { city: "Oslo", days: [1, null], "a b": { c: true } };
      expect(needsApproval).toEqual([{ ...named, args }, named]);
    });

    it.each([
      [["double_number.*", "weather.*"], undefined],
      [
        ["double_number.*"],
        "double_number.double_number may not be called: it uses weather.get_weather, and it is",
      ],
      [["weather.*"], "double_number.double_number may not be called: it is not among the tools of this run"],
    ])("holds a skill to the tools of a run, which it uses itself: %j", async (allowedTools, message) => {
      const code =
        'import { double_number } from "./skills/double_number/index.ts"; return double_number(2);';
      for (const uses of [["weather.get_weather"], ["weather.*"]]) {
        const withUses = tools.map((one) => (one.kind === "skill" ? { ...one, uses } : one));
        const { findings } = await createGuard().review({ code, tools: withUses, allowedTools });
        expect(findings[0]?.message ?? "").toContain(message ?? "");
        expect(findings).toHaveLength(message === undefined ? 0 : 1);
      }
    });

    it("says how a server is imported whose name alone is written", async () => {
      for (const from of ["weather", "@mcp/weather.ts"]) {
        const { findings } = await createGuard().review({ code: `import { a } from "${from}";`, tools });
        expect(findings).toMatchObject([{ hint: 'Write "./servers/weather/index.ts".' }]);
      }
    });

    it.each([
      ['import x from "lodash";', "no-packages", '"lodash" can\'t be imported.'],
      ['import { a } from "../servers/x/index.ts";', "no-packages", "programs stand beside servers/"],
      ['await import("@/servers/x");', "no-packages", '"@/servers/x" can\'t be imported'],
      ['import x from "npm:lodash";', "no-packages", '"npm:lodash" can\'t be imported.'],
      ['await import("https://example.com/x.ts");', "no-packages", '"https://example.com/x.ts"'],
      ['await import("data:text/javascript,1");', "code-from-text", "can't be imported from text"],
      ['await import(`${"node:child"}_process`);', "process-module", "node:child_process can't be used"],
      ['const m = require("child" + "_process");', "process-module", "child_process can't be used"],
      [
        'import { createRequire } from "node:module"; createRequire(import.meta.url)("child_process");',
        "process-module",
        "child_process can't be used",
      ],
      [
        'import module from "module"; const load = module.createRequire("/x"); load("node:cluster");',
        "process-module",
        "node:cluster can't be used",
      ],
      ['module.require("child_process");', "process-module", "child_process can't be used"],
      ['import vm from "node:vm";', "code-from-text", "node:vm makes code from text"],
      ['import { Worker } from "worker_threads";', "process-module", "worker_threads can't be used"],
      ['await import("blob:https://x/1");', "code-from-text", "can't be imported from text"],
      ['import { exec } from "node:child_process";', "process-module", "node:child_process can't be used"],
      ['import { exec } from "child_process";', "process-module", "child_process can't be used"],
      ['import x from "node:cluster";', "process-module", "node:cluster can't be used"],
      ['import x from "node:inspector";', "process-module", "node:inspector can't be used"],
      ['import x from "node:inspector/promises";', "process-module", "can't be used"],
      ['import { x } from "./servers/wether/index.ts";', "unknown-server", "Did you mean weather?"],
      ['export * from "./skills/double_numbr/index.ts";', "unknown-skill", "Did you mean double_number?"],
      // A skill is no server, nor a server a skill.
      [
        'import { x } from "./servers/double_number/index.ts";',
        "unknown-server",
        'There is no server "double_number" with usable tools.',
      ],
      [
        'import { x } from "file:///workspace/skills/weather/index.ts";',
        "unknown-skill",
        'There is no skill "weather" with usable tools.',
      ],
    ])("refuses %s", async (code, rule, message) => {
      const verdict = await createGuard().review({ code: `\n${code}`, tools });
      expect(verdict).toMatchObject({ allowed: false, findings: [{ rule, severity: "error", line: 2 }] });
      expect(verdict.findings[0]?.message).toContain(message);
    });

    it("says of a skill that is not there that a saved one waits for a person", async () => {
      const { findings } = await createGuard().review({
        code: 'import { x } from "./skills/tri/index.ts";',
        tools,
      });
      expect(findings).toMatchObject([
        { rule: "unknown-skill", hint: "One that code saved is a proposal until a person approves it." },
      ]);
    });

    it("names all where no name is near, if they are few", async () => {
      const missing = async (servers: string[]) => {
        const { findings } = await createGuard().review({
          code: 'import { x } from "./servers/zzzzzzzz/index.ts";',
          tools: servers.map((server) => tool(server, "a")),
        });
        return findings[0]?.message;
      };
      const none = 'There is no server "zzzzzzzz" with usable tools.';
      expect(await missing(["weather", "crm"])).toBe(`${none} There are crm, weather.`);
      expect(await missing([])).toBe(none);
      expect(await missing(Array.from({ length: 20 }, (_, number) => `s${number}`))).toBe(none);
    });

    it("suggests every name that is near", async () => {
      const verdict = await createGuard().review({
        code: 'import { x } from "./servers/weathr/index.ts";',
        tools: [tool("weathers", "a"), tool("weather", "b")],
      });
      expect(verdict.findings[0]?.message).toMatch(/Did you mean weathers? or weathers?\?$/);
    });

    it("refuses blocked patterns, as expressions or as text, and names the line", async () => {
      const guard = createGuard({ blockedPatterns: ["drop\\s+table", "secret(", "never"] });
      const verdict = await guard.review({
        code: "// one\nconst sql = 'DROP  TABLE users';\nsecret(1);",
        tools,
      });
      expect(verdict).toEqual({
        allowed: false,
        findings: [
          {
            rule: "blocked-pattern",
            severity: "error",
            line: 2,
            message: 'The code matches "drop\\\\s+table", which is blocked here.',
          },
          {
            rule: "blocked-pattern",
            severity: "error",
            line: 3,
            message: 'The code matches "secret(", which is blocked here.',
          },
        ],
      });
    });

    it("matches a pattern that is text literally, in upper and lower case", async () => {
      const guard = createGuard({ blockedPatterns: ["a.b*c("] });
      await expect(guard.review({ code: "axbc(1)", tools })).resolves.toMatchObject({ allowed: true });
      await expect(guard.review({ code: "// A.b*c(", tools })).resolves.toMatchObject({ allowed: false });
    });

    it("does not look at code after its signal is aborted", async () => {
      const request = { code: "1", tools, signal: AbortSignal.abort() };
      await expect(createGuard().review(request)).rejects.toMatchObject({ name: "AbortError" });
    });

    it("ends when code makes a pattern backtrack, and refuses the code", async () => {
      const guard = createGuard({ blockedPatterns: ["(a+)+$"] });
      const verdict = await guard.review({ code: `${"a".repeat(40)}!`, tools });
      expect(verdict.allowed).toBe(false);
      expect(verdict.findings[0]?.message).toContain("nested repetition");
    });

    it.each([
      ["const = ;", 1, 7, "Unexpected token"],
      ["const a = 1;\nconst a = 2;", 2, 7, "Identifier 'a' has already been declared."],
      ...[
        "const users = 1;",
        "const { list: [users] } = {};",
        "async function users() {}",
        "class users {}",
        "enum users { A }",
      ].map((declared): [string, number, number, string] => [
        `import { users } from "./servers/crm/index.ts";\n${declared}`,
        2,
        1,
        "'users' has already been declared: it is imported. Give this one another name.",
      ]),
      ["const a = 1;\n  export = a;", 2, 3, "`export =` is not allowed in ES modules."],
    ])("refuses %j as a syntax error, with its place", async (code, line, column, message) => {
      const { allowed, findings, syntaxError } = await createGuard().review({ code, tools });
      expect(allowed).toBe(false);
      expect(findings).toMatchObject([{ rule: "syntax-error", severity: "error", line, column }]);
      expect(findings[0]?.message).toContain(`The code is not valid TypeScript: ${message}`);
      expect(syntaxError).toMatchObject({ name: "SyntaxError", line, column });
      expect(syntaxError?.message).toContain(message);
    });

    it("tells a syntax error without a place where the code can't be read that far", async () => {
      const code = "[".repeat(200_000);
      const { findings, syntaxError } = await createGuard().review({ code, tools });
      expect(findings).toEqual([
        {
          rule: "syntax-error",
          severity: "error",
          message: "The code is not valid TypeScript: The program is nested too deeply.",
        },
      ]);
      expect(syntaxError).toMatchObject({ message: "The program is nested too deeply." });
    });

    it("refuses blocked code for what it is, also where it has a syntax error", async () => {
      const guard = createGuard({ blockedPatterns: ["secret"] });
      const { findings, syntaxError } = await guard.review({ code: "const secret = ;", tools });
      expect(findings.map(({ rule }) => rule)).toEqual(["blocked-pattern", "syntax-error"]);
      expect(syntaxError).toBeUndefined();
    });
  });

  describe("inspect", () => {
    const asked: string[] = [];
    const guard = createGuard({
      findOrders: (text) => {
        asked.push(text);
        return text.includes("curl") ? ["sends", "sends"] : [];
      },
    });

    it("looks through the value at any depth, its keys and the output, and skips what gives no orders", async () => {
      asked.length = 0;
      const value = { "ignore this": [1, null, true, { deep: ["now run curl", "nothing"] }] };
      expect(await guard.inspect?.(value, "the system said so")).toEqual(["sends"]);
      expect(asked.toSorted()).toEqual(["ignore this", "now run curl", "the system said so"]);
      expect(await guard.inspect?.(undefined, "")).toEqual([]);
    });

    it("looks at a beginning of what is long", async () => {
      const long = "x".repeat(300_000);
      expect(await guard.inspect?.(`${long} curl`, `${long} curl`)).toEqual([]);
      expect(await guard.inspect?.(`curl ${long}`, "")).toEqual(["sends"]);
    });

    it("is not there where nothing is looked for", () => {
      expect(createGuard()).not.toHaveProperty("inspect");
    });
  });

  describe("a review that holds calls to tools", () => {
    it("lets a skill pass that uses a tool of the host, which is checked when it is called", async () => {
      const host = { ...tool("mail", "send"), kind: "host" as const };
      const skill = { ...tool("notify", "notify", "skill"), uses: ["mail.send"] };
      const code = 'import { notify } from "./skills/notify/index.ts"; return notify({});';
      const request = { code, tools: [host, skill], allowedTools: ["notify.*"] };
      expect(await createGuard().review(request)).toEqual({ allowed: true, findings: [] });
    });
  });
});

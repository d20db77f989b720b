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

    it.each([
      ['import x from "lodash";', "no-packages", "node:"],
      ['import x from "npm:lodash";', "no-packages", "npm:lodash"],
      ['await import("https://example.com/x.ts");', "no-packages", "https://example.com/x.ts"],
      ['await import("data:text/javascript,1");', "code-from-text", "from text"],
      ['import { exec } from "node:child_process";', "process-module", "processes"],
      ['import { x } from "./servers/wether/index.ts";', "unknown-server", "Did you mean weather?"],
      ['export * from "./skills/double_numbr/index.ts";', "unknown-skill", "Did you mean double_number?"],
    ])("refuses %s", async (code, rule, message) => {
      const verdict = await createGuard().review({ code: `\n${code}`, tools });
      expect(verdict).toMatchObject({ allowed: false, findings: [{ rule, severity: "error", line: 2 }] });
      expect(verdict.findings[0]?.message).toContain(message);
    });

    it.each(["eval('1')", "new Function('return 1')()", 'new Deno["Command"]("ls")', "Deno.dlopen('x', {})"])(
      "warns of %s, and refuses it when strict",
      async (code) => {
        const lenient = await createGuard().review({ code, tools });
        expect(lenient.allowed).toBe(true);
        expect(lenient.findings).toMatchObject([{ severity: "warning", line: 1 }]);
        await expect(createGuard({ strict: true }).review({ code, tools })).resolves.toMatchObject({
          allowed: false,
        });
        await expect(createGuard({ securityChecks: false }).review({ code, tools })).resolves.toEqual({
          allowed: true,
          findings: [],
        });
      },
    );

    it("refuses blocked patterns, read as expressions or as text, and names the line", async () => {
      const guard = createGuard({ blockedPatterns: ["drop\\s+table", "secret("] });
      const verdict = await guard.review({
        code: "// one\nconst sql = 'DROP  TABLE users';\nsecret(1);",
        tools,
      });
      expect(verdict.allowed).toBe(false);
      expect(verdict.findings.map(({ rule, line }) => [rule, line])).toEqual([
        ["blocked-pattern", 2],
        ["blocked-pattern", 3],
      ]);
    });

    it("ends when code makes a pattern backtrack, and refuses the code", async () => {
      const guard = createGuard({ blockedPatterns: ["(a+)+$"] });
      const verdict = await guard.review({ code: `${"a".repeat(40)}!`, tools });
      expect(verdict.allowed).toBe(false);
      expect(verdict.findings[0]?.message).toContain("nested repetition");
    });

    it("leaves code that does not parse to the run, which has the place", async () => {
      await expect(createGuard().review({ code: "const = ;", tools })).resolves.toMatchObject({
        allowed: true,
      });
    });
  });
});

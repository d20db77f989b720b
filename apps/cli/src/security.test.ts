import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { ISOLATION_LEVELS } from "@cem/core";
import type { Check } from "./doctor/checks.ts";
import { NOT_HELD } from "./doctor/security.ts";
import { runCem, temporaryFolder } from "./testing/run-cem.ts";

async function checksOf(
  files: Record<string, string>,
  env: Record<string, string> = {},
): Promise<Map<string, Check>> {
  const cwd = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(cwd, name)), { recursive: true });
    writeFileSync(path.join(cwd, name), text);
    chmodSync(path.join(cwd, name), 0o644);
  }
  const { stdout, code } = await runCem(["doctor", "--security", "--json"], { cwd, env });
  expect(code).toBe(0);
  const { checks } = JSON.parse(stdout) as { checks: Check[] };
  return new Map(checks.map((check) => [check.name, check]));
}

describe("cem doctor --security", () => {
  it.each(ISOLATION_LEVELS)("says what level %s does not hold, as the security model does", (level) => {
    const model = readFileSync(
      path.join(import.meta.dirname, "../../../docs/explanation/security-model.md"),
      "utf8",
    );
    const row = model.split("\n").find((line) => line.startsWith(`| \`${level}\``));
    expect(row?.split("|").at(-2)?.trim()).toBe(NOT_HELD[level]);
  });

  it("finds that the defaults hold, and who can call a server without a token", async () => {
    const checks = await checksOf({});
    const states = [...checks].filter(([, { state }]) => state !== "ok").map(([name]) => name);
    expect(states.filter((name) => name !== "isolation" && name !== "not yet")).toEqual(["serving"]);
    expect(checks.get("isolation")?.summary).toMatch(/^level (?:microvm|namespaces|permissions) /u);
    const { notes: held = [] } = checks.get("isolation") ?? {};
    // The protection that bubblewrap adds is no gap where it holds the guest.
    const isHeldByBubblewrap = held[0]?.includes("bubblewrap") === true;
    expect(isHeldByBubblewrap && held.join("\n").includes("bubblewrap:")).toBe(false);
    expect(checks.get("network")?.summary).toBe("code can't reach it");
    expect(checks.get("review")?.notes).toEqual([
      "Warnings refuse nothing: guardrails.strict_mode: true refuses on them too",
    ]);
    const withToken = await checksOf({}, { CEM_SERVER_TOKEN: "0123456789abcdef0123" });
    expect(withToken.get("serving")).toMatchObject({ state: "ok" });
  });

  it("finds what does not hold, and names the setting or the command that helps", async () => {
    const image = "mcp/github:latest";
    const files = {
      ".env": "CRM_TOKEN=sk-do-not-show\n",
      "config.yaml": JSON.stringify({
        llm: { api_key: "sk-do-not-show" },
        execution: {
          type_check: "off",
          allow_network_access: true,
          mount_directories: ["./data:/workspace/data:rw"],
        },
        guardrails: { enabled: false, changed_tools: "allow" },
        mcpServers: {
          github: { command: "docker", args: ["run", "-i", image], env: { API_KEY: "sk-do-not-show" } },
          crm: { url: "https://crm.example/mcp", headers: { Authorization: "Bearer ${CRM_TOKEN}" } },
        },
      }),
    };
    const checks = await checksOf(files, { CEM_TRUST_FOLDER: "1" });
    const told = (name: string, among = checks): string => {
      const { state, summary = "", notes = [] } = among.get(name) ?? {};
      return `${state} ${summary} ${notes.join(" ")}`;
    };
    const untrusted = await checksOf(files);
    expect(told("trust", untrusted)).toMatch(/6 of 6 things .*held back.*cem trust/u);
    for (const name of ["network", "review", "types"]) expect(told(name, untrusted)).toMatch(/^ok /u);
    expect(told("secrets")).toMatch(/^warning .*llm\.api_key stands in config\.yaml:1/u);
    expect(told("secrets")).toContain("mcp_servers.github.API_KEY stands in config.yaml:1");
    expect(told("secrets")).not.toContain("crm");
    expect(told("files")).toMatch(/^warning others can read .*config\.yaml.*\.env.*chmod go= config\.yaml/u);
    expect(told("network")).toMatch(/^warning code can reach everything.*guardrails\.allowed_networks/u);
    expect(told("mounts")).toMatch(/^warning code can change .*data/u);
    expect(told("review")).toMatch(/^warning off.*guardrails\.enabled/u);
    expect(told("types")).toMatch(/^warning not checked/u);
    expect(told("tools")).toMatch(/^warning .*guardrails\.changed_tools.*github runs mcp\/github:latest/u);
    expect(JSON.stringify([...checks])).not.toContain("sk-do-not-show");
  });
});

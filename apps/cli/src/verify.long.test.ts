import { readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, vi } from "vitest";
import { SAMPLES, temporaryFolder } from "./testing/run-cem.ts";
import { spawnCem } from "./testing/spawn-cem.ts";

/** Each starts the server four times, perhaps on a busy machine. */
vi.setConfig({ testTimeout: 180_000 });

interface Report {
  status: string;
  error: { message: string } | null;
  verified: { transport: string; protocol: string; error?: string; tools: Record<string, unknown>[] }[];
}

/** Runs the command in a folder whose types are not checked, which would load the compiler in each server. */
async function verify(
  config: string,
  args: string[],
): Promise<{ code: number | null; report: Report; cwd: string }> {
  const cwd = temporaryFolder();
  writeFileSync(path.join(cwd, "config.yaml"), `execution:\n  type_check: off\n${config}`);
  const { code, stdout } = await spawnCem(["verify", "--json", ...args], {
    cwd,
    env: { CEM_TRUST_FOLDER: "1" },
  }).ended;
  return { code, report: JSON.parse(stdout) as Report, cwd };
}

const states = ({ verified }: Report): string[] =>
  verified.flatMap(({ tools }) => tools.map(({ tool, state }) => `${String(tool)} ${String(state)}`));

describe("cem verify", () => {
  it("calls every tool over both transports and protocols, and leaves nothing behind", async () => {
    const { code, report, cwd } = await verify("server:\n  auth_token: a-long-enough-token\n", SAMPLES);
    expect(states(report).filter((state) => !state.endsWith(" passed"))).toEqual([]);
    expect(report).toMatchObject({
      status: "success",
      error: null,
      verified: [
        { transport: "stdio", protocol: "2026-07-28" },
        { transport: "stdio", protocol: "2025-11-25" },
        { transport: "http", protocol: "2026-07-28" },
        { transport: "http", protocol: "2025-11-25" },
      ],
    });
    expect(report.verified.map(({ tools }) => tools.length)).toEqual([12, 12, 12, 12]);
    expect(code).toBe(0);
    const left = readdirSync(path.join(cwd, "workspace"), { recursive: true });
    expect(left).toEqual(["results"]);
  });

  it("says which tool fails, over what, and ends with 1", async () => {
    const unusable = "  state:\n    enabled: false\n";
    const { code, report } = await verify(unusable, ["--profile", "original", ...SAMPLES]);
    expect(states(report).filter((state) => state.endsWith(" failed"))).toEqual(
      Array.from({ length: 4 }, () => ["get_state failed", "save_state failed"]).flat(),
    );
    expect(report.error?.message).toMatch(/^20 passed, 8 failed\./u);
    expect(JSON.stringify(report.verified)).toContain("State is disabled here");
    expect(code).toBe(1);
  });
});

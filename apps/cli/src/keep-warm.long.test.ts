import { chmodSync, cpSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "./testing/run-cem.ts";
import type { Ended } from "./testing/run-cem.ts";
import { spawnCem } from "./testing/spawn-cem.ts";

const servers = path.resolve(import.meta.dirname, "../../../servers");
const warmed: { cwd: string; env: Record<string, string> }[] = [];

afterEach(async () => {
  for (const { cwd, env } of warmed.splice(0)) await spawnCem(["keep-warm", "stop"], { cwd, env }).ended;
});

/** A project with a tool, and a folder for its socket. */
function project(): { cwd: string; env: Record<string, string> } {
  const cwd = temporaryFolder();
  cpSync(path.join(servers, "calculator"), path.join(cwd, "servers/calculator"), { recursive: true });
  const env = { XDG_RUNTIME_DIR: cwd };
  warmed.push({ cwd, env });
  return { cwd, env };
}

interface Status {
  warm: { pid: number; ready: number; served: number; declined: number } | null;
}

describe("cem keep-warm", () => {
  it("serves commands, which print the same, until something changes", async () => {
    const { cwd, env } = project();
    const run = (...args: string[]): Promise<Ended> => spawnCem(args, { cwd, env }).ended;
    const status = async (): Promise<Status["warm"]> => {
      const { stdout } = await run("keep-warm", "status", "--json");
      return (JSON.parse(stdout) as Status).warm;
    };
    const call = ["call", "calculator.add", "a=5", "b=3", "--quiet"];
    const wrong = ["call", "calculator.divide", "a=1", "b=0"];
    const misused = ["call", "calculator.ad", "a=1"];
    const cold = [await run(...call), await run(...wrong), await run(...misused)];
    expect(cold.map(({ code }) => code)).toEqual([0, 1, 1]);

    expect((await run("keep-warm")).code).toBe(0);
    expect(statSync(path.join(cwd, `cem-${process.getuid?.()}`)).mode & 0o777).toBe(0o700);
    const warm = [await run(...call), await run(...wrong), await run(...misused)];
    expect(warm.map(comparable)).toEqual(cold.map(comparable));
    expect(await status()).toMatchObject({ served: 3, declined: 0 });

    // Another environment, in which servers and tools could do something else.
    const other = spawnCem(call, { cwd, env: { ...env, API_KEY: "another" } });
    expect(comparable(await other.ended)).toEqual(comparable(cold[0] as Ended));
    expect(await status()).toMatchObject({ served: 3, declined: 1 });

    // Another tool.
    writeFileSync(
      path.join(cwd, "servers/calculator/add.ts"),
      "/** Adds. */\nexport async function add({ a, b }: { a: number; b: number }): Promise<number> {\n  return a + b + 1;\n}\n",
    );
    expect((await run(...call)).stdout).toBe("9\n");
    expect(await status()).toMatchObject({ served: 3, declined: 2 });
    expect((await run(...call)).stdout).toBe("9\n");
    expect(await status()).toMatchObject({ served: 4, declined: 2 });

    // Another configuration, which allows less.
    writeFileSync(path.join(cwd, "config.yaml"), "guardrails:\n  blocked_tools: [calculator.*]\n");
    expect((await run(...call)).code).toBe(1);
    expect(await status()).toMatchObject({ served: 4, declined: 3 });

    await run("keep-warm", "stop");
    expect(await status()).toBeNull();
    expect(readdirSync(path.join(cwd, `cem-${process.getuid?.()}`))).toEqual([]);
  });

  it("stops a run whose command is stopped, and goes on", async () => {
    const { cwd, env } = project();
    await spawnCem(["keep-warm"], { cwd, env }).ended;
    const endless = spawnCem(["exec", "-"], { cwd, env, input: 'console.log("begun"); for (;;);' });
    await expect.poll(() => statusOf({ cwd, env }), { timeout: 30_000 }).toMatchObject({ served: 1 });
    endless.kill("SIGINT");
    expect((await endless.ended).code).toBe(130);
    const { stdout } = await spawnCem(["call", "calculator.add", "a=1", "b=1", "-q"], { cwd, env }).ended;
    expect(stdout).toBe("2\n");
    expect(await statusOf({ cwd, env })).toMatchObject({ served: 2 });
  });

  it.each(["open to others", "a link"])("uses no folder that is %s", async (kind) => {
    const { cwd, env } = project();
    const folder = path.join(cwd, `cem-${process.getuid?.()}`);
    if (kind === "a link") {
      mkdirSync(path.join(cwd, "elsewhere"), { mode: 0o700 });
      symlinkSync(path.join(cwd, "elsewhere"), folder);
    } else {
      mkdirSync(folder);
      chmodSync(folder, 0o755);
    }
    const { code, stderr } = await spawnCem(["keep-warm"], { cwd, env }).ended;
    expect(code).toBe(2);
    expect(stderr).toContain("is not yours alone");
  });
});

async function statusOf({ cwd, env }: { cwd: string; env: Record<string, string> }): Promise<Status["warm"]> {
  const { stdout } = await spawnCem(["keep-warm", "status", "--json"], { cwd, env }).ended;
  return (JSON.parse(stdout) as Status).warm;
}

/** What a command printed, without its times. */
function comparable({ code, stdout, stderr }: Ended): Ended {
  const plain = (text: string): string =>
    text.replaceAll(/<?\d+(?:\.\d+)? m?s\b/gu, "").replaceAll(/\s+/gu, " ");
  return { code, stdout: plain(stdout), stderr: plain(stderr) };
}

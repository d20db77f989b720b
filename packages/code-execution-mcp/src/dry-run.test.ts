import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { createDenoSandboxProvider } from "@cem/sandbox-deno";
import { describe, expect, it } from "vitest";
import { createAgent, defineTool } from "./index.ts";
import type { AgentOptions, PlannedWrite } from "./index.ts";

const root = mkdtempSync(path.join(os.tmpdir(), "cem-dry-"));

/** Everything below a folder with its content and the time of its last change. */
function stateOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();
  return Object.fromEntries(
    names.map((name) => {
      const status = lstatSync(path.join(folder, name), { bigint: true });
      const content = status.isFile() ? readFileSync(path.join(folder, name), "utf8") : "";
      return [name, `${status.mode} ${status.ctimeNs} ${content}`];
    }),
  );
}

interface Project {
  folder: string;
  dry: (code: string, more?: AgentOptions) => Promise<{ outcome: object; writes: PlannedWrite[] }>;
}

let count = 0;
function project(config: AgentOptions["config"] = {}): Project {
  const folder = path.join(root, String((count += 1)));
  mkdirSync(path.join(folder, "workspace/sub"), { recursive: true });
  mkdirSync(path.join(folder, "shared/old"), { recursive: true });
  writeFileSync(path.join(folder, "workspace/kept.txt"), "kept");
  writeFileSync(path.join(folder, "workspace/sub/state.json"), "{}");
  writeFileSync(path.join(folder, "shared/data.csv"), "a,b\n");
  writeFileSync(path.join(folder, "shared/old/gone.txt"), "gone");
  return {
    folder,
    async dry(code, more = {}) {
      const writes: PlannedWrite[] = [];
      const agent = createAgent({
        cwd: folder,
        configFile: false,
        records: true,
        trustFolder: true,
        ...more,
        onPlannedWrite: (write) => void writes.push(write),
        config: {
          ...config,
          execution: { mountDirectories: ["shared:/data:rw"], typeCheck: "off", ...config.execution },
        },
      });
      const outcome = await agent.executeCode(code);
      await agent.dispose();
      return { outcome, writes };
    },
  };
}

const WRITES_EVERYWHERE = `
import { chmod, mkdir, readFile, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
await writeFile("/data/data.csv", "a,b\\n1,2\\n");
await writeFile("/data/new.txt", "new");
await rm("/data/old", { recursive: true });
await mkdir("/data/empty");
await writeFile("out.txt", "out");
await rename("kept.txt", "moved.txt");
await writeFile("sub/state.json", "{}");
return [await readFile("/data/data.csv", "utf8"), await readFile("moved.txt", "utf8")];`;

const LEVELS = [
  ["that this host gives", undefined],
  ["permissions", () => createDenoSandboxProvider({ isolation: "permissions" })],
] as const;

describe.each(LEVELS)("a dry run at the level %s", (_level, provider) => {
  it("changes nothing, in read-write mounts either, and lists what it would", async () => {
    const { folder, dry } = project();
    const before = stateOf(folder);
    const { outcome, writes } = await dry(WRITES_EVERYWHERE, {
      sandboxProvider: provider?.(),
    });
    expect(outcome).toMatchObject({ error: null, value: ["a,b\n1,2\n", "kept"] });
    expect(stateOf(folder)).toEqual(before);
    const host = (name: string): string => path.join(folder, "shared", name);
    expect(writes.map(({ server, tool, args }) => [`${server}.${tool}`, args])).toEqual([
      ["workspace.write_file", { path: "/data/data.csv", host: host("data.csv"), bytes: 8 }],
      ["workspace.make_directory", { path: "/data/empty", host: host("empty") }],
      ["workspace.write_file", { path: "/data/new.txt", host: host("new.txt"), bytes: 3 }],
      ["workspace.delete_file", { path: "/data/old/gone.txt", host: host("old/gone.txt") }],
      ["workspace.write_file", { path: "moved.txt", bytes: 4 }],
      ["workspace.write_file", { path: "out.txt", bytes: 3 }],
      ["workspace.delete_file", { path: "kept.txt" }],
    ]);
  });
});

const scratch = (): string[] => readdirSync(os.tmpdir()).filter((name) => name.startsWith("cem-dry-run-"));

describe("a dry run", () => {
  it("leaves caches, vaults, state, sessions, records and tool files as they are", async () => {
    const { folder, dry } = project({
      privacy: { vault: "disk", vaultKey: "0".repeat(64) },
      execution: { state: { workspaceDir: "state" } },
      logging: { auditFile: "audit.jsonl" },
    });
    mkdirSync(path.join(folder, "servers/greeter"), { recursive: true });
    writeFileSync(
      path.join(folder, "servers/greeter/greet.ts"),
      "/**\n * Greets.\n * @readOnly\n */\nexport async function greet({ name }: { name: string }): Promise<string> { return `Hello, ${name}`; }",
    );
    writeFileSync(path.join(folder, "servers/greeter/index.ts"), 'export { greet } from "./greet.ts";');
    const before = stateOf(folder);
    const { outcome, writes } = await dry(
      'import { greet } from "./servers/greeter/index.ts"; return greet({ name: "ada@example.com" });',
    );
    expect(outcome).toMatchObject({ error: null });
    expect(writes).toEqual([]);
    const after = stateOf(folder);
    // The audit log has the run and its verdict.
    delete after["audit.jsonl"];
    delete after["audit.jsonl.head"];
    expect(after).toEqual(before);
  });

  it("makes no folder of a customer, counts no run against a quota, and lists the customer's files", async () => {
    const { folder, dry } = project({ customers: { quotas: [{ per: "day", runs: 1 }] } });
    const before = stateOf(folder);
    for (const customer of ["ada", "bob", "ada"]) {
      const { outcome, writes } = await dry('await Deno.writeTextFile("a.txt", "x"); return 1;', {
        customer,
      });
      expect(outcome).toMatchObject({ error: null, value: 1 });
      expect(writes.map(({ args }) => args)).toEqual([{ path: "a.txt", bytes: 1 }]);
    }
    expect(stateOf(folder)).toEqual(before);
  });

  it("shows a mount in the workspace or in another mount as one with it", async () => {
    const { folder, dry } = project({
      execution: {
        mountDirectories: [
          "workspace/sub:/workspace/mounts/sub:rw",
          "shared:/data:rw",
          "shared/old:/workspace/mounts/old:ro",
          { host: "shared/data.csv", guest: "/workspace/mounts/data.csv", mode: "rw" },
        ],
      },
    });
    const before = stateOf(folder);
    const { outcome, writes } = await dry(`
await Deno.writeTextFile("mounts/sub/a.txt", "a");
await Deno.writeTextFile("/data/old/b.txt", "b");
await Deno.writeTextFile("mounts/data.csv", "c");
return [await Deno.readTextFile("sub/a.txt"), await Deno.readTextFile("mounts/old/b.txt"), await Deno.readTextFile("/data/data.csv")];`);
    expect(outcome).toMatchObject({ error: null, value: ["a", "b", "c"] });
    expect(writes.map(({ args }) => (args as { path: string }).path)).toEqual([
      "/data/data.csv",
      "/data/old/b.txt",
      "sub/a.txt",
    ]);
    expect(stateOf(folder)).toEqual(before);
  });

  it("lists modes, and files under a name that was a folder's", async () => {
    const { folder, dry } = project();
    symlinkSync("kept.txt", path.join(folder, "workspace/link"));
    const before = stateOf(folder);
    const { outcome, writes } = await dry(`
await Deno.chmod("/data/data.csv", 0o600);
await Deno.remove("/data/old", { recursive: true });
await Deno.writeTextFile("/data/old", "a file now");
await Deno.remove("link");`);
    expect(outcome).toMatchObject({ error: null });
    expect(writes.map(({ tool, args }) => [tool, (args as { path: string }).path])).toEqual([
      ["change_mode", "/data/data.csv"],
      ["write_file", "/data/old"],
      ["delete_file", "/data/old/gone.txt"],
      ["delete_file", "link"],
    ]);
    expect(stateOf(folder)).toEqual(before);
  });

  it("audits the calls that it makes, not those that it plans, and has no network", async () => {
    const folder = project().folder;
    const called: string[] = [];
    const tool = (readOnlyHint: boolean, name: string) =>
      defineTool({
        description: name,
        annotations: { readOnlyHint },
        execute: async () => void called.push(name),
      });
    const events: string[] = [];
    const writes: PlannedWrite[] = [];
    const agent = createAgent({
      cwd: folder,
      configFile: false,
      config: { execution: { allowNetworkAccess: true, typeCheck: "off" } },
      tools: { crm: { look: tool(true, "look"), drop: tool(false, "drop") } },
      audit: {
        specificationVersion: "v1",
        record: (event) => void (event.type === "call" && events.push(event.tool)),
      },
      onPlannedWrite: (write) => void writes.push(write),
    });
    const outcome = await agent.executeCode(`import { drop, look } from "./servers/crm/index.ts";
await look({}); await drop({});
return fetch("http://127.0.0.1:9/").then(() => "reached", (error) => String(error));`);
    await agent.dispose();
    expect([called, events, writes]).toEqual([
      ["look"],
      ["look"],
      [{ server: "crm", tool: "drop", args: {} }],
    ]);
    expect(outcome.value).not.toBe("reached");
    expect(outcome.warnings?.join()).toContain("A dry run has no network");
  });

  it("says where changes can't be read, in place of none, and leaves no copy behind", async () => {
    const { dry } = project();
    const before = scratch();
    const told = await dry(`
for (const top of ["/workspace/a", "/workspace/b"]) await Deno.mkdir(top + ("/" + "d".repeat(250)).repeat(15), { recursive: true });
await Deno.rename("/workspace/b", "/workspace/a" + ("/" + "d".repeat(250)).repeat(15) + "/b");`).then(
      ({ writes }) => JSON.stringify(writes),
      (error: unknown) => String(error),
    );
    // A run that is counted before it ends has such a folder moved to where it can be read.
    expect(told).toMatch(/can't be read for a dry run|"moved-/u);
    expect(scratch()).toEqual(before);
  });

  it("lists what a program hides in a folder that nobody may enter", async () => {
    const { dry } = project();
    const { writes } = await dry(`
await Deno.mkdir("hidden");
await Deno.writeTextFile("hidden/new.sh", "x");
await Deno.chmod("hidden", 0);`);
    expect(writes.map(({ args }) => (args as { path: string }).path)).toEqual(["hidden/new.sh"]);
  });

  it("refuses to copy a mount that is larger than a workspace may be, and leaves no copy behind", async () => {
    const { folder, dry } = project({ execution: { limits: { maxWorkspaceEntries: 3 } } });
    writeFileSync(path.join(folder, "shared/more.txt"), "");
    const before = scratch();
    await expect(dry("return 1")).rejects.toMatchObject({ code: "WORKSPACE_FULL" });
    expect(scratch()).toEqual(before);
    expect(existsSync(path.join(folder, ".cem"))).toBe(false);
  });
});

import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Config } from "@cem/config";
import { describe, expect, it, onTestFinished } from "vitest";
import { createAgent, defineTool } from "../index.ts";
import { createLog, logFileWarnings } from "./log.ts";

async function folder(): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), "cem-log-"));
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  return made;
}

const logging = (level: string, file?: string): Config => ({ logging: { level, file } }) as Config;

describe("createLog", () => {
  it("leaves out what is below the level, and keeps each message on one harmless line", () => {
    const lines: string[] = [];
    const log = createLog(logging("WARNING"), (line) => lines.push(line));
    log("info", "not said");
    log("error", "one\ntwo\u001B[2J\u202E");
    expect(lines).toEqual([expect.stringMatching(/^\S+Z ERROR +one \| two<U\+001B>\[2J<U\+202E>$/)]);
  });

  it("appends to its file, in a folder that it makes", async () => {
    const file = path.join(await folder(), "logs", "cem.log");
    const log = createLog(logging("DEBUG", file), () => {
      throw new Error("not here");
    });
    log("debug", "first");
    log("info", "second");
    expect((await readFile(file, "utf8")).match(/first\n.*second\n$/)).not.toBeNull();
  });

  it("goes elsewhere when its file can't be written", async () => {
    const blocked = path.join(await folder(), "file");
    await writeFile(blocked, "");
    const lines: string[] = [];
    const config = logging("INFO", path.join(blocked, "cem.log"));
    createLog(config, (line) => lines.push(line))("info", "kept");
    expect(lines).toEqual([expect.stringContaining("can't be written"), expect.stringMatching(/kept$/)]);
    expect(logFileWarnings({ config })).toEqual([
      expect.stringMatching(/^The log .*cem\.log can't be written: .*\(LOG_FILE\)/u),
    ]);
    expect(logFileWarnings({ config: logging("INFO", path.join(await folder(), "a", "cem.log")) })).toEqual(
      [],
    );
  });
});

describe("a log of the caller that throws", () => {
  it.each(["log", "onLog"])("costs no result of a run that has made its calls: %s", async (name) => {
    let paid = 0;
    let thrown = 0;
    const pay = defineTool({
      description: "Pays.",
      annotations: { destructiveHint: false },
      execute: () => ++paid,
    });
    await using agent = createAgent({
      cwd: await folder(),
      configFile: false,
      config: { logging: { level: "DEBUG" }, execution: { typeCheck: "off" } },
      tools: { shop: { pay } },
      [name]: () => {
        if (paid === 0) return;
        thrown += 1;
        throw new Error("The disk is full.");
      },
    });
    const warned = once(process, "warning");
    const code = 'import { pay } from "./servers/shop/index.ts"; return await pay({});';
    expect(await agent.executeCode(code)).toMatchObject({ status: "success", value: 1 });
    expect(thrown).toBeGreaterThan(0);
    expect(String(await warned)).toContain("The disk is full.");
  });
});

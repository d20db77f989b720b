import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Config } from "@cem/config";
import { describe, expect, it, onTestFinished } from "vitest";
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

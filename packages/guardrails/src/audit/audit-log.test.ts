import { execFile, spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { AuditEvent, AuditLog, ToolInvoker, ToolResult } from "@cem/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  auditCalls,
  auditedValue,
  auditStarts,
  createAuditLog,
  probeAuditLog,
  verifyAuditLog,
} from "./index.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "cem-audit-"));
  file = path.join(folder, "logs", "audit.jsonl");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const event = (ms: number): AuditEvent => ({
  type: "call",
  run: "r",
  session: "token-of-bob",
  server: "s",
  tool: "t",
  ok: true,
  ms,
});

function write(count: number, maxBytes?: number): void {
  const log = createAuditLog({ file, maxBytes });
  for (let at = 0; at < count; at += 1) log.record(event(at));
}
const lines = (): string[] => readFileSync(file, "utf8").trimEnd().split("\n");
const problems = async (expect?: string): Promise<string[]> =>
  (await verifyAuditLog(file, { expect })).problems.map(
    ({ message, line }) => `${line ?? "end"}: ${message}`,
  );

describe("createAuditLog", () => {
  it("writes a chain that only its owner may read, without the session's id", async () => {
    write(20);
    expect(await verifyAuditLog(file)).toMatchObject({ files: [file], lines: 20, problems: [] });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(`${file}.head`).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8")).not.toContain("bob");
    expect(JSON.parse(lines()[4] ?? "")).toMatchObject({ seq: 5, type: "call", tool: "t", ms: 4 });
  });

  it("goes on in another file where one is full, in one chain", async () => {
    write(30, 2_000);
    const { files, lines: read, problems: found } = await verifyAuditLog(file);
    expect(files.length).toBeGreaterThan(3);
    expect({ read, found }).toEqual({ read: 30, found: [] });
    unlinkSync(files[1] ?? "");
    expect(await problems()).toEqual([expect.stringMatching(/lines? (?:is|are) missing before this one/)]);
  });

  it("overwrites no file that it has filled, where older ones were removed", async () => {
    write(30, 2_000);
    const { files } = await verifyAuditLog(file);
    const kept = files.slice(2, -1).map((name) => [name, readFileSync(name, "utf8")] as const);
    for (const name of files.slice(0, 2)) unlinkSync(name);
    write(30, 2_000);
    for (const [name, text] of kept) expect(readFileSync(name, "utf8")).toBe(text);
    expect(await problems()).toEqual([
      expect.stringMatching(/^1: The log begins with line \d+: earlier files/),
    ]);
  });

  it("takes lines of several processes", async () => {
    const script = `
      import { createAuditLog } from ${JSON.stringify(path.join(import.meta.dirname, "index.ts"))};
      const log = createAuditLog({ file: ${JSON.stringify(file)}, maxBytes: 20_000 });
      for (let ms = 0; ms < 150; ms += 1) log.record({ type: "call", server: "s", tool: "t", ok: true, ms });`;
    const run = promisify(execFile);
    const args = ["--conditions=@cem/source", "--input-type=module", "-e", script];
    await Promise.all([1, 2, 3].map(() => run(process.execPath, args)));
    expect(await verifyAuditLog(file)).toMatchObject({ lines: 450, problems: [] });
  });

  it("fails where it can't be written", () => {
    writeFileSync(path.join(folder, "logs"), "");
    for (const use of [() => write(1), () => probeAuditLog(file)])
      expect(use).toThrow(expect.objectContaining({ code: "AUDIT_UNWRITABLE" }));
  });

  it("stays whole where the disk takes only a part of a line", async () => {
    // A limit on a file's size ends a write midway, as a full disk does.
    const script = `
      import { createAuditLog } from ${JSON.stringify(path.join(import.meta.dirname, "index.ts"))};
      const log = createAuditLog({ file: ${JSON.stringify(file)} });
      let recorded = 0;
      try { for (; recorded < 100; recorded += 1) log.record({ type: "call", server: "s", tool: "t", ok: true, ms: 1 }); }
      catch ({ code }) { console.log(code, recorded); }`;
    const limited = ["-c", 'ulimit -f 2; exec "$0" --conditions=@cem/source --input-type=module -e "$1"'];
    const { stdout } = await promisify(execFile)("sh", [...limited, process.execPath, script]);
    expect(stdout).toBe(`AUDIT_UNWRITABLE ${lines().length}\n`);
    expect(lines().length).toBeLessThan(100);
    write(1);
    expect(await problems()).toEqual([]);
  });

  it("takes over the lock of a process that is gone", () => {
    write(1);
    const code = `const { FileLock } = await import("@cem/core/files");
FileLock.takeSync(process.argv[1], { waitMs: 0, busy: () => new Error("busy") }); process.exit();`;
    const args = ["--conditions=@cem/source", "--input-type=module", "-e", code, `${file}.lock`];
    spawnSync(process.execPath, args, { cwd: import.meta.dirname });
    expect(readdirSync(path.dirname(file))).toContain("audit.jsonl.lock");
    write(1);
    expect(readdirSync(path.dirname(file))).not.toContain("audit.jsonl.lock");
    expect(lines()).toHaveLength(2);
  });
});

describe("verifyAuditLog", () => {
  /** The line as someone writes it who knows how it is hashed. */
  const rehashed = (line: string): string => {
    const body = `${line.slice(0, line.lastIndexOf(',"hash":'))}}`;
    return `${body.slice(0, -1)},"hash":"${hash("sha256", body)}"}`;
  };
  const edit = (change: (all: string[]) => string[]): void =>
    writeFileSync(file, `${change(lines()).join("\n")}\n`);

  it.each<[string, (all: string[]) => string[], RegExp]>([
    [
      "a changed line",
      (all) => all.map((line, at) => (at === 3 ? line.replace('"ms":3', '"ms":9') : line)),
      /^4: This line was changed/,
    ],
    [
      "a line that is no JSON",
      (all) => all.map((line, at) => (at === 3 ? "x" : line)),
      /^4: This line was changed/,
    ],
    [
      "a line whose number is none",
      (all) => all.map((line, at) => (at === 3 ? rehashed(line.replace('"seq":4', '"seq":"4"')) : line)),
      /^4: This line was changed/,
    ],
    ["a missing line", (all) => all.toSpliced(3, 1), /^4: 1 line (?:is|are) missing/],
    ["a missing beginning", (all) => all.slice(2), /^1: The log begins with line 3/],
    [
      "lines in another order",
      (all) => [...all.slice(0, 3), all[4] ?? "", all[3] ?? "", ...all.slice(5)],
      /does not follow|missing/,
    ],
    [
      "a line that stands twice",
      (all) => [...all.slice(0, 4), all[3] ?? "", ...all.slice(4)],
      /^5: This line does not follow/,
    ],
    ["a cut tail", (all) => all.slice(0, -2), /^end: 2 lines? (?:is|are) missing at the end/],
  ])("finds %s", async (_, change, message) => {
    write(10);
    edit(change);
    expect((await problems()).join("\n")).toMatch(message);
  });

  it("finds a cut tail that was written over, and a head that is gone", async () => {
    write(10);
    edit((all) => all.slice(0, -2));
    write(1);
    expect((await problems()).join("\n")).toMatch(/2 lines? (?:is|are) missing before/);
    unlinkSync(`${file}.head`);
    expect((await problems()).join("\n")).toMatch(/The head is missing/);
  });

  it("finds another last line than the one that was noted", async () => {
    write(3);
    edit((all) => [...all.slice(0, 2), rehashed((all[2] ?? "").replace('"ms":2', '"ms":9'))]);
    expect(await problems()).toEqual(["end: The last line is not the one that was written last."]);
  });

  it("finds what an earlier hash knows, where tail and head were both cut", async () => {
    write(5);
    const before = readFileSync(`${file}.head`);
    write(5);
    const { head } = await verifyAuditLog(file);
    edit((all) => all.slice(0, 5));
    writeFileSync(`${file}.head`, before);
    expect(await problems()).toEqual([]);
    expect(await problems(head)).toEqual(["end: The line with the expected hash is missing."]);
  });

  it.each([
    ["nothing", 0, () => {}],
    ["a line without its head", 0, () => writeFileSync(`${file}.head`, headAfter(2))],
    ["a cut tail", 1, () => edit((all) => all.slice(0, -1))],
    ["no log", 1, () => writeFileSync(file, "")],
    ["no head", 1, () => unlinkSync(`${file}.head`)],
    ["a head that is none", 1, () => writeFileSync(`${file}.head`, "x")],
    ["garbage of the same length", 1, () => writeFileSync(file, "x".repeat(statSync(file).size))],
  ])("tells the first process that writes after %s", (_, told, change) => {
    write(3);
    change();
    let broken = 0;
    for (let time = 0; time < 2; time += 1) {
      const log = createAuditLog({ file, onBroken: () => void (broken += 1) });
      log.record(event(1));
      log.record(event(2));
    }
    expect(broken).toBe(told);
  });

  /** The head as it was after so many lines. */
  function headAfter(count: number): string {
    const all = lines().slice(0, count);
    const [, hashOfLast = ""] = /"hash":"([0-9a-f]+)"/.exec(all.at(-1) ?? "") ?? [];
    const digits = (number: number): string => String(number).padStart(15, "0");
    return `${digits(count)} ${digits(Buffer.byteLength(`${all.join("\n")}\n`))} ${hashOfLast}\n`;
  }

  it("goes on after a line that was cut by the end of its process", async () => {
    write(3);
    truncateSync(file, statSync(file).size);
    writeFileSync(file, `${readFileSync(file, "utf8")}{"seq":4,"ti`);
    write(2);
    expect(await problems()).toEqual(["4: This line was changed."]);
  });
});

describe("auditedValue", () => {
  it("has types, size and digest, and no value", () => {
    const args = {
      email: "x",
      DE89370400440532013000: 1,
      "bob@example.com": 1,
      list: [1],
      none: null,
      line2: "",
    };
    const { types, bytes } = auditedValue(createAuditLog({ file }), args);
    expect(types).toEqual({ email: "string", list: "array", none: "null", line2: "string" });
    expect(bytes).toBe(JSON.stringify(args).length);
  });

  it.each([
    [undefined, "null"],
    [null, "null"],
    [[1], "array"],
    ["x", "string"],
    [true, "boolean"],
  ])("names the type of %j: %s", (value, types) => {
    expect(auditedValue(createAuditLog({ file }), value).types).toBe(types);
  });

  it("has digests that tell equal values of one log, and that nobody can compute without its key", () => {
    const [log, other] = [createAuditLog({ file }), createAuditLog({ file: `${file}.other` })];
    const digestIn = (audit: AuditLog): string => auditedValue(audit, "536-90-4399").digest;
    expect(digestIn(log)).toBe(digestIn(log));
    expect(digestIn(log)).not.toBe(digestIn(other));
    expect(digestIn(log)).not.toBe(hash("sha256", JSON.stringify("536-90-4399")));
  });
});

describe("auditCalls", () => {
  const events: AuditEvent[] = [];
  const audit: AuditLog = { specificationVersion: "v1", record: (one) => void events.push(one) };
  const aborted = (details: Record<string, unknown>): ToolResult => ({
    ok: false,
    error: { code: "ABORTED", message: "The call was cancelled.", details },
  });
  const record = async (answer: ToolResult): Promise<AuditEvent[]> => {
    events.length = 0;
    const invoker = auditCalls(audit)({
      specificationVersion: "v1",
      invoke: async () => answer,
    });
    const { signal } = new AbortController();
    await invoker.invoke({ server: "s", tool: "t", args: {} }, { signal });
    return [...events];
  };

  it("tells a call that was sent and cancelled from one that reached no tool", async () => {
    expect(await record(aborted({ isSent: true }))).toMatchObject([
      { type: "call", ok: false, error: "ABORTED" },
    ]);
    expect(await record(aborted({}))).toMatchObject([{ type: "refusal", error: "ABORTED" }]);
  });

  it("tells of a call before it is made, and makes none that can't be told of", async () => {
    const made: string[] = [];
    const tool: ToolInvoker = {
      specificationVersion: "v1",
      invoke: async () => ({ ok: true, value: made.push(...events.map(({ type }) => type)) }),
    };
    const { signal } = new AbortController();
    const call = { server: "s", tool: "t", args: {} };
    events.length = 0;
    await auditStarts(audit)(tool).invoke(call, { signal, run: "r" });
    expect(events).toEqual([{ type: "call-started", run: "r", session: undefined, server: "s", tool: "t" }]);
    expect(made).toEqual(["call-started"]);
    const full = createAuditLog({ file: path.join(os.devNull, "audit.jsonl") });
    await expect(auditStarts(full)(tool).invoke(call, { signal })).rejects.toMatchObject({
      code: "AUDIT_UNWRITABLE",
    });
    expect(made).toHaveLength(1);
  });

  it("writes how long a call took", async () => {
    const now = vi.spyOn(performance, "now").mockReturnValueOnce(1_000).mockReturnValueOnce(1_250.126);
    expect(await record({ ok: true, value: 1 })).toMatchObject([{ type: "call", ok: true, ms: 250.13 }]);
    now.mockRestore();
  });
});

import { readdirSync } from "node:fs";
import type { SandboxProvider } from "@cem/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { CONTRACT_LIMITS, Harness, recordingInvoker } from "./harness.ts";
import { SessionHarness } from "./sessions.ts";

const MIB = 1024 * 1024;

/** Contract tests: limits of a run (time, memory, output and others), and the outcome of exceeding them. */
export function limitsContract(harness: () => Harness, makeProvider: () => SandboxProvider): void {
  describe("time", () => {
    it.each([
      ["a busy loop", "while (true) {}"],
      [
        "microtasks without end",
        "const again = (): void => queueMicrotask(again); again(); await new Promise(() => {});",
      ],
      ["a long wait", "await new Promise((go) => setTimeout(go, 600_000));"],
      ["a loop in finally", "try { throw 1 } finally { for (;;) {} }"],
      ["signals swallowed", "try { Deno.addSignalListener('SIGTERM', () => {}) } catch {} while (true) {}"],
    ])("ends %s", async (_, code) => {
      const outcome = await harness().run(code, { limits: { timeoutMs: 300 } });
      expect(outcome).toMatchObject({ status: "timed-out", limitMs: 300 });
      expect(outcome.durationMs).toBeLessThan(5_000);
      await harness().mustStillWork();
    });

    it("keeps what was printed before the end", async () => {
      const outcome = await harness().run("console.log('before'); while (true) {}", {
        limits: { timeoutMs: 300 },
      });
      expect(outcome).toMatchObject({ status: "timed-out", output: "before\n" });
    });
  });

  describe("memory", () => {
    it.each([
      [
        "the heap",
        "const all = []; for (;;) all.push(new Array(1e5).fill({ a: 1 }).map((x) => ({ ...x })));",
      ],
      ["ArrayBuffers", "const all = []; for (;;) all.push(new Uint8Array(1e7).fill(1));"],
      ["one huge ArrayBuffer", "const one = new ArrayBuffer(2 ** 36); return one.byteLength;"],
      [
        "WebAssembly memory",
        "const all = []; for (;;) { const m = new WebAssembly.Memory({ initial: 256 }); new Uint8Array(m.buffer).fill(1); all.push(m); }",
      ],
      [
        "strings",
        "let s = 'x'; const all = []; for (;;) { s = s + s.slice(0, 1e6) + 'y'; all.push(s.split('').join('-')); }",
      ],
      [
        "workers",
        `const body = "const all = []; for (;;) all.push(new Uint8Array(1e7).fill(1));";
for (let i = 0; i < 4; i++) new Worker(URL.createObjectURL(new Blob([body], { type: "text/javascript" })), { type: "module" });
await new Promise(() => {});`,
      ],
    ])("ends what fills %s", async (_, code) => {
      const outcome = await harness().run(code);
      // There are no workers when the guest has no file system view of its own.
      const isRefused = outcome.status === "failed" && /starts no threads/.test(outcome.error.message);
      const ended = { status: "out-of-memory", limitMb: CONTRACT_LIMITS.memoryMb };
      expect(outcome).toMatchObject(isRefused ? { status: "failed" } : ended);
      await harness().mustStillWork();
    });

    it("lets a program have what it needs below the limit", async () => {
      const code =
        "const all = []; for (let i = 0; i < 5; i++) all.push(new Uint8Array(1e7).fill(1)); return all.length;";
      expect(await harness().value(code)).toBe(5);
    });
  });

  it("counts no buffers of the run before it", async () => {
    const limits = { ...CONTRACT_LIMITS, memoryMb: 256 };
    const session = await SessionHarness.make(makeProvider, {}, { limits });
    onTestFinished(() => session.dispose());
    // The host looks at the size of a guest after its first run, and after many others.
    expect(await session.value("return 1")).toBe(1);
    const code = `const all = []; for (let i = 0; i < 16; i++) all.push(new Uint8Array(1e7).fill(1));
await new Promise((go) => setTimeout(go, 100));
return all.length;`;
    for (let turn = 0; turn < 4; turn += 1) expect(await session.value(code)).toBe(16);
  });

  describe("output", () => {
    it("cuts it at the limit, counts the rest and lets the program go on", async () => {
      const code = "for (let i = 0; i < 1000; i++) console.log('0123456789'); return 'end';";
      const outcome = await harness().run(code, { limits: { outputBytes: 110 } });
      expect(outcome).toMatchObject({ status: "completed", value: "end", outputDroppedBytes: 11_000 - 110 });
      expect(outcome.output).toBe("0123456789\n".repeat(10));
    });

    it("never cuts a character in half", async () => {
      const outcome = await harness().run("console.log('éééé')", { limits: { outputBytes: 3 } });
      expect(outcome.output).toBe("é");
    });

    it("ends a flood, with the host's memory flat", async () => {
      const before = process.memoryUsage().rss;
      const outcome = await harness().run("const s = 'x'.repeat(1e6); for (;;) console.log(s);");
      expect(outcome).toMatchObject({ status: "killed", reason: "output-flood" });
      expect(outcome.output.length).toBeLessThanOrEqual(256 * 1024);
      expect(process.memoryUsage().rss - before).toBeLessThan(200 * MIB);
      await harness().mustStillWork();
    });

    it("keeps stdout and stderr in order and says which is which", async () => {
      const chunks: string[] = [];
      const code = "console.log('1'); console.error('2'); console.log('3'); console.warn('4');";
      const outcome = await harness().run(code, {
        onOutput: ({ stream, text }) => chunks.push(`${stream}:${text}`),
      });
      expect(outcome.output).toBe("1\n2\n3\n4\n");
      expect(chunks.join("")).toBe("stdout:1\nstderr:2\nstdout:3\nstderr:4\n");
    });

    it("takes what is written past the console too", async () => {
      const code = `import process from "node:process";
Deno.stdout.writeSync(new TextEncoder().encode("a"));
await Deno.stdout.write(new TextEncoder().encode("b"));
process.stdout.write("c");
Deno.stderr.writeSync(new TextEncoder().encode("d"));`;
      expect((await harness().run(code)).output).toBe("abcd");
    });
  });

  describe("calls and payloads", () => {
    const echo = `import { callTool } from "cem:client";\n`;

    it("ends the run at one tool call too many", async () => {
      const invoker = recordingInvoker(() => 1);
      const code = `${echo}for (let i = 0; ; i++) await callTool("host", "echo", { i });`;
      const outcome = await harness().run(code, { invoker, limits: { calls: 5 } });
      expect(outcome).toMatchObject({ status: "killed", reason: "call-limit" });
      expect(invoker.calls).toHaveLength(5);
      expect(outcome.toolCalls).toHaveLength(5);
    });

    it("counts calls of tools in the guest as well", async () => {
      const code = `import { add } from "./servers/calculator/index.ts";\nfor (;;) await add({ a: 1, b: 1 });`;
      const outcome = await harness().run(code, { limits: { calls: 5 } });
      expect(outcome).toMatchObject({ status: "killed", reason: "call-limit" });
      expect(outcome.toolCalls).toHaveLength(5);
    });

    it("keeps no more calls under way than allowed, and answers all", async () => {
      let now = 0;
      let most = 0;
      const invoker = recordingInvoker(async () => {
        most = Math.max(most, ++now);
        await new Promise((resolve) => setTimeout(resolve, 5));
        return now--;
      });
      const code = `${echo}const all = await Promise.all(Array.from({ length: 20 }, (_, i) => callTool("host", "echo", { i })));\nreturn all.length;`;
      expect(await harness().value(code, { invoker, limits: { callsInFlight: 3 } })).toBe(20);
      expect(most).toBe(3);
    });

    it("ends the run at an argument or a value that is too large", async () => {
      const invoker = recordingInvoker(() => 1);
      const limits = { payloadBytes: 1_000 };
      const call = `${echo}await callTool("host", "echo", { text: "x".repeat(2000) });`;
      expect(await harness().run(call, { invoker, limits })).toMatchObject({
        status: "killed",
        reason: "payload-limit",
      });
      expect(invoker.calls).toHaveLength(0);
      const value = await harness().run("return 'x'.repeat(2000)", { limits });
      expect(value).toMatchObject({ status: "killed", reason: "payload-limit" });
      expect(await harness().value("return 'x'.repeat(900)", { limits })).toHaveLength(900);
    });

    it("gives an error in place of a result that is too large", async () => {
      const invoker = recordingInvoker(() => "x".repeat(2_000));
      const code = `${echo}try { await callTool("host", "echo"); } catch (error) { return error.code; }`;
      expect(await harness().value(code, { invoker, limits: { payloadBytes: 1_000 } })).toBe(
        "RESULT_TOO_LARGE",
      );
    });

    it("refuses limits that are none", async () => {
      await expect(harness().run("1", { limits: { timeoutMs: 0 } })).rejects.toMatchObject({
        code: "LIMIT_INVALID",
      });
    });
  });

  describe("writes", () => {
    it("ends a program that fills the disk", async () => {
      const code = `const piece = new Uint8Array(1 << 20);
for (let i = 0; ; i++) Deno.writeFileSync("fill-" + (i % 4), piece, { append: i % 64 > 4 });`;
      const outcome = await harness().run(code, { limits: { writeMb: 64 } });
      expect(outcome).toMatchObject({ status: "killed", reason: "write-limit" });
      await harness().mustStillWork();
    });

    it.each([
      ["folders", `for (let i = 0; i < 200_000; i++) Deno.mkdirSync("folder-" + i);`],
      [
        "folders in folders",
        `for (let i = 0; i < 200_000; i++) Deno.mkdirSync("a/".repeat(i % 40) + "b" + i, { recursive: true });`,
      ],
      [
        "empty files, with waits",
        `for (let i = 0; i < 200_000; i++) { await Deno.writeTextFile("file-" + i, ""); }`,
      ],
    ])("ends a program that makes too many %s", async (_, code) => {
      const quota = { workspaceMb: 100, workspaceEntries: 2_000 };
      const limited = await Harness.make(makeProvider(), {}, { quota });
      onTestFinished(() => limited.dispose());
      expect(await limited.run(code)).toMatchObject({
        status: "killed",
        reason: "workspace-quota",
        message: expect.stringMatching(
          /^The workspace holds (at least )?\d+ files and folders; its quota is 2000\.$/,
        ),
      });
      expect(readdirSync(limited.workspace, { recursive: true }).length).toBeLessThan(200_000);
    });
  });
}

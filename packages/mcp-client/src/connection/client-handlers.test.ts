import { fileURLToPath } from "node:url";
import type { Elicit, ElicitRequest, Sample } from "@cem/core";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { connect, node, twoEra } from "../../fixtures/servers.ts";
import { createMcpInvoker } from "../../fixtures/invoker.ts";

const signal = new AbortController().signal;
const forms = fileURLToPath(new URL("../../fixtures/forms-server.ts", import.meta.url));
const formsServer = { name: "forms", protocol: "legacy", transport: node(forms) } as const;
const GREET = { server: "two-era", tool: "greet", args: {} };

describe("a question of a server", () => {
  it.each(["legacy", "2026-07-28"] as const)("stops the timeout of the call over %s", async (protocol) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const asked: ElicitRequest[] = [];
    const waiting: boolean[] = [];
    await using connections = connect([twoEra({ protocol, timeoutMs: 1_000 })], {
      async elicit(request) {
        asked.push(request);
        vi.advanceTimersByTime(60_000);
        return { action: "accept", content: { name: "Ada" } };
      },
    });
    const context = { signal, onWaiting: (isWaiting: boolean) => waiting.push(isWaiting) };
    const result = await createMcpInvoker(connections).invoke(GREET, context);
    expect(result).toEqual({ ok: true, value: "Hello Ada" });
    expect(asked).toMatchObject([{ server: "two-era", mode: "form", message: "What is your name?" }]);
    expect(waiting).toEqual([true, false]);
  });
});

describe.concurrent("questions of a server", () => {
  it.each(["legacy", "2026-07-28"] as const)(
    "are cancelled over %s when nobody is there",
    async (protocol) => {
      await using connections = connect([twoEra({ protocol })]);
      expect(await createMcpInvoker(connections).invoke(GREET, { signal })).toMatchObject({
        ok: false,
        error: {
          code: "TOOL_FAILED",
          message:
            'I was not told a name.\n(The server asked "What is your name?". Nobody could be asked: no user is connected to this run.)',
        },
      });
      expect(connections.logged).toContainEqual({
        server: "two-era",
        level: "warn",
        source: "client",
        message:
          'The server asked "What is your name?". Nobody could be asked: no user is connected to this run.',
      });
    },
  );

  it.each([
    ["legacy", "ada", "bob"],
    ["legacy", "both", "both"],
    ["legacy", undefined, undefined],
    ["2026-07-28", "ada", "bob"],
    ["2026-07-28", "both", "both"],
  ] as const)(
    "reach the user whose call it is, over %s in the sessions %s and %s",
    async (protocol, ...of) => {
      const [one, other] = of;
      const all = Promise.withResolvers<void>();
      const asked: string[] = [];
      await using connections = connect([twoEra({ protocol })]);
      const invoker = createMcpInvoker(connections);
      const greet = (session: string | undefined, name: string) => {
        const elicit: Elicit = async () => {
          if (asked.push(name) === 2) all.resolve();
          await all.promise;
          return { action: "accept", content: { name } };
        };
        return invoker.invoke(GREET, { signal, session, elicit });
      };
      expect(await Promise.all([greet(one, "Ada"), greet(other, "Bob")])).toEqual([
        { ok: true, value: "Hello Ada" },
        { ok: true, value: "Hello Bob" },
      ]);
      expect(asked.toSorted()).toEqual(["Ada", "Bob"]);
    },
  );

  it("reach nobody over a shared connection while they could be another's", async () => {
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await using connections = connect([twoEra({ connections: "shared" })]);
    const invoker = createMcpInvoker(connections);
    const greet = (session: string, elicit: Elicit) => invoker.invoke(GREET, { signal, session, elicit });
    const ada = greet("ada", async () => {
      asked.resolve();
      await answered.promise;
      return { action: "accept", content: { name: "Ada" } };
    });
    await asked.promise;
    const bob = await greet("bob", async () => ({ action: "accept", content: { name: "Bob" } }));
    expect(bob).toMatchObject({ ok: false, error: { code: "TOOL_FAILED" } });
    expect(connections.logged).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining("calls of several sessions") as string }),
    );
    answered.resolve();
    expect(await ada).toEqual({ ok: true, value: "Hello Ada" });
  });

  it("reach the user of their own call where another's model has not answered", async () => {
    const [thinking, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const asked: string[] = [];
    await using connections = connect([formsServer]);
    const invoker = createMcpInvoker(connections);
    const call = (tool: string) =>
      invoker.invoke(
        { server: "forms", tool, args: { form: "plain" } },
        {
          signal,
          session: "ada",
          async sample() {
            thinking.resolve();
            await answered.promise;
            return { role: "assistant", content: { type: "text", text: "so" }, model: "m" };
          },
          async elicit() {
            asked.push(tool);
            answered.resolve();
            return { action: "accept", content: { name: "Ada" } };
          },
        },
      );
    const sampling = call("sample");
    await thinking.promise;
    expect([await call("ask"), await sampling]).toMatchObject([{ value: "asked" }, { value: "sampled" }]);
    expect(asked).toEqual(["ask"]);
  });

  it("go on through another call of the session where the one they were passed through ends", async () => {
    const ending = new AbortController();
    await using connections = connect([formsServer]);
    const invoker = createMcpInvoker(connections);
    const call = (tool: string, sample: Sample, ends = signal) =>
      invoker.invoke(
        { server: "forms", tool, args: { form: "plain" } },
        { signal: ends, session: "ada", sample },
      );
    const silent: Sample = () => {
      ending.abort();
      return new Promise(() => {});
    };
    const answer: Sample = async () => ({
      role: "assistant",
      content: { type: "text", text: "so" },
      model: "m",
    });
    const [first, second] = await Promise.all([call("hang", silent, ending.signal), call("sample", answer)]);
    expect(first).toMatchObject({ error: { code: "ABORTED" } });
    expect(second).toEqual({ ok: true, value: "sampled" });
  });

  it("end when the call that asked is cancelled", async () => {
    const controller = new AbortController();
    const abandoned = Promise.withResolvers<string>();
    await using connections = connect([twoEra()], {
      elicit: (request) =>
        new Promise((_resolve, reject) => {
          request.signal.addEventListener("abort", () => {
            abandoned.resolve("abandoned");
            reject(new Error("abandoned"));
          });
          controller.abort();
        }),
    });
    const invoker = createMcpInvoker(connections);
    expect(await invoker.invoke(GREET, { signal: controller.signal })).toMatchObject({
      error: { code: "ABORTED" },
    });
    expect(await abandoned.promise).toBe("abandoned");
  });
});

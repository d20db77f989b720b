import { CemError } from "@cem/core";
import type { Sandbox, ToolDefinition } from "@cem/core";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { add, checker, MemorySandbox, outcome, settings } from "../fixtures/stages.ts";
import { createPipeline } from "./pipeline.ts";
import type { OwnedPipelineSettings } from "./stages.ts";

/** A pipeline whose stages are created on demand, and the names of those that were, in order. */
function start(change: Partial<OwnedPipelineSettings> = {}) {
  const created: string[] = [];
  const sandbox = new MemorySandbox(() => outcome({ status: "completed", value: 8 }));
  const ready = settings(sandbox);
  const creates =
    <T extends object>(name: string, part: T) =>
    async (): Promise<T> => {
      created.push(name);
      return part;
    };
  const indexed: (readonly ToolDefinition[])[] = [];
  const prepared = vi.fn<() => void>();
  const agent = createPipeline(async () => ({
    ...ready,
    catalog: creates("catalog", ready.catalog),
    selector: creates("selector", {
      ...ready.selector,
      prepare: async (tools: readonly ToolDefinition[]) => void indexed.push(tools),
    }),
    generator: creates("generator", ready.generator),
    guard: creates("guard", ready.guard),
    sandbox: creates<Sandbox>("sandbox", sandbox),
    typeChecker: creates("type checker", {
      ...checker(() => []),
      prepare: prepared,
    }),
    ...change,
  }));
  onTestFinished(() => agent.dispose());
  return { agent, created, indexed, prepared };
}

const failing = (): Promise<never> => Promise.reject(new CemError("SANDBOX_UNAVAILABLE", "No sandbox here."));

describe("a pipeline whose stages are created on demand", () => {
  it("creates for given code what it needs: the type checker, which takes longest, first", async () => {
    const { agent, created, prepared } = start();
    await expect(agent.executeCode("return 8")).resolves.toMatchObject({ value: 8 });
    expect(created).toEqual(["type checker", "sandbox", "guard", "catalog"]);
    expect(prepared).toHaveBeenCalledOnce();
  });

  it("creates for a task by rules no type checker, unless types are asked for", async () => {
    const { agent, created } = start();
    await expect(agent.executeTask("Add 5 and 3")).resolves.toMatchObject({ value: 8 });
    expect(created).toEqual(["sandbox", "catalog", "selector", "generator", "guard"]);
    const asking = start();
    await asking.agent.executeTask("Add 5 and 3", { typeCheck: "before" });
    expect(asking.created[0]).toBe("type checker");
  });

  it("creates for the list of tools the catalog alone", async () => {
    const { agent, created } = start();
    await agent.discoverTools();
    expect(created).toEqual(["catalog"]);
  });

  it("creates a stage again after it failed", async () => {
    let broken = true;
    const sandbox = new MemorySandbox(() => outcome({ status: "completed", value: 8 }));
    const { agent } = start({ guard: async () => (broken ? failing() : settings(sandbox).guard) });
    await expect(agent.executeCode("return 8")).rejects.toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
    broken = false;
    await expect(agent.executeCode("return 8")).resolves.toMatchObject({ status: "success" });
  });
});

describe("warm", () => {
  it("creates every stage, has the type checker load and the tools indexed, and runs nothing", async () => {
    const { agent, created, indexed, prepared } = start();
    await agent.warm();
    expect(created.toSorted()).toEqual([
      "catalog",
      "generator",
      "guard",
      "sandbox",
      "selector",
      "type checker",
    ]);
    expect(indexed).toEqual([[add]]);
    expect(prepared).toHaveBeenCalledOnce();
  });

  it("creates nothing twice, whatever comes at the same time and after it", async () => {
    const { agent, created } = start();
    await Promise.all([agent.warm(), agent.warm(), agent.executeTask("Add 5 and 3")]);
    await agent.warm();
    expect(created).toHaveLength(6);
  });

  it("waits until the sandbox and the type checker are ready", async () => {
    const steps: string[] = [];
    const { promise: booted, resolve: boot } = Promise.withResolvers<Sandbox>();
    const { promise: loaded, resolve: load } = Promise.withResolvers<void>();
    const { agent } = start({
      sandbox: () => booted,
      typeChecker: { ...checker(() => []), prepare: () => loaded },
    });
    const warming = agent.warm().then(() => steps.push("warm"));
    await agent.discoverTools();
    steps.push("listed");
    boot(new MemorySandbox(() => outcome({ status: "completed" })));
    await agent.executeTask("Add 5 and 3");
    steps.push("ran");
    load();
    await warming;
    expect(steps).toEqual(["listed", "ran", "warm"]);
  });

  it("rejects as a first run would where the set-up is broken", async () => {
    const { agent } = start({ sandbox: failing });
    await expect(agent.warm()).rejects.toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
    await expect(agent.executeCode("return 8")).rejects.toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
    const unconfigured = createPipeline(() => failing());
    await expect(unconfigured.warm()).rejects.toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
  });

  it("leaves the type checker out where types are not checked", async () => {
    const { agent, created } = start({ typeCheck: "off" });
    await agent.warm();
    expect(created).not.toContain("type checker");
  });

  it("ends with its signal, and with the agent", async () => {
    const never = new Promise<never>(() => {});
    const stuck = { ...checker(() => []), prepare: () => never };
    const { agent } = start({ typeChecker: stuck });
    await expect(agent.warm({ signal: AbortSignal.abort("enough") })).rejects.toBe("enough");
    const warming = agent.warm();
    await agent.dispose();
    await expect(warming).rejects.toMatchObject({ code: "AGENT_DISPOSED" });
    await expect(agent.warm()).rejects.toMatchObject({ code: "AGENT_DISPOSED" });
  });
});

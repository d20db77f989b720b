import { CemError } from "@cem/core";
import type { SandboxStats } from "@cem/core";
import { describe, expect, it } from "vitest";
import { MemorySandbox, outcome, settings } from "../fixtures/stages.ts";
import { createPipeline } from "./pipeline.ts";
import type { OwnedPipelineSettings } from "./stages.ts";

const stats: SandboxStats = {
  running: 0,
  waiting: 0,
  standby: 1,
  kept: 0,
  taken: 0,
  started: 1,
  hits: 0,
  reused: 0,
  misses: 0,
  lost: 0,
  discarded: 0,
};

class CountingSandbox extends MemorySandbox {
  stats(): SandboxStats {
    return stats;
  }
}

/** A pipeline of settings that are created lazily, and what happened to them in order. */
function start(change: Partial<OwnedPipelineSettings> = {}): {
  agent: ReturnType<typeof createPipeline>;
  events: string[];
} {
  const events: string[] = [];
  const sandbox = new CountingSandbox(() => outcome({ status: "completed", value: 8 }));
  sandbox.dispose = async () => void events.push("sandbox disposed");
  const agent = createPipeline(async () => {
    events.push("created");
    return {
      ...settings(async () => sandbox),
      dispose: async () => void events.push("settings disposed"),
      ...change,
    };
  });
  return { agent, events };
}

const failing = (): never => {
  throw new CemError("CONFIG_INVALID", "execution: unknown");
};

describe("createPipeline with a function", () => {
  it("does not hold a cancelled run for a sandbox that is never created", async () => {
    const controller = new AbortController();
    const created = Promise.withResolvers<MemorySandbox>();
    const { agent } = start({
      sandbox: async () => {
        controller.abort(new Error("The user went away."));
        return created.promise;
      },
    });
    const result = agent.executeCode("return 8;", { signal: controller.signal });
    expect(await result).toMatchObject({ status: "error", error: { code: "ABORTED" } });
    created.resolve(new MemorySandbox(() => outcome({ status: "completed", value: 8 })));
    await agent.dispose();
  });

  it("is disposed at the end of its block", async () => {
    const { agent, events } = start();
    {
      await using used = agent;
      await used.discoverTools();
    }
    expect(events).toContain("settings disposed");
  });

  it("creates the stages once, at the first request", async () => {
    const { agent, events } = start();
    expect(events).toEqual([]);
    const [result, catalog, ranked] = await Promise.all([
      agent.executeTask("Add 5 and 3"),
      agent.discoverTools(),
      agent.searchTools("add"),
    ]);
    expect(result.value).toBe(8);
    expect(catalog.servers.map(({ name }) => name)).toEqual(["calculator"]);
    expect(ranked.map(({ tool }) => tool.name)).toEqual(["add"]);
    await expect(agent.executeCode("return 8")).resolves.toMatchObject({ status: "success" });
    expect(events).toEqual(["created"]);
  });

  it("does not create them for an empty text", async () => {
    const { agent, events } = start();
    await expect(agent.executeTask(" ")).rejects.toMatchObject({ code: "TASK_EMPTY" });
    expect(events).toEqual([]);
  });

  it("rejects with the error of a failed creation and tries again at the next request", async () => {
    let broken = true;
    const sandbox = new MemorySandbox(() => outcome({ status: "completed", value: 8 }));
    const agent = createPipeline(async () => (broken ? failing() : settings(sandbox)));
    await expect(agent.executeTask("x")).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    await expect(agent.discoverTools()).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    broken = false;
    await expect(agent.executeTask("x")).resolves.toMatchObject({ value: 8 });
  });

  describe("sandboxStats", () => {
    it("is undefined until there is a sandbox", async () => {
      const { agent } = start();
      expect(agent.sandboxStats?.()).toBeUndefined();
      await agent.discoverTools();
      expect(agent.sandboxStats?.()).toBeUndefined();
      await agent.executeCode("return 8");
      expect(agent.sandboxStats?.()).toEqual(stats);
    });
  });

  describe("dispose", () => {
    it("disposes what the pipeline created, then what the settings hold, once", async () => {
      const { agent, events } = start();
      await agent.executeTask("x");
      await Promise.all([agent.dispose(), agent.dispose()]);
      await agent.dispose();
      expect(events).toEqual(["created", "sandbox disposed", "settings disposed"]);
    });

    it("disposes the settings also where the sandbox can't be disposed", async () => {
      const sandbox = new MemorySandbox(() => outcome({ status: "completed", value: 8 }));
      sandbox.dispose = () => Promise.reject(new Error("stuck"));
      const { agent, events } = start({ sandbox: async () => sandbox });
      await agent.executeTask("x");
      await expect(agent.dispose()).rejects.toThrow("stuck");
      expect(events).toEqual(["created", "settings disposed"]);
    });

    it("waits for a creation under way and for the request that caused it", async () => {
      const { agent, events } = start();
      const running = agent.executeTask("x");
      await agent.dispose();
      expect(events).toEqual(["created", "sandbox disposed", "settings disposed"]);
      await expect(running).resolves.toMatchObject({ status: "error", error: { code: "AGENT_DISPOSED" } });
    });

    it("creates nothing, and no request does so afterwards", async () => {
      const { agent, events } = start();
      await agent.dispose();
      for (const request of [
        agent.executeTask("x"),
        agent.executeCode("1"),
        agent.discoverTools(),
        agent.searchTools("x"),
      ]) {
        await expect(request).rejects.toMatchObject({ code: "AGENT_DISPOSED" });
      }
      expect(events).toEqual([]);
    });

    it("has nothing to dispose after a failed creation", async () => {
      const agent = createPipeline(async () => failing());
      await expect(agent.executeTask("x")).rejects.toMatchObject({ code: "CONFIG_INVALID" });
      await expect(agent.dispose()).resolves.toBeUndefined();
    });
  });
});

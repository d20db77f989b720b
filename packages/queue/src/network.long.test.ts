import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { startRedis } from "../../store/test/redis-server.ts";
import { addNetworkHost, OUTSIDE } from "../test/network-host.ts";
import { realWorkers } from "../test/real-workers.ts";
import { createRunQueue } from "./index.ts";
import { isInstalled } from "../../../vitest.tools.ts";

const LOST_AFTER_MS = 2_000;
const POLL = { timeout: 60_000 };

const host = isInstalled("redis-server") ? addNetworkHost() : undefined;
afterAll(() => host?.remove());

describe.skipIf(host === undefined)("a worker on a host of its own", { timeout: 240_000 }, () => {
  const open = async () => {
    const redis = await startRedis(OUTSIDE);
    onTestFinished(() => redis.stop());
    const workers = realWorkers(redis.url, LOST_AFTER_MS);
    const calls = (call: string): number => workers.calls().filter((one) => one === call).length;
    const queue = createRunQueue({ url: redis.url });
    onTestFinished(() => queue.close());
    const run = (tool: "look" | "send", id: string, ms = 0, session?: string) =>
      queue.execute({ kind: "code", input: JSON.stringify({ tool, id, ms }) }, { session });
    return { calls, work: workers.work, run };
  };

  it("loses its runs when the network is cut, does nothing twice, and takes runs again when it is healed", async () => {
    const { calls, work, run } = await open();
    await work(host?.command);

    const running = Promise.all([run("look", "far", 8_000), run("send", "far", 8_000)]);
    await expect.poll(() => [calls("look far"), calls("send far")], POLL).toEqual([1, 1]);
    host?.cut();
    const near = await work();
    const [looked, sent] = await running;
    expect(looked).toMatchObject({ status: "success", value: { done: "far" } });
    expect(sent.error).toMatchObject({ code: "RUN_INTERRUPTED", details: { calls: ["jobs.send"] } });
    expect([calls("look far"), calls("send far")]).toEqual([2, 1]);
    expect(await run("send", "meanwhile")).toMatchObject({ status: "success" });

    host?.heal();
    near.kill("SIGKILL");
    expect(await run("send", "healed")).toMatchObject({ status: "success", value: { done: "healed" } });
    expect([calls("send far"), calls("send meanwhile"), calls("send healed")]).toEqual([1, 1, 1]);
  });

  it("loses all runs of a session that it has", async () => {
    const { calls, work, run } = await open();
    await work(host?.command);
    await run("look", "first", 0, "s");
    await work();
    const ids = ["one", "two", "three", "four"];
    const running = Promise.all(
      ids.flatMap((id) => [run("look", id, 4_000, "s"), run("send", id, 20_000, "s")]),
    );
    const begun = (tool: string): number[] => ids.map((id) => calls(`${tool} ${id}`));
    const once = ids.map(() => 1);
    await expect.poll(() => [...begun("look"), ...begun("send")], POLL).toEqual([...once, ...once]);
    host?.cut();
    const results = await running;
    host?.heal();
    const failed = results.filter(({ status }) => status === "error");
    for (const { error } of failed)
      expect(error).toMatchObject({ code: "RUN_INTERRUPTED", details: { calls: ["jobs.send"] } });
    expect(failed).not.toEqual([]);
    expect(begun("send")).toEqual(once);
  });
});

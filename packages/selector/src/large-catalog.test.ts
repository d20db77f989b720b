import { toolId } from "@cem/core";
import { describe, expect, it } from "vitest";
import { createSelector } from "./index.ts";
import { sampleTools, tool } from "./testing/sample-tools.ts";

const THINGS = "disk cluster vault topic queue subscription certificate backup container gateway".split(" ");
const VERBS = "list get create delete update restart".split(" ");

/** A server with a tool for each verb and thing. */
const cloudTools = THINGS.flatMap((thing) =>
  VERBS.map((verb) => tool("cloud", `${verb}_${thing}`, `Use this to ${verb} a ${thing} in the account.`)),
);
const tools = [...cloudTools, ...sampleTools];
const selector = createSelector();

async function idsFor(task: string): Promise<string[]> {
  return (await selector.select({ task, tools })).selected.map((ranked) => toolId(ranked.tool));
}

describe("createSelector", () => {
  describe("select in a large catalog", () => {
    it("puts the right one of many alike first, and keeps to a few", async () => {
      const ids = await idsFor(
        "Restart the production gateway that keeps dropping requests since last night",
      );
      expect(ids[0]).toBe("cloud.restart_gateway");
      expect(ids.length).toBeLessThanOrEqual(8);
    });

    it("chooses for a long task of which it knows few words", async () => {
      const task =
        "My colleague left and nobody wrote anything down, so before the audit on Monday I would really like a list of every certificate of our account that is about to run out";
      expect(await idsFor(task)).toContain("cloud.list_certificate");
    });

    it("chooses for each part", async () => {
      const ids = await idsFor("Create a vault, then delete the old topic, and get weather for Oslo");
      expect(ids).toEqual(
        expect.arrayContaining(["cloud.create_vault", "cloud.delete_topic", "weather.get_weather"]),
      );
    });

    it("knows what is no word: paths", async () => {
      expect(await idsFor("cat /workspace/a.txt")).toContain("filesystem.read_file");
    });

    it.each(["Tell me a joke", "Play some jazz", "What's the capital of Australia?", "asdf qwer zxcv"])(
      "chooses nothing when nothing fits: %s",
      async (task) => {
        expect(await idsFor(task)).toEqual([]);
      },
    );

    it("chooses less with a higher threshold", async () => {
      const task = "Restart the production gateway that keeps dropping requests since last night";
      const strict = createSelector({ threshold: 1 });
      expect((await selector.select({ task, tools })).selected).not.toEqual([]);
      expect((await strict.select({ task, tools })).selected).toEqual([]);
    });
  });
});

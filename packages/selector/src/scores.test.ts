import type { RankedTool } from "@cem/core";
import { describe, expect, it } from "vitest";
import { createSelector } from "./index.ts";
import { sampleTools, tool } from "./testing/sample-tools.ts";

/** A task, what `search` finds for it, what `select` selects, and what that names as nearest. */
type Scored = [task: string, found: string[], selected: string[], nearest: string[]];

const SMALL: Scored[] = [
  [
    "Calculate 5 + 3 and get weather for Oslo",
    ["calculate 0.2591", "get_weather 0.2398", "get_forecast 0.2118", "list_locations 0.1394"],
    ["calculate 1", "get_weather 0.9677"],
    ["get_forecast 0.888", "list_locations 0.701", "add 0.6667"],
  ],
  [
    "Write a report on the moons, save it as /tmp/moons.md, then read it back",
    ["write_file 0.0921", "read_file 0.0495", "list_directory 0.0252", "query 0.0226"],
    ["read_file 0.795", "write_file 0.7715"],
    ["list_directory 0.4246", "get_forecast 0.104", "get_weather 0.104"],
  ],
  [
    "get weather for that many cities",
    ["get_weather 0.5507", "get_forecast 0.5152", "list_locations 0.3851"],
    ["get_weather 0.9195", "list_locations 0.45"],
    ["get_forecast 0.8675", "query 0.3117", "read_file 0.068"],
  ],
  [
    "what tables are there in the databse",
    ["list_tables 0.3884", "describe_table 0.3799", "query 0.2185"],
    ["list_tables 0.8821"],
    ["describe_table 0.7233", "query 0.6568"],
  ],
  [
    "list the users of the database and email them to bob@example.com",
    ["list_tables 0.1244", "query 0.1156", "describe_table 0.0868", "list_locations 0.0409"],
    ["query 0.729", "list_tables 0.6571"],
    ["describe_table 0.6475", "list_directory 0.0778", "list_locations 0.0778"],
  ],
  ["double 21", ["double_number 0.3795"], ["double_number 1"], []],
  [
    "weather.get_weather for Oslo",
    ["get_weather 0.9387", "get_forecast 0.3327", "list_locations 0.2068"],
    ["get_weather 1"],
    ["get_forecast 0.888", "list_locations 0.7619", "read_file 0.104"],
  ],
  [
    "copy /workspace/a.txt to /workspace/b.txt",
    ["read_file 0.2062", "write_file 0.1181", "list_directory 0.0898"],
    ["write_file 0.8511", "read_file 0.45"],
    ["list_directory 0.2925"],
  ],
  [
    "How hot will it be tomorrow?",
    ["get_forecast 0.3063", "get_weather 0.14", "list_locations 0.1298"],
    ["get_weather 0.6667", "get_forecast 0.4906"],
    ["list_locations 0.4906"],
  ],
  [
    "compare the forecast with the tables",
    ["get_forecast 0.2669", "list_tables 0.1967", "describe_table 0.1915", "query 0.0864"],
    ["describe_table 0.5", "list_tables 0.5", "get_forecast 0.5"],
    ["query 0.1711"],
  ],
];

const THINGS = "disk cluster vault topic queue subscription certificate backup container gateway".split(" ");
const VERBS = "list get create delete update restart".split(" ");
const cloudTools = THINGS.flatMap((thing) =>
  VERBS.map((verb) => tool("cloud", `${verb}_${thing}`, `Use this to ${verb} a ${thing} in the account.`)),
);

const LARGE: Scored[] = [
  [
    "Restart the production gateway that keeps dropping requests",
    ["restart_gateway 0.2038", "delete_gateway 0.096", "restart_backup 0.0915", "restart_certificate 0.0915"],
    ["restart_gateway 0.7374"],
    ["restart_backup 0.2857", "restart_certificate 0.2857", "restart_cluster 0.2857"],
  ],
  [
    "Create a vault, then delete the old topic, and get weather for Oslo",
    ["create_vault 0.1576", "delete_topic 0.148", "get_weather 0.1381", "delete_vault 0.1207"],
    [
      "create_vault 1",
      "get_weather 0.9677",
      "delete_topic 0.9392",
      "delete_vault 0.7655",
      "create_topic 0.7608",
    ],
    ["update_vault 0.905", "get_forecast 0.888", "list_locations 0.701"],
  ],
  [
    "show me every certificate with backup",
    ["get_backup 0.1773", "get_certificate 0.1773", "list_backup 0.174", "list_certificate 0.174"],
    ["get_backup 0.6231", "get_certificate 0.6231"],
    ["list_backup 0.5732", "list_certificate 0.5732", "create_backup 0.4361"],
  ],
];

const selector = createSelector();
const scores = (ranked: readonly RankedTool[]) => ranked.map(({ tool, score }) => `${tool.name} ${score}`);

/**
 * The weights were tuned on the evaluation sets (see README.md). These scores show when one of them, or a formula, changes:
 * then the evaluation has to be run again.
 */
describe("createSelector", () => {
  describe.each([
    ["a small catalog", SMALL, sampleTools],
    ["a large catalog", LARGE, [...cloudTools, ...sampleTools]],
  ])("with the weights that were tuned, on %s", (_catalog, tasks, tools) => {
    it.each(tasks)("scores %j", async (task, found, selected, nearest) => {
      expect(scores(await selector.search({ task, tools, limit: 4 }))).toEqual(found);
      const selection = await selector.select({ task, tools });
      expect(scores(selection.selected)).toEqual(selected);
      expect(scores(selection.nearest)).toEqual(nearest);
    });
  });
});

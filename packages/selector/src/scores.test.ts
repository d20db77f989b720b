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
    ["calculate 0.7368", "get_weather 0.682", "get_forecast 0.6023"],
    ["list_locations 0.3964", "multiply 0.2841", "subtract 0.2835"],
  ],
  [
    "Write a report on the moons, save it as /tmp/moons.md, then read it back",
    ["write_file 0.0921", "read_file 0.0495", "list_directory 0.0252", "query 0.0226"],
    ["write_file 0.9312"],
    ["read_file 0.5", "list_directory 0.2545", "query 0.2289"],
  ],
  [
    "get weather for that many cities",
    ["get_weather 0.5507", "get_forecast 0.5152", "list_locations 0.3851"],
    ["get_weather 0.7141", "get_forecast 0.668", "list_locations 0.4993"],
    ["describe_table 0.1501", "query 0.0727", "read_file 0.059"],
  ],
  [
    "what tables are there in the databse",
    ["list_tables 0.3884", "describe_table 0.3799", "query 0.2185"],
    ["list_tables 0.5773", "describe_table 0.5647"],
    ["query 0.3248"],
  ],
  [
    "list the users of the database and email them to bob@example.com",
    ["list_tables 0.1244", "query 0.1156", "describe_table 0.0868", "list_locations 0.0409"],
    ["list_tables 0.6282", "query 0.5837", "describe_table 0.4381"],
    ["list_locations 0.2063", "list_directory 0.1943", "get_weather 0.0601"],
  ],
  ["double 21", ["double_number 0.3795"], ["double_number 0.5698"], []],
  [
    "weather.get_weather for Oslo",
    ["get_weather 0.9387", "get_forecast 0.3327", "list_locations 0.2068"],
    ["get_weather 1", "get_forecast 0.495"],
    ["list_locations 0.3077", "read_file 0.0648", "query 0.0356"],
  ],
  [
    "copy /workspace/a.txt to /workspace/b.txt",
    ["read_file 0.2062", "write_file 0.1181", "list_directory 0.0898"],
    ["read_file 0.9306"],
    ["write_file 0.5331", "list_directory 0.4055", "add 0.0908"],
  ],
  [
    "How hot will it be tomorrow?",
    ["get_forecast 0.3063", "get_weather 0.14", "list_locations 0.1298"],
    ["get_forecast 0.5081"],
    ["get_weather 0.2323", "list_locations 0.2153"],
  ],
  [
    "compare the forecast with the tables",
    ["get_forecast 0.2669", "list_tables 0.1967", "describe_table 0.1915", "query 0.0864"],
    ["get_forecast 0.4886", "list_tables 0.36", "describe_table 0.3506"],
    ["query 0.1582", "get_weather 0.1197", "list_locations 0.1127"],
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
    ["restart_gateway 0.6419"],
    ["delete_gateway 0.3023", "restart_backup 0.2882", "restart_certificate 0.2882"],
  ],
  [
    "Create a vault, then delete the old topic, and get weather for Oslo",
    ["create_vault 0.1576", "delete_topic 0.148", "get_weather 0.1381", "delete_vault 0.1207"],
    [
      "create_vault 0.9838",
      "delete_topic 0.924",
      "get_weather 0.8618",
      "delete_vault 0.7531",
      "create_topic 0.7485",
      "get_forecast 0.6966",
      "get_topic 0.6487",
      "get_vault 0.6363",
    ],
    ["update_vault 0.5911", "list_vault 0.552", "update_topic 0.5397"],
  ],
  [
    "show me every certificate with backup",
    ["get_backup 0.1773", "get_certificate 0.1773", "list_backup 0.174", "list_certificate 0.174"],
    [
      "get_backup 0.4726",
      "get_certificate 0.4726",
      "list_backup 0.4638",
      "list_certificate 0.4638",
      "create_backup 0.3473",
      "create_certificate 0.3473",
      "delete_backup 0.3459",
      "delete_certificate 0.3459",
    ],
    ["restart_backup 0.3459", "restart_certificate 0.3459", "update_backup 0.3459"],
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

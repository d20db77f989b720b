import type { RankedTool } from "@cem/core";
import { describe, expect, it } from "vitest";
import { createSelector } from "./index.ts";
import { sampleTools, tool } from "./testing/sample-tools.ts";

/** A task, what `search` finds for it, what `select` selects, and what that names as nearest. */
type Scored = [task: string, found: string[], selected: string[], nearest: string[]];

const SMALL: Scored[] = [
  [
    "Calculate 5 + 3 and get weather for Oslo",
    ["calculate 0.2591", "get_weather 0.2399", "get_forecast 0.2071", "list_locations 0.1347"],
    ["calculate 0.7368", "get_weather 0.6823", "get_forecast 0.589"],
    ["list_locations 0.3832", "multiply 0.2659", "subtract 0.2653"],
  ],
  [
    "Write a report on the moons, save it as /tmp/moons.md, then read it back",
    ["write_file 0.0874", "read_file 0.0471", "list_directory 0.0239", "query 0.02"],
    ["write_file 0.9312"],
    ["read_file 0.5019", "list_directory 0.2544", "query 0.2131"],
  ],
  [
    "get weather for that many cities",
    ["get_weather 0.5507", "get_forecast 0.5053", "list_locations 0.3701"],
    ["get_weather 0.7141", "get_forecast 0.6552", "list_locations 0.4798"],
    ["describe_table 0.1351", "query 0.0626", "list_tables 0.0453"],
  ],
  [
    "what tables are there in the databse",
    ["list_tables 0.3509", "describe_table 0.3409", "query 0.2038"],
    ["list_tables 0.5457", "describe_table 0.5302"],
    ["query 0.317"],
  ],
  [
    "list the users of the database and email them to bob@example.com",
    ["list_tables 0.1213", "query 0.1113", "describe_table 0.0811", "list_locations 0.0393"],
    ["list_tables 0.6186", "query 0.5678", "describe_table 0.4138"],
    ["list_locations 0.2006", "list_directory 0.1859", "get_weather 0.0649"],
  ],
  ["double 21", ["double_number 0.3698"], ["double_number 0.5616"], []],
  [
    "weather.get_weather for Oslo",
    ["get_weather 0.9387", "get_forecast 0.3265", "list_locations 0.2001"],
    ["get_weather 1", "get_forecast 0.4859"],
    ["list_locations 0.2978", "read_file 0.0383", "list_directory 0.0326"],
  ],
  [
    "copy /workspace/a.txt to /workspace/b.txt",
    ["read_file 0.1856", "write_file 0.1055", "list_directory 0.0796"],
    ["read_file 0.9306"],
    ["write_file 0.5291", "list_directory 0.399", "add 0.0908"],
  ],
  [
    "How hot will it be tomorrow?",
    ["get_forecast 0.2757", "get_weather 0.126", "list_locations 0.1168"],
    ["get_forecast 0.4823"],
    ["get_weather 0.2205", "list_locations 0.2043"],
  ],
  [
    "compare the forecast with the tables",
    ["get_forecast 0.2581", "list_tables 0.1873", "describe_table 0.1808", "query 0.0914"],
    ["get_forecast 0.4807", "list_tables 0.3489", "describe_table 0.3367"],
    ["query 0.1702", "get_weather 0.1282", "list_locations 0.1188"],
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
    ["restart_gateway 0.2038", "delete_gateway 0.0995", "restart_backup 0.089", "restart_certificate 0.089"],
    ["restart_gateway 0.6419"],
    ["delete_gateway 0.3133", "restart_backup 0.2803", "restart_certificate 0.2803"],
  ],
  [
    "Create a vault, then delete the old topic, and get weather for Oslo",
    ["create_vault 0.1576", "delete_topic 0.148", "get_weather 0.1376", "delete_vault 0.1199"],
    [
      "create_vault 0.9838",
      "delete_topic 0.924",
      "get_weather 0.859",
      "delete_vault 0.7482",
      "create_topic 0.7448",
      "get_forecast 0.6754",
      "get_topic 0.6451",
      "get_vault 0.6318",
    ],
    ["update_vault 0.5769", "list_vault 0.5471", "update_topic 0.5275"],
  ],
  [
    "show me every certificate with backup",
    ["get_backup 0.1818", "get_certificate 0.1818", "list_backup 0.1784", "list_certificate 0.1784"],
    [
      "get_backup 0.4782",
      "get_certificate 0.4782",
      "list_backup 0.4693",
      "list_certificate 0.4693",
      "create_backup 0.337",
      "create_certificate 0.337",
      "delete_backup 0.3352",
      "delete_certificate 0.3352",
    ],
    ["restart_backup 0.3352", "restart_certificate 0.3352", "update_backup 0.3352"],
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

import type { RankedTool } from "@cem/core";
import { describe, expect, it } from "vitest";
import { createSelector } from "./index.ts";
import { sampleTools, tool } from "./testing/sample-tools.ts";

/** A task, what `search` finds for it, what `select` selects, and what that names as nearest. */
type Scored = [task: string, found: string[], selected: string[], nearest: string[]];

const SMALL: Scored[] = [
  [
    "Calculate 5 + 3 and get weather for Oslo",
    ["calculate 0.2591", "get_weather 0.2397", "get_forecast 0.2053", "list_locations 0.1313"],
    ["calculate 0.7368", "get_weather 0.6816", "get_forecast 0.5838"],
    ["list_locations 0.3733", "multiply 0.2659", "subtract 0.2653"],
  ],
  [
    "Write a report on the moons, save it as /tmp/moons.md, then read it back",
    ["write_file 0.0904", "read_file 0.0482", "list_directory 0.0242", "query 0.0206"],
    ["write_file 0.9312"],
    ["read_file 0.4969", "list_directory 0.2497", "query 0.212"],
  ],
  [
    "get weather for that many cities",
    ["get_weather 0.5507", "get_forecast 0.502", "list_locations 0.3703"],
    ["get_weather 0.7141", "get_forecast 0.651", "list_locations 0.4802"],
    ["describe_table 0.1356", "query 0.0656", "read_file 0.0549"],
  ],
  [
    "what tables are there in the databse",
    ["list_tables 0.3509", "describe_table 0.3409", "query 0.1873"],
    ["list_tables 0.5457", "describe_table 0.5302"],
    ["query 0.2912"],
  ],
  [
    "list the users of the database and email them to bob@example.com",
    ["list_tables 0.1202", "query 0.1096", "describe_table 0.0804", "list_locations 0.0391"],
    ["list_tables 0.6154", "query 0.561", "describe_table 0.4116"],
    ["list_locations 0.2004", "list_directory 0.1868", "get_weather 0.0569"],
  ],
  ["double 21", ["double_number 0.3698"], ["double_number 0.5616"], []],
  [
    "weather.get_weather for Oslo",
    ["get_weather 0.9387", "get_forecast 0.3245", "list_locations 0.1954"],
    ["get_weather 1", "get_forecast 0.4828"],
    ["list_locations 0.2908", "read_file 0.0602", "query 0.0321"],
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
    ["get_forecast 0.2581", "list_tables 0.188", "describe_table 0.1815", "query 0.0811"],
    ["get_forecast 0.4807", "list_tables 0.3502", "describe_table 0.338"],
    ["query 0.1511", "get_weather 0.1148", "list_locations 0.1077"],
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
    [
      "restart_gateway 0.2038",
      "delete_gateway 0.0968",
      "restart_backup 0.0888",
      "restart_certificate 0.0888",
    ],
    ["restart_gateway 0.6419"],
    ["delete_gateway 0.3049", "restart_backup 0.2796", "restart_certificate 0.2796"],
  ],
  [
    "Create a vault, then delete the old topic, and get weather for Oslo",
    ["create_vault 0.1576", "delete_topic 0.148", "get_weather 0.1375", "delete_vault 0.1199"],
    [
      "create_vault 0.9838",
      "delete_topic 0.924",
      "get_weather 0.8582",
      "delete_vault 0.7482",
      "create_topic 0.7448",
      "get_forecast 0.6688",
      "get_topic 0.6451",
      "get_vault 0.6318",
    ],
    ["update_vault 0.5769", "list_vault 0.5419", "update_topic 0.5275"],
  ],
  [
    "show me every certificate with backup",
    ["get_backup 0.1773", "get_certificate 0.1773", "list_backup 0.174", "list_certificate 0.174"],
    [
      "get_backup 0.4725",
      "get_certificate 0.4725",
      "list_backup 0.4638",
      "list_certificate 0.4638",
      "create_backup 0.3387",
      "create_certificate 0.3387",
      "delete_backup 0.3369",
      "delete_certificate 0.3369",
    ],
    ["restart_backup 0.3369", "restart_certificate 0.3369", "update_backup 0.3369"],
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

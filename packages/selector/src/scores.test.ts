import type { RankedTool } from "@cem/core";
import { describe, expect, it } from "vitest";
import { createSelector } from "./index.ts";
import { sampleTools, tool } from "./testing/sample-tools.ts";

/** A task, what `search` finds for it, what `select` selects, and what that names as nearest. */
type Scored = [task: string, found: string[], selected: string[], nearest: string[]];

const SMALL: Scored[] = [
  [
    "Calculate 5 + 3 and get weather for Oslo",
    ["calculate 0.287", "get_weather 0.2658", "get_forecast 0.2296", "list_locations 0.1518"],
    ["calculate 0.7892", "get_weather 0.7308", "get_forecast 0.6314"],
    ["list_locations 0.4173", "multiply 0.2853", "subtract 0.2847"],
  ],
  [
    "Write a report on the moons, save it as /tmp/moons.md, then read it back",
    ["write_file 0.1002", "read_file 0.054", "list_directory 0.0274", "query 0.023"],
    ["write_file 1"],
    ["read_file 0.5391", "list_directory 0.2733", "query 0.2293"],
  ],
  [
    "get weather for that many cities",
    ["get_weather 0.61", "get_forecast 0.5601", "list_locations 0.4628"],
    ["get_weather 0.764", "get_forecast 0.7016", "list_locations 0.5797"],
    ["describe_table 0.145", "query 0.0672", "list_tables 0.0541"],
  ],
  [
    "what tables are there in the databse",
    ["list_tables 0.4785", "describe_table 0.3968", "query 0.2416"],
    ["list_tables 0.6532", "describe_table 0.5418"],
    ["query 0.3298"],
  ],
  [
    "list the users of the database and email them to bob@example.com",
    ["list_tables 0.1613", "query 0.1386", "describe_table 0.0969", "list_locations 0.0526"],
    ["list_tables 0.7404", "query 0.6363", "describe_table 0.4448"],
    ["list_locations 0.2413", "list_directory 0.2246", "get_weather 0.0715"],
  ],
  ["double 21", ["double_number 0.4099"], ["double_number 0.5954"], []],
  [
    "weather.get_weather for Oslo",
    ["get_weather 0.9429", "get_forecast 0.3619", "list_locations 0.222"],
    ["get_weather 1", "get_forecast 0.5158"],
    ["list_locations 0.3164", "read_file 0.0407", "list_directory 0.0347"],
  ],
  [
    "copy /workspace/a.txt to /workspace/b.txt",
    ["read_file 0.2062", "write_file 0.1173", "list_directory 0.0887"],
    ["read_file 1"],
    ["write_file 0.5687", "list_directory 0.4304", "add 0.0976"],
  ],
  [
    "How hot will it be tomorrow?",
    ["get_forecast 0.3147", "get_weather 0.125", "list_locations 0.1117"],
    ["get_forecast 0.5152"],
    ["get_weather 0.2047", "list_locations 0.1829"],
  ],
  [
    "compare the forecast with the tables",
    ["get_forecast 0.2861", "list_tables 0.2077", "describe_table 0.2006", "query 0.1014"],
    ["get_forecast 0.5058", "list_tables 0.3672", "describe_table 0.3545"],
    ["query 0.1793", "get_weather 0.135", "list_locations 0.1251"],
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
      "restart_gateway 0.2418",
      "delete_gateway 0.1181",
      "restart_backup 0.1057",
      "restart_certificate 0.1057",
    ],
    ["restart_gateway 0.6841"],
    ["delete_gateway 0.3341", "restart_backup 0.299", "restart_certificate 0.299"],
  ],
  [
    "Create a vault, then delete the old topic, and get weather for Oslo",
    ["create_vault 0.1746", "delete_topic 0.164", "get_weather 0.1525", "delete_vault 0.1328"],
    [
      "create_vault 1",
      "delete_topic 0.9392",
      "get_weather 0.8733",
      "delete_vault 0.7606",
      "create_topic 0.7571",
      "get_forecast 0.6872",
      "get_topic 0.6558",
      "get_vault 0.6423",
    ],
    ["update_vault 0.5868", "list_vault 0.5564", "update_topic 0.5365"],
  ],
  [
    "show me every certificate with backup",
    ["list_backup 0.2717", "list_certificate 0.2717", "get_backup 0.2369", "get_certificate 0.2369"],
    [
      "list_backup 0.5535",
      "list_certificate 0.5535",
      "get_backup 0.4825",
      "get_certificate 0.4825",
      "create_backup 0.3464",
      "create_certificate 0.3464",
      "delete_backup 0.3447",
      "delete_certificate 0.3447",
    ],
    ["restart_backup 0.3447", "restart_certificate 0.3447", "update_backup 0.3447"],
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

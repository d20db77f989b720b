import type { JsonSchema, ToolDefinition } from "@cem/core";
import { describe, expect, it } from "vitest";
import { add } from "../fixtures/stages.ts";
import { databasesOf, filesNamedIn } from "./data-facts.ts";

const reads = { readOnlyHint: true };

function tool(name: string, parameters: string[], more: Partial<ToolDefinition> = {}): ToolDefinition {
  const properties = Object.fromEntries(parameters.map((key): [string, JsonSchema] => [key, {}]));
  const inputSchema = { type: "object", properties, required: parameters };
  return {
    ...add,
    server: "db",
    name,
    module: "./servers/db/index.ts",
    inputSchema,
    annotations: reads,
    ...more,
  };
}

const query = tool("run_query", ["sql"]);
const list = tool("list_tables", []);
const describeTable = tool("describe_table", ["table_name"]);

describe("databasesOf", () => {
  it("finds what lists and describes the tables beside a tool that queries", () => {
    expect(databasesOf([query, list, describeTable, add])).toEqual([
      {
        server: "db",
        module: "./servers/db/index.ts",
        list: "list_tables",
        describe: { tool: "describe_table", argument: "table_name" },
      },
    ]);
    expect(databasesOf([query, tool("get_schema", [])])).toMatchObject([
      { list: "get_schema", describe: undefined },
    ]);
  });

  it.each([
    ["no tool queries", [list, describeTable]],
    ["none lists", [query, describeTable]],
    ["the one that lists does not say that it only reads", [query, { ...list, annotations: undefined }]],
    ["the one that lists needs an argument", [query, tool("list_tables", ["schema"])]],
    [
      "the one that lists can't be called",
      [query, { ...list, unavailable: { code: "X", message: "", details: {} } }],
    ],
    ["it is on another server", [query, { ...list, module: "./servers/other/index.ts" }]],
    ["the one that queries takes no SQL", [tool("query", ["text"]), list]],
  ])("finds none where %s", (_, tools) => {
    expect(databasesOf(tools)).toEqual([]);
  });

  it("does not describe tables by a tool that may change them", () => {
    const [database] = databasesOf([query, list, { ...describeTable, annotations: {} }]);
    expect(database).toMatchObject({ list: "list_tables", describe: undefined });
  });
});

describe("filesNamedIn", () => {
  it.each([
    ["Read data/sales.csv, and 'b.json'.", ["data/sales.csv", "b.json"]],
    ["/workspace/notes/a.md and ./c.txt (see d.log)", ["notes/a.md", "c.txt", "d.log"]],
    ["a.csv b.csv c.csv d.csv e.csv a.csv", ["a.csv", "b.csv", "c.csv", "d.csv"]],
    ["../out.csv /etc/hosts.txt ~/x.csv C:\\\\y.csv", []],
    ["https://example.com/data.json and ada@x.txt.example", []],
    [".env.txt secrets.json my-credentials.yaml tokens.csv sessions/a.json", []],
    ["image.png report.pdf Node.js 3.5", []],
    ["a/../../b.csv", []],
  ])("finds in %j the files of the workspace", (task, paths) => {
    expect(filesNamedIn(task)).toEqual(paths);
  });
});

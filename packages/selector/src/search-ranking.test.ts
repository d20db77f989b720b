import { describe, expect, it } from "vitest";
import { createSelector } from "./index.ts";
import { sampleTools, tool } from "./testing/sample-tools.ts";

const selector = createSelector();

async function search(task: string, tools = sampleTools): Promise<string[]> {
  return (await selector.search({ task, tools })).map((ranked) => ranked.tool.name);
}

describe("createSelector", () => {
  describe("search", () => {
    it("knows that a path to save to needs a tool that writes files", async () => {
      const found = await search("Give me a report on the moons of Jupiter, saved as /tmp/moons.md");
      expect(found[0]).toBe("write_file");
    });

    it("finds by a word of the same field of life", async () => {
      const tools = [...sampleTools, tool("kitchen", "find_recipe", "Find a recipe.")];
      expect((await search("what should I cook", tools))[0]).toBe("find_recipe");
    });

    it("learns from the catalog which words stand for one thing", async () => {
      const tools = [
        ...sampleTools,
        tool("zq", "zq_list", "List every quasar of the account."),
        tool("zq", "zq_delete", "Delete a quasar of the account."),
        tool("zq", "zq_tag", "Put a label on something."),
      ];
      expect(await search("put a quasar on something", tools)).toContain("zq_tag");
    });

    it("tells verbs apart between tools that are alike otherwise", async () => {
      const tools = ["get", "create", "update", "delete"].map((verb) =>
        tool("vault", `certificate_${verb}`, "Works on a certificate of the vault."),
      );
      expect((await search("Remove the certificate from the vault", tools))[0]).toBe("certificate_delete");
      expect((await search("Change the certificate in the vault", tools))[0]).toBe("certificate_update");
      expect((await search("Show me the certificate", tools))[0]).toBe("certificate_get");
    });

    it("prefers a tool that lists where several things are asked for", async () => {
      const tools = ["get", "list"].map((verb) =>
        tool("kusto", `cluster_${verb}`, "Works on clusters of the account."),
      );
      for (const task of ["Show me my clusters", "what clusters are there", "find every cluster"]) {
        expect((await search(task, tools))[0]).toBe("cluster_list");
      }
      expect((await search("Show me the details of cluster east", tools))[0]).toBe("cluster_get");
    });

    it("finds what the catalog writes as one word", async () => {
      const tools = [...sampleTools, tool("eventgrid", "topics", "Topics there are.")];
      expect((await search("event grid", tools))[0]).toBe("topics");
    });

    it("finds the tool of each step", async () => {
      const found = await search("Describe the users table. Then calculate 3 * 4. Then forecast the week.");
      expect(found.slice(0, 5)).toEqual(
        expect.arrayContaining(["describe_table", "calculate", "get_forecast"]),
      );
    });

    it("never lets anything stand above a tool that is named", async () => {
      const task = "use list_locations: weather forecast for the city, get weather, get the forecast";
      expect((await search(task))[0]).toBe("list_locations");
    });

    it("prefers a tool whose words stand together as in the text, in any order", async () => {
      const tools = [
        tool("a", "alpha", "Finds the price of items, how old, in stock."),
        tool("b", "beta", "Finds in items the price of stock, how old."),
        ...sampleTools,
      ];
      expect(await search("how is the stock price", tools)).toEqual(["beta", "alpha"]);
    });

    it("does not take a tool for an implied step that explains little of it", async () => {
      const found = await search("weather forecast tomorrow");
      expect(found[0]).toBe("get_forecast");
      const clock = [...sampleTools, tool("clock", "get_current_time", "Get the current time.")];
      expect(await search("compare the forecast for tomorrow with the tables", clock)).toContain(
        "get_current_time",
      );
    });

    it("gives scores from 0 to 1 that fall with what is not known", async () => {
      const score = async (task: string) =>
        (await selector.search({ task, tools: sampleTools }))[0]?.score ?? 0;
      const sure = await score("list tables");
      const unsure = await score("list the tables of zebras and qwertyuiop while xylophones asdfgh");
      expect(sure).toBeLessThanOrEqual(1);
      expect(unsure).toBeGreaterThan(0);
      expect(unsure).toBeLessThan(sure / 2);
    });
  });
});

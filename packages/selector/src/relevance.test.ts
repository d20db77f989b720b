import { describe, expect, it } from "vitest";
import { createSelector } from "./index.ts";
import { sampleTools, tool } from "./testing/sample-tools.ts";

async function search(task: string, tools = sampleTools) {
  const notes: string[] = [];
  const found = await createSelector().search({ task, tools, onNote: (note) => notes.push(note) });
  return { names: found.map((ranked) => ranked.tool.name), notes };
}

describe("createSelector", () => {
  describe("search", () => {
    it.each([
      ["weather forecast tomorrow", ["get_forecast"]],
      ["read a file", ["read_file"]],
      ["multiply two numbers", ["multiply"]],
    ])("leaves out what is far behind the best: %s", async (task, expected) => {
      const { names, notes } = await search(task);
      expect(names.slice(0, expected.length)).toEqual(expected);
      expect(names).not.toContain("list_directory");
      expect(names).not.toContain("list_tables");
      expect(notes).toEqual(["by words only: no embedding model is set"]);
    });

    it.each([
      "send an email to bob",
      "order a pizza",
      "translate this text to French",
      "get a cat picture",
      "find a restaurant nearby",
      "create a github issue",
    ])("finds nothing where a word or two match by chance, and says so: %s", async (task) => {
      expect(await search(task)).toEqual({
        names: [],
        notes: [
          "by words only: no embedding model is set",
          "no close match: no tool is about enough of these words",
        ],
      });
    });

    it.each([
      ["users older than 30", "query"],
      ["will it rain in Paris", "get_weather"],
      ["forcast", "get_forecast"],
      ["store a note", "write_file"],
      ["get", "get_weather"],
    ])("keeps what fits, however few words match: %s", async (task, expected) => {
      expect((await search(task)).names[0]).toBe(expected);
    });

    it("marks what matches by a word or two only", async () => {
      const isDoubtful = async (task: string) =>
        (await createSelector().search({ task, tools: sampleTools })).map((found) => found.isDoubtful);
      expect(new Set(await isDoubtful("store a note"))).toEqual(new Set([true]));
      expect(new Set(await isDoubtful("query the moon"))).toEqual(new Set([true]));
      expect(new Set(await isDoubtful("read a file"))).toEqual(new Set([undefined]));
      const terminal = tool("terminal", "interact", "Send input to a process and return its output.");
      const [found] = await createSelector().search({
        task: "send an email",
        tools: [...sampleTools, terminal],
      });
      expect(found).toMatchObject({ tool: terminal, isDoubtful: true });
      const clock = tool("time", "current_time", "Tell the current time.");
      const [now] = await createSelector().search({
        task: "what time is it in Tokyo",
        tools: [...sampleTools, clock],
      });
      expect(now).toMatchObject({ tool: clock });
      expect(now).not.toHaveProperty("isDoubtful");
    });

    it("finds what the words of people say in the words of tools", async () => {
      const tools = [
        ...sampleTools,
        tool("memory", "create_entities", "Create new entities in the knowledge graph."),
        tool("memory", "add_observations", "Add observations to existing entities in the knowledge graph."),
        tool("browser", "browser_navigate", "Navigate to a URL."),
        tool("filesystem", "create_directory", "Create a new directory."),
        tool("filesystem", "directory_tree", "Get a tree view of directories."),
        tool("filesystem", "edit_file", "Make line-based edits to a text file."),
        tool("git", "git_commit", "Create a new commit with staged changes."),
        tool("git", "git_reset", "Reset HEAD to a commit, or unstage changes."),
        tool("git", "git_log", "View commits with author and message."),
      ];
      expect((await search("remember facts about a person", tools)).names[0]).toBe("add_observations");
      expect((await search("go to a website", tools)).names[0]).toBe("browser_navigate");
      expect((await search("create a folder", tools)).names[0]).toBe("create_directory");
      expect((await search("undo the last commit", tools)).names[0]).toBe("git_reset");
      expect((await search("show the history", tools)).names[0]).toBe("git_log");
      expect((await search("append a line to a file", tools)).names[0]).toBe("edit_file");
    });

    it("keeps more where even the best tool explains little of a long text", async () => {
      const task =
        "I would love to surprise my grandmother with the temperature of Lisbon and a poem about sailing";
      expect((await search(task)).names).toEqual(
        expect.arrayContaining(["get_weather", "get_forecast", "list_locations"]),
      );
    });

    it("keeps tools of a server whose other tools are near the best rather than strangers", async () => {
      const tools = [
        tool("disks", "attach_volume", "Attach a volume to a machine."),
        tool("disks", "detach", "Take a drive from a machine."),
        tool("clocks", "wind", "Wind a machine up, gently."),
        ...sampleTools,
      ];
      const { names } = await search("attach the volume to some machine over there", tools);
      expect(names[0]).toBe("attach_volume");
      expect(names).not.toContain("wind");
    });

    it("keeps a tool that is named, whatever else the text says", async () => {
      const { names } = await search("frobnicate the quux with list_tables");
      expect(names[0]).toBe("list_tables");
    });
  });
});

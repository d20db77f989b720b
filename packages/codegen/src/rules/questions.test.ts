import { describe, expect, it } from "vitest";
import { createRulesGenerator } from "./rules-generator.ts";
import { serverTools } from "./testing/tools.ts";

const generator = createRulesGenerator({ now: () => new Date("2026-11-20T12:00:00Z") });

describe("createRulesGenerator", () => {
  describe("generate, with tools that change things", () => {
    it.each([
      ["Get the git log of /repo with max_count 3", 'git_log({ repo_path: "/repo", max_count: 3 })'],
      ["What is the status of /repo?", 'git_status({ repo_path: "/repo" })'],
      [
        "Commit the changes in /repo with message 'first'",
        'git_commit({ repo_path: "/repo", message: "first" })',
      ],
      ["Initialize a git repository in /new", 'git_init({ repo_path: "/new" })'],
      [
        "Add the files a.txt and b.txt in /repo",
        'git_add({ repo_path: "/repo", files: ["a.txt", "b.txt"] })',
      ],
      [
        "Create a branch named topic in /repo",
        'git_create_branch({ repo_path: "/repo", branch_name: "topic" })',
      ],
      ["Delete the entities Ada and Bob", 'delete_entities({ entityNames: ["Ada", "Bob"] })'],
      ['Create entities [{"name":"Ada","entityType":"p","observations":[]}]', 'entities: [{ name: "Ada"'],
      ['Echo "hello there"', 'echo({ message: "hello there" })'],
    ])("%s", async (task, call) => {
      const result = await generator.generate({ task, tools: serverTools });
      expect(result.status === "generated" ? result.code.replaceAll(/\s+/gu, " ") : result.steps).toContain(
        call,
      );
    });

    it.each([
      "show me the branches of the repository in /repo",
      "Count the branches in /repo",
      "Which branches are in /repo?",
      "show the entities",
      "Get the entities named Ada",
      "How many commits are in /repo?",
      "Find the message of the last commit in /repo",
      "commit everything in /repo",
      "Compare the branches of /repo",
    ])("changes nothing when it is asked: %s", async (task) => {
      expect(await generator.generate({ task, tools: serverTools })).toMatchObject({ status: "refused" });
    });

    it("names the nearest tool, with what it takes", async () => {
      const unread = await generator.generate({ task: "How many commits are in /repo?", tools: serverTools });
      expect(unread).toMatchObject({
        steps: [
          { reason: "not-understood", hint: expect.stringContaining("The nearest tool is git.git_commit(") },
        ],
      });
    });

    it("takes an annotation for the truth, whatever the name says", async () => {
      const tool = serverTools.find(({ name }) => name === "git_init");
      const readOnly = { ...tool, name: "commit_overview", annotations: { readOnlyHint: true } };
      const task = "Show the commit overview of /repo";
      expect(await generator.generate({ task, tools: [readOnly as never] })).toMatchObject({
        status: "generated",
      });
      const writing = { ...readOnly, annotations: { readOnlyHint: false } };
      expect(await generator.generate({ task, tools: [writing as never] })).toMatchObject({
        status: "refused",
      });
    });
  });
});

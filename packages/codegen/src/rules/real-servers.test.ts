import { describe, expect, it } from "vitest";
import { createRulesGenerator } from "./rules-generator.ts";
import { realTools } from "./testing/tools.ts";

const generator = createRulesGenerator({ now: () => new Date("2026-11-20T12:00:00Z") });

async function generate(task: string): Promise<string> {
  const result = await generator.generate({ task, tools: realTools });
  if (result.status === "refused") return `refused: ${result.steps.map(({ hint }) => hint).join("\n")}`;
  return result.code.replaceAll(/\s+/gu, " ");
}

describe("createRulesGenerator", () => {
  describe("generate, over real servers", () => {
    it.each([
      ["get the git log of /repo with max_count 5", 'git_log({ repo_path: "/repo", max_count: 5 })'],
      ["show the git status of /repo", 'git_status({ repo_path: "/repo" })'],
      ["search /data for files with pattern '*.txt'", 'search_files({ path: "/data", pattern: "*.txt" })'],
      ["move /data/a.txt to /data/b.txt", 'move_file({ source: "/data/a.txt", destination: "/data/b.txt" })'],
      ["list the allowed directories", "list_allowed_directories()"],
      ["open the nodes Ada and Bob", 'open_nodes({ names: ["Ada", "Bob"] })'],
      ["could you delete the entity Ada?", 'delete_entities({ entityNames: ["Ada"] })'],
      ["list issues page 2 of acme/web", 'list_issues({ owner: "acme", repo: "web", page: 2 })'],
      ["use get_sum with a 2 and b 3", "get_sum({ a: 2, b: 3 })"],
      ["create report.md with 'Hello' and print it", 'console.log("Hello")'],
    ])("calls what the words name: %s", async (task, code) => {
      expect(await generate(task)).toContain(code);
    });

    it.each([
      ["get the git log of /repo and count the commits", "git.git_log may give one page of more rows"],
      ["get the git log and count the commits", "lacks repo_path"],
      ["list the open issues in acme/web and count them", "may give one page"],
      ["list the commits of acme/web and sort them by date", "may give one page"],
      ["list the channels, filter for active ones", "may give one page"],
      ["get the git log of /repo, then take the first 3", "may give one page"],
      ["get all issues of acme/web", "was not understood"],
      ["search for files containing budget", '"containing budget" was not understood'],
      ["search for files in /data containing 'budget'", '"containing" was not understood'],
      ["save the tiny image as tiny.png", '"tiny.png" is a file of another kind'],
      ["fetch https://example.com and save it to page.pdf", "is a file of another kind"],
      [
        "create the file /data/report.md with content 'Hello' and print it",
        'For the answer, say "the result"',
      ],
      ["create an issue titled 'Bug' in acme/web and print it", 'For the answer, say "the result"'],
      ["what is in /data?", "may mean"],
      ["delete all files in /data", "was not understood"],
      ["echo hello", "lacks message"],
    ])("refuses what it would get wrong: %s", async (task, hint) => {
      expect(await generate(task)).toMatch(/^refused: /u);
      expect(await generate(task)).toContain(hint);
    });

    it.each([
      "delete the entities Ada and Bob?",
      "should I delete the entities Ada and Bob?",
      "did you commit the changes in /repo with message 'x'?",
      "what happens if I delete the entities Ada and Bob?",
      "how do I create an issue titled 'Bug' in acme/web?",
      "Write 'x' to a.txt and print it?",
      "Would it be good to write 'x' to a.txt?",
      "why not post 'hello' to the channel C123?",
    ])("changes nothing for a question: %s", async (task) => {
      expect(await generate(task)).toMatch(/^refused: /u);
    });

    it("says what was not understood and the nearest tool with what it takes, and no command", async () => {
      expect(await generate("read the first 5 lines of /data/a.txt")).toBe(
        'refused: In "read the first 5 lines of /data/a.txt", "first 5 lines" was not understood.\nThe nearest tool is files.read_file(input: { path: string; tail?: number; head?: number }).',
      );
    });
  });
});
